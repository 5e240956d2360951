import Basics
import Glibc
import Operator
import Transport
import Wire

/// Reads the files of the audit log, backwards.
enum AuditLogReader {
    /// The last entry of the newest file that has one.
    struct Last {
        var number: Int
        /// Whether the newest file ends with a whole line.
        var isWhole: Bool
    }

    /// Returns the last entry, and whether the newest file ends with a whole line. Returns `nil` if there is no entry.
    static func last(in paths: [String]) throws(TransportError) -> Last? {
        var isWhole = true
        for (position, path) in paths.enumerated() {
            let bytes = try content(path)
            if position == 0 { isWhole = bytes.last.map { $0 == UInt8(ascii: "\n") } ?? true }
            var number: Int?
            forEachLine(in: bytes) { line in
                number = row(line)?.number
                return number == nil
            }
            if let number { return Last(number: number, isWhole: isWhole) }
        }
        return isWhole ? nil : Last(number: 0, isWhole: false)
    }

    /// Returns the page of entries that a command asks for.
    static func answer(_ command: ListAuditLog, in paths: [String]) throws(TransportError)
        -> ListAuditLog.Answer
    {
        var found: [ListAuditLog.Row] = []
        var unreadable = 0
        for path in paths where found.count <= command.limit {
            forEachLine(in: try content(path)) { line in
                guard let row = row(line) else {
                    unreadable += 1
                    return true
                }
                if command.wants(row) { found.append(row) }
                return found.count <= command.limit
            }
        }
        let page = found.prefix(command.limit)
        return ListAuditLog.Answer(
            entries: page.reversed(), unreadable: unreadable,
            nextBefore: found.count > command.limit ? page.last?.number : nil)
    }

    /// Returns the content of a file; a missing one is empty.
    private static func content(_ path: String) throws(TransportError) -> [UInt8] {
        do throws(TransportError) {
            // A file that another program has appended to may be larger than any of ours.
            return try SmallFile.read(path, limit: 2 * Limits.Operator.auditFileBytes)
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
    }

    /// Calls a closure with each line that is not empty, the last one first, until it returns `false`.
    private static func forEachLine(in bytes: [UInt8], _ body: (ArraySlice<UInt8>) -> Bool) {
        var end = bytes.count
        while end > 0 {
            let start = bytes[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            if start < end, !body(bytes[start..<end]) { return }
            end = start - 1
        }
    }

    private static func row(_ line: ArraySlice<UInt8>) -> ListAuditLog.Row? {
        guard let json = try? JSONValue(parsing: Array(line).raw) else { return nil }
        return try? ListAuditLog.Row(json: json)
    }
}

extension ListAuditLog {
    /// Whether an entry meets the conditions.
    fileprivate func wants(_ row: Row) -> Bool {
        if let before, row.number >= before { return false }
        if let command, row.command != command, !row.command.hasPrefix(command + " ") { return false }
        if let user, row.user != user { return false }
        if let since, row.time < since { return false }
        return !isFailed || row.result != "ok"
    }
}

extension ControlServer {
    /// Returns a page of the audit log, newest page first.
    func listAuditLog(_ command: ListAuditLog) throws(OperatorProblem) -> ListAuditLog.Answer {
        do throws(TransportError) {
            return try daemon.auditLog.reading { (paths) throws(TransportError) in
                try AuditLogReader.answer(command, in: paths)
            }
        } catch {
            throw OperatorProblem(
                "the audit log cannot be read: \(error.description)",
                hint: "make audit.log in the data directory readable for the user of ccsd")
        }
    }
}
