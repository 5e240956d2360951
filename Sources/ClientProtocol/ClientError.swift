public import Basics

/// Why a client did not get what it wanted.
public enum ClientError: Error, Sendable, CustomStringConvertible {
    /// The connection failed or ended too early.
    case connection(CloseReason, detail: String)
    /// No answer came in time.
    case noAnswer
    /// The answer has this HTTP status.
    case status(Int, String)
    /// The server refused, with this word.
    case refused(String)
    /// The answer is none that could be expected.
    case malformed(String)

    /// One line for people.
    public var description: String {
        switch self {
        case .connection(let reason, let detail):
            detail.isEmpty ? "the connection ended: \(reason.rawValue)" : "the connection failed: \(detail)"
        case .noAnswer: "the server did not answer in time"
        case .status(let status, let text): "the server answered \(status): \(text)"
        case .refused(let word): "the server refused: \(word)"
        case .malformed(let what): "the server's answer is not understood: \(what)"
        }
    }
}
