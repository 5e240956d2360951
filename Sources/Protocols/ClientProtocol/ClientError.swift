public import Basics

/// Why a client's request failed.
public enum ClientError: Error, Sendable, CustomStringConvertible {
    /// The connection failed or ended before the answer.
    case connection(CloseReason, detail: String)
    /// The server did not answer in time.
    case noAnswer
    /// The answer has this HTTP status and text.
    case status(Int, String)
    /// The server refused with this error code.
    case refused(String)
    /// The answer is invalid.
    case malformed(String)

    /// The error as one line for humans.
    public var description: String {
        switch self {
        case .connection(let reason, let detail):
            detail.isEmpty ? "the connection ended: \(reason.rawValue)" : "the connection failed: \(detail)"
        case .noAnswer: "the server did not answer in time"
        case .status(let status, let text): "the server answered \(status): \(text)"
        case .refused(let word): "the server refused: \(word)"
        case .malformed(let what): "invalid answer from the server: \(what)"
        }
    }
}
