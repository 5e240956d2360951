import Basics
import Catalogue
import Client
import Operator
import Wire

/// The command `ccsctl import`: checks the file, then sends its rows to the daemon, many in each request.
struct ImportFile: ~Copyable {
    private let path: String
    private let replaces: Bool
    private var daemon: DaemonConnection
    private var result = ImportResult()
    private var rows: [[JSONValue.Member]] = []
    private var firstLine = 0
    private var bytes = 0

    /// Runs the command.
    static func run(_ invocation: Invocation) throws(Failure) -> ExitCode {
        var run = try ImportFile(invocation)
        var file = try LineFile(run.path)
        let count = try run.check(&file)
        try Confirmation.require(
            .importRecords(ImportRecords(rows: [], replaces: run.replaces)), invocation)
        try run.send(&file, count)
        let result = run.result
        Output.write(
            invocation.has("--json") ? result.json.compact + "\n" : result.text(file: invocation.arguments[0])
        )
        return result.exitCode
    }

    private init(_ invocation: Invocation) throws(Failure) {
        daemon = try DaemonConnection(try DaemonAddress.find(invocation))
        path = invocation.arguments[0]
        replaces = invocation.has("--replace")
    }

    // MARK: Checking

    /// Checks the first and the last line before anything is imported. Returns the number of rows.
    private func check(_ file: inout LineFile) throws(Failure) -> Int {
        guard let first = try file.next() else { throw bad("\(path) is empty", Self.notExport) }
        try checkHeader(first)
        var (last, count): ([UInt8], Int) = ([], 0)
        while let line = try file.next() { (last, count) = (line, count + 1) }
        let json = try? JSONValue(parsing: last.raw)
        guard let json, (try? ExportedRow.kind(of: json)) == .end,
            let end: ExportEnd = try? ExportedRow.strict(json)
        else {
            throw bad(
                "\(path) is truncated: its last line is not the end of an export",
                "export again, or copy the file again")
        }
        guard end.rows == count - 1 else {
            throw bad(
                "\(path) is incomplete: it has \(count - 1) rows, expected \(end.rows)",
                "export again, or copy the file again")
        }
        return end.rows
    }

    private static let notExport = "give a file of ccsctl export"

    private func checkHeader(_ line: [UInt8]) throws(Failure) {
        guard let json = try? JSONValue(parsing: line.raw), (try? ExportedRow.kind(of: json)) == .header
        else { throw bad("\(path) is not an export: its first line is not a header", Self.notExport) }
        guard let format = json["format"]?.integer else {
            throw bad("\(path):1: missing format: expected \(ExportHeader.formatNow)", Self.notExport)
        }
        guard format == ExportHeader.formatNow else {
            let version = json["ccsd"]?.text.map { " of ccsctl \(Report.safe($0))" } ?? ""
            throw bad(
                "\(path) has export format \(format)\(version), expected format \(ExportHeader.formatNow)",
                "import it with \(format > ExportHeader.formatNow ? "a newer" : "an older") ccsd, or export it with this version"
            )
        }
    }

    private func bad(_ text: String, _ hint: String) -> Failure { Failure(.badData, text, hint: hint) }

    // MARK: Sending

    private mutating func send(_ file: inout LineFile, _ count: Int) throws(Failure) {
        try file.rewind()
        _ = try file.next()
        let bar = ProgressBar()
        for row in 0..<count {
            let number = row + 2
            guard let line = try file.next() else { break }
            if let members = members(line, number) {
                if rows.isEmpty { firstLine = number }
                rows.append(members)
                bytes += line.count
            } else {
                // The rows of a request are consecutive lines.
                try flush()
            }
            if rows.count >= Limits.Backup.importedRows || bytes >= Limits.Backup.importedBytes {
                try flush()
                bar.show(OperatorProgress(done: row + 1, total: count, what: "rows imported"))
            }
        }
        try flush()
        bar.finish()
    }

    /// Returns the members of a line. Reports it and returns `nil` if it is not a JSON object.
    private mutating func members(_ line: [UInt8], _ number: Int) -> [JSONValue.Member]? {
        guard line.count <= Limits.Backup.lineBytes else {
            result.report(number, "the line is longer than \(Limits.Backup.lineBytes) bytes")
            return nil
        }
        do throws(JSONError) {
            if let members = try JSONValue(parsing: line.raw).members { return members }
            result.report(number, "invalid row: expected a JSON object")
        } catch {
            result.report(number, "invalid JSON at byte \(error.offset): \(error.fault.rawValue)")
        }
        return nil
    }

    private mutating func flush() throws(Failure) {
        guard !rows.isEmpty else { return }
        let command = ImportRecords(rows: rows, line: firstLine, replaces: replaces)
        (rows, bytes) = ([], 0)
        result.add(
            try daemon.answer(
                to: command, context: "\(path): the rows from line \(firstLine) on are refused: "))
    }
}
