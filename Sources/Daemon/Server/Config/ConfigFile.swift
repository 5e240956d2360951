import Basics
import Glibc

/// Reads the bytes of a configuration file.
enum ConfigFile {
    /// Returns the content of a file. Throws the problem and a hint if it cannot be read.
    static func read(_ path: String) throws(ConfigFileError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ConfigFileError("cannot be read: \(reason())", hint(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ConfigFileError("cannot be read: not a regular file", "give the path of a YAML file")
        }
        var bytes = [UInt8](repeating: 0, count: Limits.Config.bytes + 1)
        var filled = 0
        while filled < bytes.count {
            let room = bytes.count - filled
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress.unsafelyUnwrapped + filled, room)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ConfigFileError("cannot be read: \(reason())", "") }
            if count == 0 { break }
            filled += count
        }
        guard filled <= Limits.Config.bytes else {
            throw ConfigFileError(
                "is longer than \(Limits.Config.bytes) bytes", "give the path of a configuration file")
        }
        return Array(bytes[..<filled])
    }

    private static func reason() -> String { unsafe String(cString: strerror(errno)) }

    private static func hint(_ code: CInt) -> String {
        switch code {
        case ENOENT: "create it with: ccsctl config sample"
        case EACCES: "let the user that runs ccsd read it"
        default: ""
        }
    }
}

/// Why a file could not be read.
struct ConfigFileError: Error {
    var problem: String
    var hint: String

    init(_ problem: String, _ hint: String) {
        self.problem = problem
        self.hint = hint
    }
}
