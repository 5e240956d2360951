public import Basics
import Glibc

/// Reads a server key from a file, so that it is not visible to other users on a command line.
public enum KeyFile {
    /// Reads the key from the first line of a file.
    public static func read(_ path: String) throws(Failure) -> Redacted<String> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        return try read(descriptor, path)
    }

    /// Reads the key from the first line of an open file; `name` is for error messages.
    public static func read(_ descriptor: Int32, _ name: String) throws(Failure) -> Redacted<String> {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: Limits.Client.keyFileBytes)
        while bytes.count <= Limits.Client.keyFileBytes, !bytes.contains(0x0A) {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(name) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        var line = bytes.prefix { $0 != 0x0A }
        while let last = line.last, last == 0x0D || last == 0x20 || last == 0x09 { line.removeLast() }
        guard !line.isEmpty, line.count <= Limits.Login.credentialBytes,
            line.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Failure(
                .badData, "\(name): invalid server key in the first line",
                hint:
                    "expected one word of 1 to \(Limits.Login.credentialBytes) printable ASCII characters")
        }
        return Redacted(String(decoding: line, as: UTF8.self))
    }

    private static func failure(_ name: String) -> Failure {
        unsafe Failure(.inputOutput, "\(name): \(String(cString: strerror(errno)))")
    }
}
