import Basics

/// The requests in a batch: a multipart body whose parts are HTTP/1.1 requests (http 8.8).
///
/// Lines end in CR LF or in LF alone, since clients write both. A request line may have an absolute URL and may omit the
/// version, as the SDKs for Node, Java and .NET write it. The host in such a URL is ignored, as in any other request:
/// every part is handled by this server.
public struct BatchBody: Sendable {
    /// A request within the batch.
    public struct Part: Sendable {
        /// The part's `Content-ID` as written, or `nil`.
        public var contentID: [UInt8]?
        /// The method; empty if the request line is malformed.
        public var method: [UInt8] = []
        /// The path without scheme, authority and query; percent-encoding is kept.
        public var path: [UInt8] = []
        /// The request's own `Authorization`, or `nil`.
        public var authorization: [UInt8]?
        public var body: [UInt8] = []
    }

    /// The requests in order; at least one.
    public private(set) var parts: [Part] = []

    /// Splits a body at its boundary. Throws if there is no part, or more than `Limits.HTTP.batchParts`.
    public init(_ body: [UInt8], boundary: [UInt8]) throws(V1Error) {
        guard !boundary.isEmpty, boundary.count <= 70 else {
            throw V1Error(.badRequest, "invalid Content-Type: expected a boundary of 1 to 70 characters")
        }
        let delimiter = Array("--".utf8) + boundary
        var lines = BatchLines(body[...])
        var start: Int?
        var isClosed = false
        while !isClosed, let line = lines.next() {
            let text = body[line.content]
            guard text.starts(with: delimiter) else { continue }
            let tail = text.dropFirst(delimiter.count).drop { $0 == 0x20 || $0 == 0x09 }
            isClosed = tail.starts(with: "--".utf8)
            guard tail.isEmpty || isClosed else { continue }
            if let start {
                guard parts.count < Limits.HTTP.batchParts else {
                    throw V1Error(
                        .badRequest, "too many parts in the batch: expected at most \(Limits.HTTP.batchParts)"
                    )
                }
                let part = Self.part(body[start..<max(start, line.content.lowerBound)])
                guard part.contentID?.count ?? 0 <= Limits.HTTP.contentIDBytes else {
                    throw V1Error(
                        .badRequest,
                        "invalid Content-ID of part \(parts.count + 1): expected at most \(Limits.HTTP.contentIDBytes) bytes"
                    )
                }
                parts.append(part)
            }
            start = line.end
        }
        guard isClosed, !parts.isEmpty else {
            throw V1Error(.badRequest, "invalid batch: expected at least one part and a closing boundary")
        }
    }

    private static func part(_ text: ArraySlice<UInt8>) -> Part {
        var part = Part()
        var lines = BatchLines(text)
        while let line = lines.next(), !line.content.isEmpty {
            if let id = value(of: "content-id", in: text[line.content]) { part.contentID = id }
        }
        guard let first = lines.next() else { return part }
        let words = text[first.content].split(separator: 0x20)
        guard words.count == 2 || words.count == 3 && words[2].starts(with: "HTTP/".utf8),
            let target = try? RequestTarget.parts(Array(words[1]).raw, of: .post)
        else { return part }
        part.method = Array(words[0])
        part.path = target.0
        while let line = lines.next(), !line.content.isEmpty {
            if let header = value(of: "authorization", in: text[line.content]) { part.authorization = header }
        }
        // The line end before the boundary belongs to the boundary (RFC 2046, 5.1.1), but JSON allows trailing whitespace.
        part.body = Array(text[lines.at...])
        return part
    }

    /// Returns the value of a header line if its name is `name` (in lower case) and the value is valid and not empty.
    private static func value(of name: StaticString, in line: ArraySlice<UInt8>) -> [UInt8]? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            ASCII.equals(Array(line[..<colon]).raw, ignoringCase: name)
        else { return nil }
        let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        guard value.allSatisfy(ASCII.isFieldValue), !value.isEmpty else { return nil }
        return Array(value)
    }
}

/// Iterates over lines that end in CR LF or LF; the last one may end with the text.
private struct BatchLines {
    private let text: ArraySlice<UInt8>
    private(set) var at: Int

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
        at = text.startIndex
    }

    /// Returns the next line without its line end, and the offset of the line after it.
    mutating func next() -> (content: Range<Int>, end: Int)? {
        guard at < text.endIndex else { return nil }
        let start = at
        let feed = text[at...].firstIndex(of: 0x0A)
        at = feed.map { $0 + 1 } ?? text.endIndex
        var end = feed ?? text.endIndex
        if end > start, text[end - 1] == 0x0D { end -= 1 }
        return (start..<end, at)
    }
}

/// Writes the multipart response to a batch (http 8.8).
public enum BatchReply {
    /// Cannot occur as a line of a response, since each is JSON on one line.
    private static let boundary: StaticString = "batch_ccsd"
    private static let type: StaticString = "multipart/mixed; boundary=batch_ccsd"

    /// Returns the response to a batch: status 200, and one part for each request with the request's `Content-ID`.
    public static func response(_ parts: [(contentID: [UInt8]?, response: HTTPResponse)]) -> HTTPResponse {
        var body = ByteBuffer()
        for part in parts {
            body.append("--")
            body.append(boundary)
            body.append("\r\nContent-Type: application/http\r\n")
            if let id = part.contentID { append(id, to: &body) }
            body.append("\r\nHTTP/1.1 ")
            body.append(decimal: part.response.status.rawValue)
            body.append(" ")
            body.append(part.response.status.phrase)
            body.append("\r\nContent-Type: ")
            body.append(part.response.contentType)
            body.append("\r\nContent-Length: ")
            body.append(decimal: part.response.body.count)
            if let extra = part.response.extra {
                body.append("\r\n")
                body.append(extra.name)
                body.append(": ")
                body.append(text: extra.value)
            }
            body.append("\r\n\r\n")
            body.append(part.response.body)
            body.append("\r\n")
        }
        body.append("--")
        body.append(boundary)
        body.append("--\r\n")
        return HTTPResponse(.ok, type, body.copied())
    }

    /// Appends the `Content-ID` by which clients match responses: the request's with the prefix `response-` within the brackets.
    private static func append(_ id: [UInt8], to body: inout ByteBuffer) {
        body.append("Content-ID: ")
        if id.first == UInt8(ascii: "<") {
            body.append("<response-")
            body.append(Array(id.dropFirst()))
        } else {
            body.append("response-")
            body.append(id)
        }
        body.append("\r\n")
    }
}
