import Foundation

/// Reads lines from a pipe, with a deadline for each.
final class Lines {
    private let descriptor: Int32
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    private var isAtEnd = false

    init(_ handle: FileHandle) {
        self.handle = handle
        descriptor = handle.fileDescriptor
    }

    /// Returns the next line, or `nil` at the end of the pipe or after the deadline.
    func next(seconds: Double) -> String? {
        let end = Date().addingTimeInterval(seconds)
        while true {
            if let newline = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<newline], as: UTF8.self)
                buffer.removeSubrange(...newline)
                return line
            }
            let left = end.timeIntervalSinceNow
            guard !isAtEnd, left > 0 else { return nil }
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&poller, 1, Int32(left * 1_000) + 1) > 0 else { continue }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &chunk, chunk.count)
            if count <= 0 { isAtEnd = true } else { buffer += chunk[..<count] }
        }
    }

    /// Returns all lines up to the end of the pipe or the deadline of one line.
    func rest(seconds: Double) -> [String] {
        var lines: [String] = []
        while let line = next(seconds: seconds) { lines.append(line) }
        return lines
    }
}
