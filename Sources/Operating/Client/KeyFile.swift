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
        try read(descriptor, name, "server key")
    }

    private static func read(
        _ descriptor: Int32, _ name: String, _ content: String
    ) throws(Failure) -> Redacted<String> {
        var line = try firstLine(descriptor, name)[...]
        while let last = line.last, last == 0x0D || last == 0x20 || last == 0x09 { line.removeLast() }
        guard !line.isEmpty, line.count <= Limits.Login.credentialBytes,
            line.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Failure(
                .badData, "\(name): invalid \(content) in the first line",
                hint:
                    "expected one word of 1 to \(Limits.Login.credentialBytes) printable ASCII characters")
        }
        return Redacted(String(decoding: line, as: UTF8.self))
    }

    /// Reads the token of an operator from the first line of a file that other users cannot access.
    static func readToken(_ path: String) throws(Failure) -> Redacted<String> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure(path) }
        guard status.st_mode & 0o077 == 0 else {
            throw Failure(
                .noPermission, "\(path) is accessible for other users, but it contains a token",
                hint: "chmod 600 \(path)")
        }
        return try read(descriptor, path, "token of an operator")
    }

    /// Reads a password, which may contain spaces, from the first line of a file.
    public static func readPassword(_ path: String) throws(Failure) -> Redacted<String> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        return try readPassword(descriptor, path)
    }

    /// Reads a password from the first line of an open file; `name` is for error messages.
    public static func readPassword(_ descriptor: Int32, _ name: String) throws(Failure) -> Redacted<String> {
        var line = try firstLine(descriptor, name)[...]
        // A password may end with blanks, but not with the carriage return of a line end.
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.count <= Limits.APNsCredentials.passwordBytes else {
            throw Failure(
                .badData, "\(name): the password in the first line is too long",
                hint: "expected up to \(Limits.APNsCredentials.passwordBytes) bytes")
        }
        return Redacted(String(decoding: line, as: UTF8.self))
    }

    private static func firstLine(_ descriptor: Int32, _ name: String) throws(Failure) -> [UInt8] {
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
        return Array(bytes.prefix { $0 != 0x0A })
    }

    private static func failure(_ name: String) -> Failure {
        unsafe Failure(.inputOutput, "\(name): \(String(cString: strerror(errno)))")
    }
}
