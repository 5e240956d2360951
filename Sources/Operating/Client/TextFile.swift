public import Basics
import Glibc
import Transport

/// Reads text files that a tool sends to the server, such as certificates.
public enum TextFile {
    /// Returns the text of a file of up to `limit` bytes; bytes that are not UTF-8 are replaced.
    public static func read(_ path: String, limit: Int) throws(Failure) -> Redacted<String> {
        do throws(TransportError) {
            return Redacted(String(decoding: try SmallFile.read(path, limit: limit), as: UTF8.self))
        } catch {
            throw unreadable(path, error)
        }
    }
}

/// Reads files of any content that a tool sends to the server, such as archives.
public enum SecretFile {
    /// Returns the content of a file of up to `limit` bytes.
    public static func read(_ path: String, limit: Int) throws(Failure) -> Redacted<[UInt8]> {
        do throws(TransportError) { return Redacted(try SmallFile.read(path, limit: limit)) } catch {
            throw unreadable(path, error)
        }
    }
}

private func unreadable(_ path: String, _ error: TransportError) -> Failure {
    let hint =
        error.code == ENOENT ? "check the path \(path)" : "run it as a user with permission to read \(path)"
    return Failure(.inputOutput, error.description, hint: hint)
}
