public import Basics
import Wire

/// A request to make, as a client writes it.
public struct HTTPCall: Sendable {
    /// `GET`, `POST` …
    public var method: String
    /// Path and query.
    public var path: String
    /// Headers besides Host and Content-Length.
    public var headers: [(name: String, value: Redacted<String>)] = []
    /// The body.
    public var body: [UInt8] = []

    /// A request without headers and body.
    public init(_ method: String, _ path: String) {
        self.method = method
        self.path = path
    }

    /// Adds a header that may show in logs.
    public mutating func add(_ name: String, _ value: String) { headers.append((name, Redacted(value))) }

    /// Appends the whole request.
    public func append(host: String, to out: inout ByteBuffer) {
        out.append(text: "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n")
        for header in headers { out.append(text: "\(header.name): \(header.value.revealed)\r\n") }
        if !body.isEmpty || method == "POST" { out.append(text: "Content-Length: \(body.count)\r\n") }
        out.append("\r\n")
        out.append(body)
    }
}

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
