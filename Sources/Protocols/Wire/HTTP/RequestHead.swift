import Basics

/// A strictly parsed request line and headers: input that two parsers could interpret differently is refused.
struct RequestHead {
    var request: HTTPRequest
    var framing: Framing
    /// Whether the peer waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool

    /// How a body is delimited.
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    /// Parses a head that ends with its empty line. Each line ends in CR LF, and the head has no other CR or LF.
    init(_ bytes: borrowing RawSpan) throws(RequestFault) {
        var head = [UInt8](copying: bytes.extracting(0..<bytes.byteCount - 2))
        var lines = LineCursor(at: 0)
        let line = try RequestLine(head.raw.extracting(lines.next(in: head)))
        var fields: [HTTPRequest.HeaderField] = []
        while lines.at < head.count {
            guard fields.count < Limits.HTTP.requestHeaders else {
                throw RequestFault(.headersTooLarge, "The request has too many headers.")
            }
            fields.append(try Self.field(lines.next(in: head), in: &head))
        }
        let content = try FramingFields(fields, head, isOld: line.isVersion10)
        try SingleFields.check(fields, head.raw)
        framing = content.framing
        expectsContinue = content.expectsContinue && !line.isVersion10
        request = HTTPRequest(
            head: head, fields: fields, method: line.method, path: line.path, query: line.query,
            keepsAlive: !line.isVersion10 && !content.closes, delimitsBody: content.isFramed)
    }

    /// Returns the request of the lines at the start of a head that are complete and valid, without its body; `nil` if not even the
    /// first one is. For the refusal of a request: what follows the lines is wrong, or has not arrived.
    static func known(in bytes: borrowing RawSpan) -> HTTPRequest? {
        var head = [UInt8](copying: bytes.extracting(0..<min(bytes.byteCount, Limits.HTTP.requestHeadBytes)))
        // One empty line before a request is skipped, as where it is read.
        if head.starts(with: [0x0D, 0x0A]) { head.removeFirst(2) }
        guard let end = head.lastIndex(of: 0x0D) else { return nil }
        head.removeSubrange(end...)
        head += [0x0D, 0x0A]
        var lines = LineCursor(at: 0)
        guard let line = try? RequestLine(head.raw.extracting(lines.next(in: head))) else { return nil }
        var fields: [HTTPRequest.HeaderField] = []
        while lines.at < head.count, fields.count < Limits.HTTP.requestHeaders {
            let text = lines.next(in: head)
            guard !text.isEmpty, let field = try? field(text, in: &head) else { break }
            fields.append(field)
        }
        return HTTPRequest(
            head: head, fields: fields, method: line.method, path: line.path, query: line.query,
            keepsAlive: false, delimitsBody: true)
    }

    /// Iterates over lines that end in CR LF.
    private struct LineCursor {
        var at: Int

        mutating func next(in head: [UInt8]) -> Range<Int> {
            let start = at
            while at < head.count, head[at] != 0x0D { at += 1 }
            defer { at += 2 }
            return start..<at
        }
    }

    /// Checks one header line and changes its name to lower case.
    private static func field(
        _ line: Range<Int>, in head: inout [UInt8]
    ) throws(RequestFault) -> HTTPRequest.HeaderField {
        let first = head[line.lowerBound]
        guard first != 0x20, first != 0x09 else {
            throw RequestFault(.badRequest, "invalid header: folding over two lines is not allowed")
        }
        var at = line.lowerBound
        while at < line.upperBound, ASCII.isToken(head[at]) {
            head[at] = ASCII.lowered(head[at])
            at += 1
        }
        guard at > line.lowerBound, at < line.upperBound, head[at] == UInt8(ascii: ":") else {
            throw RequestFault(.badRequest, "invalid header: expected a name and a colon")
        }
        var start = at + 1
        var end = line.upperBound
        while start < end, head[start] == 0x20 || head[start] == 0x09 { start += 1 }
        while end > start, head[end - 1] == 0x20 || head[end - 1] == 0x09 { end -= 1 }
        for byte in head[start..<end] where !ASCII.isFieldValue(byte) {
            throw RequestFault(.badRequest, "invalid header: control characters are not allowed")
        }
        return HTTPRequest.HeaderField(name: line.lowerBound..<at, value: start..<end)
    }
}

/// The headers that determine where a message ends.
struct FramingFields {
    var framing = RequestHead.Framing.length(0)
    var expectsContinue = false
    var closes = false
    var isFramed = false

    init(_ fields: [HTTPRequest.HeaderField], _ head: [UInt8], isOld: Bool) throws(RequestFault) {
        var length: Int?
        var isChunked = false
        var hosts = 0
        for field in fields {
            let name = head.raw.extracting(field.name)
            let value = head.raw.extracting(field.value)
            if name.equals("content-length") {
                guard length == nil else {
                    throw RequestFault(.badRequest, "duplicate Content-Length")
                }
                length = try Self.length(value)
            } else if name.equals("transfer-encoding") {
                guard !isChunked else {
                    throw RequestFault(.badRequest, "duplicate Transfer-Encoding")
                }
                guard ASCII.equals(value, ignoringCase: "chunked") else {
                    throw RequestFault(.notImplemented, "unsupported Transfer-Encoding: expected chunked")
                }
                isChunked = true
            } else if name.equals("host") {
                hosts += 1
            } else if name.equals("connection") {
                closes = closes || Self.names(value, "close")
            } else if name.equals("expect") {
                guard ASCII.equals(value, ignoringCase: "100-continue") else {
                    throw RequestFault(.expectationFailed, "unsupported Expect: expected 100-continue")
                }
                expectsContinue = true
            }
        }
        guard hosts == 1 || isOld && hosts == 0 else {
            throw RequestFault(.badRequest, "invalid Host: expected exactly one")
        }
        guard !isChunked || length == nil && !isOld else {
            throw RequestFault(
                .badRequest, "invalid Transfer-Encoding: not allowed with Content-Length or in HTTP/1.0")
        }
        isFramed = isChunked || length != nil
        framing = isChunked ? .chunked : .length(length ?? 0)
    }

    /// Parses a length that consists of digits only.
    static func length(_ value: RawSpan) throws(RequestFault) -> Int {
        guard value.byteCount > 0, value.byteCount <= 18 else {
            throw RequestFault(.badRequest, "invalid Content-Length: expected 1 to 18 digits")
        }
        var length = 0
        for at in 0..<value.byteCount {
            let digit = value.byte(at: at) &- 0x30
            guard digit < 10 else {
                throw RequestFault(.badRequest, "invalid Content-Length: expected 1 to 18 digits")
            }
            length = length * 10 + Int(digit)
        }
        guard length <= Limits.HTTP.requestBodyBytes else {
            throw RequestFault(.contentTooLarge, "The body is too long.")
        }
        return length
    }

    /// Whether a comma-separated list contains a word.
    private static func names(_ list: RawSpan, _ word: StaticString) -> Bool {
        var start = 0
        while start <= list.byteCount {
            var end = start
            while end < list.byteCount, list.byte(at: end) != UInt8(ascii: ",") { end += 1 }
            var from = start
            var to = end
            while from < to, list.byte(at: from) == 0x20 || list.byte(at: from) == 0x09 { from += 1 }
            while to > from, list.byte(at: to - 1) == 0x20 || list.byte(at: to - 1) == 0x09 { to -= 1 }
            if ASCII.equals(list.extracting(from..<to), ignoringCase: word) { return true }
            start = end + 1
        }
        return false
    }
}
