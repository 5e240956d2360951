import Basics
import Client
import Glibc

/// Reads a file line by line, in bounded memory.
struct LineFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var at = 0
    private var hasEnded = false

    /// Opens a file.
    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit { close(descriptor) }

    /// Returns the next line without its newline, cut after `Limits.Backup.lineBytes` and one more byte. Returns `nil` at the end.
    mutating func next() throws(Failure) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if at == buffer.count {
                guard try refill() else { return line.isEmpty ? nil : line }
            }
            let end = buffer[at...].firstIndex(of: 0x0A)
            let part = buffer[at..<(end ?? buffer.count)]
            line += part.prefix(max(0, Limits.Backup.lineBytes + 1 - line.count))
            at = end.map { $0 + 1 } ?? buffer.count
            if end != nil { return line }
        }
    }

    /// Starts again at the first line.
    mutating func rewind() throws(Failure) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure(path) }
        (buffer, at, hasEnded) = ([], 0, false)
    }

    private mutating func refill() throws(Failure) -> Bool {
        guard !hasEnded else { return false }
        buffer = [UInt8](repeating: 0, count: Limits.Backup.lineBytes)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw Self.failure(path) }
        buffer.removeLast(buffer.count - count)
        at = 0
        hasEnded = count == 0
        return count > 0
    }

    private static func failure(_ path: String) -> Failure {
        unsafe Failure(
            .inputOutput, "\(path): \(String(cString: strerror(errno)))",
            hint: "give a file of ccsctl export that can be read twice")
    }
}
