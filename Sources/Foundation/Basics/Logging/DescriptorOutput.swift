import Glibc

/// Writes to an open descriptor: the standard streams of programs and of the log.
public enum DescriptorOutput {
    /// Writes all bytes. Returns 0, or the error number of the write that failed, after which it stops.
    @discardableResult public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            var written = 0
            while written < bytes.count {
                let count = unsafe Glibc.write(descriptor, start + written, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                written += count
            }
            return 0
        }
    }

    /// Writes the UTF-8 of a text in the same way.
    @discardableResult public static func write(_ text: String, to descriptor: Int32) -> Int32 {
        write(Array(text.utf8), to: descriptor)
    }

    /// Writes all bytes if the descriptor takes them at once. Returns `false` if it does not: nothing waits for a reader that stands still.
    ///
    /// A pipe or a socket that is ready takes `PIPE_BUF` bytes without waiting (pipe(7)); what is longer is written in parts, and its end is
    /// lost if the reader stops in the middle.
    static func writeWithoutWaiting(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // An error, such as a closed reader, is no reason to wait either: the write fails at once.
            guard unsafe poll(&state, 1, 0) == 1 else { return false }
            let part = rest.prefix(Int(PIPE_BUF))
            let count = unsafe part.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest.removeFirst(count)
        }
        return true
    }
}
