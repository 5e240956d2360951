import Glibc

/// What the tool says: results to standard output, complaints to standard error.
enum Output {
    /// Writes text as it is.
    static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// Writes one line to standard error.
    static func complain(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    /// Writes text to a descriptor; a reader that is gone ends it.
    static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            written += count
        }
    }
}
