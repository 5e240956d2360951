import Basics

/// The request methods that some endpoint may know; all others are `other`.
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

/// A whole request, checked in form.
public struct HTTPRequest: Sendable {
    /// Request line and headers as they came, without the empty line at the end.
    private let head: [UInt8]
    /// Where the headers lie in `head`; names are lower case there.
    private let fields: [HeaderField]
    /// The method.
    public let method: HTTPMethod
    /// The target's path: it begins with `/`, and nothing in it is decoded; `*` for `OPTIONS *`.
    public let path: [UInt8]
    /// What follows the `?` of the target; empty where there is none.
    public let query: [UInt8]
    /// Whether the peer may send another request after this one.
    public let keepsAlive: Bool
    /// Whether it says by itself where its body ends: a header does, or HTTP/2.
    public let tellsBodyEnd: Bool
    /// The body, its transfer coding undone.
    public private(set) var body: [UInt8] = []

    /// Offsets of one header in the head.
    struct HeaderField: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    init(
        head: [UInt8], fields: [HeaderField], method: HTTPMethod, path: [UInt8], query: [UInt8],
        keepsAlive: Bool, tellsBodyEnd: Bool
    ) {
        self.head = head
        self.fields = fields
        self.method = method
        self.path = path
        self.query = query
        self.keepsAlive = keepsAlive
        self.tellsBodyEnd = tellsBodyEnd
    }

    /// Whether it is `OPTIONS *`, which asks what the whole server takes (RFC 9110, 9.3.7).
    public var asksAboutServer: Bool { method == .options && path == [UInt8(ascii: "*")] }

    /// The same request with its body.
    func with(body: [UInt8]) -> HTTPRequest {
        var whole = self
        whole.body = body
        return whole
    }

    /// The value of the first header of a name (given in lower case), without blanks round it; nil if there is none.
    public func header(_ name: StaticString) -> [UInt8]? {
        for field in fields where head.raw.extracting(field.name).equals(name) {
            return Array(head[field.value])
        }
        return nil
    }

    /// How many headers of a name (given in lower case) there are.
    public func count(of name: StaticString) -> Int {
        fields.count { head.raw.extracting($0.name).equals(name) }
    }

    /// The media type of the body in lower case, without parameters; empty where none is named (http 1.2).
    public var mediaType: String {
        guard let value = header("content-type") else { return "" }
        let type = value.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
        return String(decoding: type.map(ASCII.lowered), as: UTF8.self)
    }
}

/// Classes of bytes that HTTP knows (RFC 9110, 5.6).
public enum ASCII {
    /// Whether a byte may stand in a method or a header name.
    public static func isToken(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a byte may stand in a header value.
    public static func isFieldValue(_ octet: UInt8) -> Bool {
        octet == 0x09 || octet >= 0x20 && octet != 0x7F
    }

    /// The lower-case form of an upper-case letter; any other byte as it is.
    public static func lowered(_ octet: UInt8) -> UInt8 {
        octet >= 0x41 && octet <= 0x5A ? octet | 0x20 : octet
    }

    /// Whether two texts are equal apart from the case of letters; the second is given in lower case.
    public static func equals(_ text: borrowing RawSpan, ignoringCase lower: StaticString) -> Bool {
        guard text.byteCount == lower.utf8CodeUnitCount else { return false }
        for at in 0..<text.byteCount where lowered(text.byte(at: at)) != lower.byte(at: at) {
            return false
        }
        return true
    }
}
