import Basics

/// The request methods that an endpoint may support; all others are `other`.
public enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    case other = ""
}

/// A complete, syntactically valid request.
public struct HTTPRequest: Sendable {
    /// The request line and headers as received, without the empty line at the end.
    private let head: [UInt8]
    /// The ranges of the headers in `head`, where names are in lower case.
    private let fields: [HeaderField]
    /// The request method.
    public let method: HTTPMethod
    /// The path of the target: it starts with `/` and is still percent-encoded; `*` for `OPTIONS *`.
    public let path: [UInt8]
    /// The query of the target, after the `?`; empty if there is none.
    public let query: [UInt8]
    /// Whether the peer may send another request after this one.
    public let keepsAlive: Bool
    /// Whether the request delimits its body: by a header, or by HTTP/2 framing.
    public let delimitsBody: Bool
    /// The body without its transfer coding.
    public private(set) var body: [UInt8] = []

    /// The offsets of one header in the head.
    struct HeaderField: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    init(
        head: [UInt8], fields: [HeaderField], method: HTTPMethod, path: [UInt8], query: [UInt8],
        keepsAlive: Bool, delimitsBody: Bool
    ) {
        self.head = head
        self.fields = fields
        self.method = method
        self.path = path
        self.query = query
        self.keepsAlive = keepsAlive
        self.delimitsBody = delimitsBody
    }

    /// Whether the request is `OPTIONS *`, which applies to the whole server (RFC 9110, 9.3.7).
    public var isServerWide: Bool { method == .options && path == [UInt8(ascii: "*")] }

    /// Returns the request with a body.
    func with(body: [UInt8]) -> HTTPRequest {
        var whole = self
        whole.body = body
        return whole
    }

    /// Returns the trimmed value of a header (its name in lower case), or `nil`. Several lines are one list (RFC 9110, 5.3).
    public func header(_ name: StaticString) -> [UInt8]? {
        var value: [UInt8]?
        for field in fields where head.raw.extracting(field.name).equals(name) {
            value =
                value.map { $0 + [UInt8(ascii: ","), 0x20] + head[field.value] } ?? Array(head[field.value])
        }
        return value
    }

    /// Returns the trimmed values of all headers of that name (in lower case).
    public func headers(_ name: StaticString) -> [[UInt8]] {
        fields.compactMap { head.raw.extracting($0.name).equals(name) ? Array(head[$0.value]) : nil }
    }

    /// Returns the number of headers of that name (in lower case).
    public func count(of name: StaticString) -> Int {
        fields.count { head.raw.extracting($0.name).equals(name) }
    }

    /// The media type of the body in lower case, without parameters; empty if not given (http 1.2).
    public var mediaType: String {
        guard let value = header("content-type") else { return "" }
        let type = value.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
        return String(decoding: type.map(ASCII.lowered), as: UTF8.self)
    }
}

/// Character classes of HTTP (RFC 9110, 5.6).
public enum ASCII {
    /// Whether a byte is allowed in a method or a header name.
    public static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a byte is allowed in a header value.
    public static func isFieldValue(_ byte: UInt8) -> Bool {
        byte == 0x09 || byte >= 0x20 && byte != 0x7F
    }

    /// Returns an upper-case letter in lower case, and any other byte unchanged.
    public static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    /// Whether two texts are equal ignoring ASCII case; the second is in lower case.
    public static func equals(_ text: borrowing RawSpan, ignoringCase lower: StaticString) -> Bool {
        guard text.byteCount == lower.utf8CodeUnitCount else { return false }
        for at in 0..<text.byteCount where lowered(text.byte(at: at)) != lower.byte(at: at) {
            return false
        }
        return true
    }
}
