import Basics
import Glibc
import Operator
import Synchronization
import Transport
import Wire

/// The file of operator commands in the data directory: one JSON object for each line, only appended to.
///
/// A line is on the disk before its command is answered. At `Limits.Operator.auditFileBytes` the file is renamed, and the oldest
/// renamed one is removed. A failure is logged and does not stop the command, since operators must be able to act on a full disk.
final class AuditLog: Sendable {
    /// The open file.
    private struct State {
        var descriptor: Int32 = -1
        var size = 0
        /// The number of the next entry.
        var next = 1
    }

    private let path: String
    private let limit: Int
    private let log: Log
    private let state = Mutex(State())

    /// Names the file in a folder; it is opened with the first entry.
    init(folder: String, limit: Int = Limits.Operator.auditFileBytes, log: Log) {
        path = "\(folder)/audit.log"
        self.limit = limit
        self.log = log
    }

    deinit { state.withLock { if $0.descriptor >= 0 { _ = close($0.descriptor) } } }

    /// Appends the entry of a command.
    func append(_ record: OperatorRecord, _ caller: ControlCaller, now: UnixMilliseconds) {
        state.withLock { state in
            do throws(TransportError) {
                try open(&state)
                let row = ListAuditLog.Row(
                    number: state.next, time: now, user: caller.userText, process: caller.processText,
                    command: record.command, arguments: record.arguments, result: record.result,
                    problem: Printable.text(record.problem, limit: Limits.Log.valueBytes))
                let line = Array((row.json.compact + "\n").utf8)
                if state.size > 0, state.size + line.count > limit { try rotate(&state) }
                try write(line, &state)
                state.next += 1
            } catch {
                // It is opened again for the next entry, which then starts on a line of its own.
                if state.descriptor >= 0 { _ = close(state.descriptor) }
                state.descriptor = -1
                log.repeating(.error, "audit_log_failed", ["problem": .text(error.description)])
            }
        }
    }

    /// Calls a closure while nothing is appended, with the paths of the files, newest first.
    func reading<Result: Sendable>(_ body: ([String]) throws(TransportError) -> Result) throws(TransportError)
        -> Result
    {
        try state.withLock { _ throws(TransportError) in try body(paths) }
    }

    /// The file and the renamed ones, newest first.
    private var paths: [String] { [path] + (1...Limits.Operator.auditFilesKept).map { "\(path).\($0)" } }

    /// Opens the file, unless the open one still has its name.
    private func open(_ state: inout State) throws(TransportError) {
        if state.descriptor >= 0 {
            var (named, held) = (stat(), stat())
            if unsafe stat(path, &named) == 0, unsafe fstat(state.descriptor, &held) == 0,
                named.st_ino == held.st_ino, named.st_dev == held.st_dev
            {
                return
            }
            _ = close(state.descriptor)
            state.descriptor = -1
        }
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        state.descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard state.descriptor >= 0 else { throw failure("open \(path)") }
        var status = stat()
        guard unsafe fstat(state.descriptor, &status) == 0 else { throw failure("open \(path)") }
        state.size = Int(status.st_size)
        let last = try AuditLogReader.last(in: paths)
        state.next = max(state.next, (last?.number ?? 0) + 1)
        if state.size > 0, last?.isWhole == false { try write([UInt8(ascii: "\n")], &state) }
    }

    private func rotate(_ state: inout State) throws(TransportError) {
        _ = close(state.descriptor)
        state.descriptor = -1
        for (older, newer) in zip(paths.reversed(), paths.reversed().dropFirst()) {
            guard unsafe rename(newer, older) == 0 || errno == ENOENT else {
                throw failure("rename \(newer)")
            }
        }
        try open(&state)
    }

    private func write(_ bytes: [UInt8], _ state: inout State) throws(TransportError) {
        var count = -1
        repeat {
            count = unsafe Glibc.write(state.descriptor, bytes, bytes.count)
        } while count < 0 && errno == EINTR
        state.size += max(0, count)
        guard count == bytes.count, fdatasync(state.descriptor) == 0 else { throw failure("write \(path)") }
    }

    private func failure(_ operation: String) -> TransportError {
        TransportError(operation, detail: unsafe String(cString: strerror(errno)), code: errno)
    }
}
