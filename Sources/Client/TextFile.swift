public import Basics
import Transport

/// Reads text files that a tool sends to the server, such as certificates.
public enum TextFile {
    /// Returns the text of a file of up to `limit` bytes; bytes that are not UTF-8 are replaced.
    public static func read(_ path: String, limit: Int) throws(Failure) -> Redacted<String> {
        do throws(TransportError) {
            return Redacted(String(decoding: try SmallFile.read(path, limit: limit), as: UTF8.self))
        } catch {
            throw Failure(
                .inputOutput, error.description, hint: "run it as a user with permission to read \(path)")
        }
    }
}
