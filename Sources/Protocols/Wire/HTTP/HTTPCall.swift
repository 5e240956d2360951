public import Basics

/// A request of an HTTP client.
public struct HTTPCall: Sendable {
    /// `GET`, `POST` …
    public var method: String
    /// Path and query.
    public var path: String
    /// Headers other than Host and Content-Length.
    public var headers: [(name: String, value: Redacted<String>)] = []
    /// The names of headers whose values are unique to this call; HTTP/2 sends them without indexing.
    public var singularHeaders: [String] = []
    /// The body.
    public var body: [UInt8] = []

    /// Creates a request without headers and body.
    public init(_ method: String, _ path: String) {
        self.method = method
        self.path = path
    }

    /// Adds a header; its value is redacted in logs.
    public mutating func add(_ name: String, _ value: String) { headers.append((name, Redacted(value))) }

    /// Appends the whole request in HTTP/1.1.
    public func append(host: String, to out: inout ByteBuffer) {
        out.append(text: "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n")
        for header in headers { out.append(text: "\(header.name): \(header.value.revealed)\r\n") }
        if !body.isEmpty || method == "POST" { out.append(text: "Content-Length: \(body.count)\r\n") }
        out.append("\r\n")
        out.append(body)
    }
}
