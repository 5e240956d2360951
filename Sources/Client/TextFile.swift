public import Basics
import Transport

/// Reads files that an operator names and whose whole text goes to the server, such as certificates.
public enum TextFile {
    /// The text of a file of at most `limit` bytes; what is not UTF-8 in it is replaced.
    public static func read(_ path: String, limit: Int) throws(Failure) -> Redacted<String> {
        do throws(TransportError) {
            return Redacted(String(decoding: try SmallFile.read(path, limit: limit), as: UTF8.self))
        } catch {
            throw Failure(.inputOutput, error.description, hint: "run it as a user who may read \(path)")
        }
    }
}
