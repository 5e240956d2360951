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
        let source = ExportSource(run.path)
        var file = try LineFile(run.path)
        let count = try source.check(&file)
        try Confirmation.require(ImportRecords(rows: [], replaces: run.replaces), invocation)
        try run.send(&file, count)
        let result = run.result
        if invocation.has("--json") {
            Output.write(result.json)
        } else {
            Output.write(result.text(file: invocation.arguments[0]))
        }
        return result.exitCode
    }

    private init(_ invocation: Invocation) throws(Failure) {
        daemon = try DaemonConnection(try DaemonAddress.find(invocation))
        path = invocation.arguments[0]
        replaces = invocation.has("--replace")
    }

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
