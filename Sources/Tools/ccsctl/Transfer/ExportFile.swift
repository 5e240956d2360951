import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// The command `ccsctl export`: reads the pages from the daemon and writes them to a file.
enum ExportFile {
    /// Runs the command. A failed export leaves no file.
    static func run(_ invocation: Invocation) throws(Failure) -> ExitCode {
        let path = invocation.arguments[0]
        guard path != "-" else {
            throw Failure(
                .usage,
                "an export is written to a file, not to standard output: it has the secret of the tokens",
                hint: "give the path of a new file; ./- is one named -")
        }
        var daemon = try DaemonConnection(try DaemonAddress.find(invocation))
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        let rows: Int
        do throws(Failure) {
            rows = try write(&daemon, to: descriptor, path)
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
        if invocation.has("--json") {
            Output.write(ExportOutput(file: path, rows: rows).json)
        } else {
            Output.write(
                "\(rows) rows in \(Report.safe(path))\n\nKeep the file as safe as the data directory: it has the secret that authenticates tokens.\n"
            )
        }
        return .success
    }

    /// Writes all rows. Returns their number.
    private static func write(
        _ daemon: inout DaemonConnection, to descriptor: Int32, _ path: String
    ) throws(Failure) -> Int {
        let header = ExportHeader(version: Program.version, createdAt: Now.read().wall)
        try write([ExportedRow.json(.header, header)], to: descriptor, path)
        let bar = ProgressBar()
        var rows = 0
        for part in ExportRecords.Part.allCases {
            var after: String?
            repeat {
                let page = try daemon.answer(to: ExportRecords(part: part, after: after))
                try write(page.rows.map { .object($0) }, to: descriptor, path)
                rows += page.rows.count
                after = page.next
                bar.show(OperatorProgress(done: rows, total: rows, what: "rows exported"))
            } while after != nil
        }
        bar.finish()
        try write([ExportedRow.json(.end, ExportEnd(rows: rows))], to: descriptor, path)
        guard fsync(descriptor) == 0 else { throw failure(path) }
        return rows
    }

    private static func write(_ rows: [JSONValue], to descriptor: Int32, _ path: String) throws(Failure) {
        var bytes: [UInt8] = []
        for row in rows { bytes += Array((row.compact + "\n").utf8) }
        let before = lseek(descriptor, 0, SEEK_CUR)
        DescriptorOutput.write(bytes, to: descriptor)
        guard lseek(descriptor, 0, SEEK_CUR) == before + bytes.count else { throw failure(path) }
    }

    private static func failure(_ path: String) -> Failure {
        unsafe Failure(
            .inputOutput, "\(path): \(String(cString: strerror(errno)))",
            hint: "give a new file on a disk with free space")
    }
}
