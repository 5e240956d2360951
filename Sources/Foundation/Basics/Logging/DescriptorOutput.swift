import Glibc

/// Writes to an open descriptor: the standard streams of programs and of the log.
public enum DescriptorOutput {
    /// Writes all bytes. A closed reader or any other error stops it silently, since there is nowhere left to report it.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            var written = 0
            while written < bytes.count {
                let count = unsafe Glibc.write(descriptor, start + written, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                written += count
            }
        }
    }

    /// Writes the UTF-8 of a text in the same way.
    public static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }
}
