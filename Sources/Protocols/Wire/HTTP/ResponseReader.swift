import Basics

/// A complete response, as a client reads it.
public struct HTTPAnswer: Sendable {
    /// The status code.
    public var status: Int
    /// Headers in order, their names in lower case.
    public var headers: [(name: String, value: String)]
    /// The body without its transfer coding.
    public var body: [UInt8]
    /// Whether the server closes the connection after the response.
    public var closes: Bool

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)], body: [UInt8], closes: Bool) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closes = closes
    }

    /// Returns the value of the first header of that name (in lower case), or `nil`.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// Parses the byte stream from a server into responses, for our own tools and tests.
public struct ResponseReader: ~Copyable {
    private var buffer = ByteBuffer()
    private var stage = Stage.head

    private enum Stage {
        case head
        case length(HTTPAnswer, Int)
        case chunked(HTTPAnswer, ChunkedBody)
        /// The body ends with the connection.
        case untilEnd(HTTPAnswer)
    }

    /// Creates a reader for a new connection.
    public init() {}

    /// Whether no bytes of an incomplete response are buffered.
    public var isEmpty: Bool { buffer.isEmpty }

    /// Appends bytes from the server.
    public mutating func append(_ bytes: RawSpan) { buffer.append(bytes) }

    /// Returns the next complete response, or `nil` if more bytes are needed. `isHead`: the request was HEAD, so there is no body.
    public mutating func next(isHead: Bool = false) throws(RequestFault) -> HTTPAnswer? {
        while true {
            switch stage {
            case .head:
                guard let answer = try head() else { return nil }
                if answer.status / 100 == 1 { continue }
                if isHead || answer.status == 204 || answer.status == 304 { return answer }
                try begin(answer)
            case .length(var answer, let length):
                guard buffer.count >= length else { return nil }
                answer.body = [UInt8](copying: buffer.bytes.extracting(0..<length))
                buffer.removeFirst(length)
                stage = .head
                return answer
            case .chunked(var answer, var chunks):
                buffer.removeFirst(try chunks.consume(buffer.bytes))
                guard chunks.isComplete else {
                    stage = .chunked(answer, chunks)
                    return nil
                }
                answer.body = chunks.body
                stage = .head
                return answer
            case .untilEnd:
                guard buffer.count <= Limits.Client.answerBodyBytes else { throw Self.tooLong }
                return nil
            }
        }
    }

    /// Call at the end of the connection. Returns the response whose body ended with it, or `nil`.
    public mutating func finish() -> HTTPAnswer? {
        guard case .untilEnd(var answer) = stage else { return nil }
        answer.body = buffer.copied()
        stage = .head
        return answer
    }

    private static let tooLong = RequestFault(.contentTooLarge, "response too long")

    private mutating func begin(_ answer: HTTPAnswer) throws(RequestFault) {
        if answer.header("transfer-encoding") != nil {
            stage = .chunked(answer, ChunkedBody())
        } else if let text = answer.header("content-length") {
            guard let length = Int(text), length >= 0 else {
                throw RequestFault(.badRequest, "invalid Content-Length in the response")
            }
            guard length <= Limits.Client.answerBodyBytes else { throw Self.tooLong }
            stage = .length(answer, length)
        } else {
            stage = .untilEnd(answer)
        }
    }

    private mutating func head() throws(RequestFault) -> HTTPAnswer? {
        var end = 3
        while end < buffer.count {
            if buffer.bytes.byte(at: end) == 0x0A,
                buffer.bytes.extracting(end - 3..<end + 1).equals("\r\n\r\n")
            {
                break
            }
            end += 1
        }
        guard end < buffer.count else {
            guard buffer.count <= Limits.HTTP.requestHeadBytes else { throw Self.tooLong }
            return nil
        }
        let text = String(decoding: [UInt8](copying: buffer.bytes.extracting(0..<end - 3)), as: UTF8.self)
        buffer.removeFirst(end + 1)
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        let first = lines.removeFirst().split(separator: " ", maxSplits: 2)
        guard first.count >= 2, first[0].hasPrefix("HTTP/1."), let status = Int(first[1]) else {
            throw RequestFault(.badRequest, "invalid status line: expected HTTP/1.1 and a status code")
        }
        let headers = lines.map { line -> (name: String, value: String) in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1] : ""
            return (parts[0].lowercased(), String(value.drop { $0 == " " }))
        }
        let closes = headers.contains { $0.name == "connection" && $0.value.lowercased() == "close" }
        return HTTPAnswer(status: status, headers: headers, body: [], closes: closes)
    }
}
