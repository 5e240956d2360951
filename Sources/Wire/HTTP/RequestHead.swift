import Basics

/// Request line and headers, read strictly: what two readers could take in two ways is refused.
struct RequestHead {
    /// The request without its body.
    var request: HTTPRequest
    /// How the body is marked off.
    var framing: Framing
    /// Whether the peer waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool

    /// How a body is marked off.
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    /// Reads a head that ends with its empty line; every line in it ends in CR LF, and no other CR or LF is there.
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
        framing = content.framing
        expectsContinue = content.expectsContinue && !line.isVersion10
        request = HTTPRequest(
            head: head, fields: fields, method: line.method, path: line.path, query: line.query,
            keepsAlive: !line.isVersion10 && !content.closes, tellsBodyEnd: content.isFramed)
    }

    /// Steps through lines that end in CR LF.
    private struct LineCursor {
        var at: Int

        mutating func next(in head: [UInt8]) -> Range<Int> {
            let start = at
            while at < head.count, head[at] != 0x0D { at += 1 }
            defer { at += 2 }
            return start..<at
        }
    }

    /// Checks one header line, and puts its name in lower case.
    private static func field(
        _ line: Range<Int>, in head: inout [UInt8]
    ) throws(RequestFault) -> HTTPRequest.HeaderField {
        let first = head[line.lowerBound]
        guard first != 0x20, first != 0x09 else {
            throw RequestFault(.badRequest, "A header is folded over two lines.")
        }
        var at = line.lowerBound
        while at < line.upperBound, ASCII.isToken(head[at]) {
            head[at] = ASCII.lowered(head[at])
            at += 1
        }
        guard at > line.lowerBound, at < line.upperBound, head[at] == UInt8(ascii: ":") else {
            throw RequestFault(.badRequest, "A header has no proper name.")
        }
        var start = at + 1
        var end = line.upperBound
        while start < end, head[start] == 0x20 || head[start] == 0x09 { start += 1 }
        while end > start, head[end - 1] == 0x20 || head[end - 1] == 0x09 { end -= 1 }
        for octet in head[start..<end] where !ASCII.isFieldValue(octet) {
            throw RequestFault(.badRequest, "A header holds a control character.")
        }
        return HTTPRequest.HeaderField(name: line.lowerBound..<at, value: start..<end)
    }
}

/// The headers that decide how a message ends.
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
                    throw RequestFault(.badRequest, "Content-Length stands there twice.")
                }
                length = try Self.length(value)
            } else if name.equals("transfer-encoding") {
                guard !isChunked else {
                    throw RequestFault(.badRequest, "Transfer-Encoding stands there twice.")
                }
                guard ASCII.equals(value, ignoringCase: "chunked") else {
                    throw RequestFault(.notImplemented, "The only transfer coding taken is chunked.")
                }
                isChunked = true
            } else if name.equals("host") {
                hosts += 1
            } else if name.equals("connection") {
                closes = closes || Self.names(value, "close")
            } else if name.equals("expect") {
                guard ASCII.equals(value, ignoringCase: "100-continue") else {
                    throw RequestFault(.expectationFailed, "The only expectation met is 100-continue.")
                }
                expectsContinue = true
            }
        }
        guard hosts == 1 || isOld && hosts == 0 else {
            throw RequestFault(.badRequest, "There must be one Host.")
        }
        guard !isChunked || length == nil && !isOld else {
            throw RequestFault(.badRequest, "Transfer-Encoding cannot stand beside this length or version.")
        }
        isFramed = isChunked || length != nil
        framing = isChunked ? .chunked : .length(length ?? 0)
    }

    /// Reads a length: digits and nothing else.
    static func length(_ value: RawSpan) throws(RequestFault) -> Int {
        guard value.byteCount > 0, value.byteCount <= 18 else {
            throw RequestFault(.badRequest, "Content-Length is no number.")
        }
        var length = 0
        for at in 0..<value.byteCount {
            let digit = value.byte(at: at) &- 0x30
            guard digit < 10 else {
                throw RequestFault(.badRequest, "Content-Length is no number.")
            }
            length = length * 10 + Int(digit)
        }
        guard length <= Limits.HTTP.requestBodyBytes else {
            throw RequestFault(.contentTooLarge, "The body is too long.")
        }
        return length
    }

    /// Whether a list of words, separated by commas, holds one.
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
