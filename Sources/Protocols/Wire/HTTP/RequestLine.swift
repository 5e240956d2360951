import Basics

/// The first line of a request: `POST /checkin HTTP/1.1`.
struct RequestLine {
    var method: HTTPMethod
    /// The path, still percent-encoded.
    var path: [UInt8]
    /// The query, still percent-encoded.
    var query: [UInt8]
    /// Whether the version is 1.0: no transfer coding and no persistent connection.
    var isVersion10: Bool

    /// Parses a line without its line end.
    init(_ line: borrowing RawSpan) throws(RequestFault) {
        var space = 0
        while space < line.byteCount, ASCII.isToken(line.byte(at: space)) { space += 1 }
        guard space > 0, space < line.byteCount, line.byte(at: space) == 0x20 else {
            throw RequestFault(.badRequest, "invalid request line: expected a method")
        }
        let word = String(decoding: [UInt8](copying: line.extracting(0..<space)), as: UTF8.self)
        method = HTTPMethod(rawValue: word) ?? .other
        var end = space + 1
        while end < line.byteCount, line.byte(at: end) > 0x20, line.byte(at: end) < 0x7F { end += 1 }
        guard end < line.byteCount, line.byte(at: end) == 0x20 else {
            throw RequestFault(.badRequest, "invalid request line: expected a target after the method")
        }
        isVersion10 = try Self.isVersion10(line.extracting(end + 1..<line.byteCount))
        (path, query) = try RequestTarget.parts(line.extracting(space + 1..<end), of: method)
    }

    private static func isVersion10(_ version: RawSpan) throws(RequestFault) -> Bool {
        if version.equals("HTTP/1.1") { return false }
        if version.equals("HTTP/1.0") { return true }
        guard version.byteCount == 8, version.extracting(0..<5).equals("HTTP/"),
            version.byte(at: 5) &- 0x30 < 10, version.byte(at: 6) == UInt8(ascii: "."),
            version.byte(at: 7) &- 0x30 < 10
        else { throw RequestFault(.badRequest, "invalid request line: expected a version after the target") }
        throw RequestFault(.versionNotSupported, "unsupported version: expected HTTP/1.1 or HTTP/1.0")
    }
}

/// Parses request targets (RFC 9112, 3.2).
enum RequestTarget {
    /// Splits a target into path and query; scheme and authority of the absolute form are dropped (RFC 9112, 3.2.2).
    ///
    /// The path of `OPTIONS *`, which applies to the whole server, is the asterisk (RFC 9112, 3.2.4).
    static func parts(_ target: RawSpan, of method: HTTPMethod) throws(RequestFault) -> ([UInt8], [UInt8]) {
        if method == .options, target.equals("*") { return ([UInt8(ascii: "*")], []) }
        var start = 0
        for scheme: StaticString in ["http://", "https://"] {
            let length = scheme.utf8CodeUnitCount
            guard target.byteCount > length,
                ASCII.equals(target.extracting(0..<length), ignoringCase: scheme)
            else { continue }
            start = length
            while start < target.byteCount, target.byte(at: start) != UInt8(ascii: "/") { start += 1 }
        }
        guard start < target.byteCount, target.byte(at: start) == UInt8(ascii: "/") else {
            throw RequestFault(.badRequest, "invalid target: expected a path or an absolute URL")
        }
        var end = start
        while end < target.byteCount, target.byte(at: end) != UInt8(ascii: "?") {
            guard target.byte(at: end) != UInt8(ascii: "#") else {
                throw RequestFault(.badRequest, "invalid target: a fragment is not allowed")
            }
            end += 1
        }
        let query = min(end + 1, target.byteCount)
        return (
            [UInt8](copying: target.extracting(start..<end)),
            [UInt8](copying: target.extracting(query..<target.byteCount))
        )
    }
}
