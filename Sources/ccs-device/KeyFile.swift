import Basics
import Catalogue
import Glibc

/// The server key in a file, where no other user sees it.
enum KeyFile {
    /// The first line of a file.
    static func read(_ path: String) throws(Failure) -> Redacted<[UInt8]> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw unsafe Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Limits.keyFileBytes)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
        }
        guard count >= 0 else {
            throw unsafe Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        let line = bytes[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty, line.count <= Limits.credentialBytes, line.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Failure(
                .badData, "\(path): the first line is no server key",
                hint: "a key is one word of at most \(Limits.credentialBytes) printable ASCII characters")
        }
        return Redacted(Array(line))
    }
}
