import Basics

/// The range of a value in its document; valid only with the reader that returned it.
public struct JSONSlice: Sendable, Equatable {
    /// The offset of the first byte.
    public var start: Int
    /// The offset after the last byte.
    public var end: Int

    /// A placeholder for no value.
    public static var absent: JSONSlice { JSONSlice(start: -1, end: -1) }
}

/// The type of a JSON value.
public enum JSONKind: Sendable, Equatable {
    case object
    case array
    case string
    case number
    case boolean
    case null
}

/// A member of an object: the key's string and the value.
public struct JSONMember: Sendable, Equatable {
    /// The key, a string.
    public var key: JSONSlice
    /// The value.
    public var value: JSONSlice

    /// A placeholder for no member.
    public static var absent: JSONMember { JSONMember(key: .absent, value: .absent) }
}

/// The position of an iteration over an object or array.
public struct JSONCursor: Sendable {
    fileprivate var at: Int
}

/// A validated JSON document, read in place: nothing is copied or allocated until a value is requested.
///
/// Strict RFC 8259: UTF-8, one value, no comments, no trailing commas, nesting up to `Limits.Stanza.jsonDepth`. A lone
/// surrogate is refused, since UTF-8 cannot represent it. `\u0000` is allowed; callers that cannot use it check `holdsNUL`.
/// The last of several equal keys counts (ccs-xmpp 2.4), which the caller of `nextMember` implements.
public struct JSONReader: ~Escapable {
    public let text: RawSpan
    /// The top-level value.
    public let root: JSONSlice
    /// Whether the document contains a backslash. Usually not, and then the bytes of every string are its content.
    let hasEscapes: Bool

    /// Validates a document.
    @_lifetime(copy text)
    public init(_ text: RawSpan) throws(JSONError) {
        var scanner = JSONScanner(text)
        let start = scanner.afterBlanks(0)
        let end = try scanner.value(start, depth: 0)
        guard scanner.afterBlanks(end) == text.byteCount else { throw JSONError(.trailingBytes, at: end) }
        self.text = text
        root = JSONSlice(start: start, end: end)
        hasEscapes = scanner.holdsEscapes
    }

    /// Returns the type of a value.
    public func kind(_ value: JSONSlice) -> JSONKind {
        switch text.byte(at: value.start) {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// Returns the text of a value as written.
    @_lifetime(copy self)
    public func raw(_ value: JSONSlice) -> RawSpan { text.extracting(value.start..<value.end) }

    /// Starts an iteration over the members of an object or the elements of an array.
    public func begin(_ container: JSONSlice) -> JSONCursor { JSONCursor(at: container.start &+ 1) }

    /// Returns the next member of an object, or `nil` at its end.
    @inline(__always)
    public func nextMember(_ cursor: inout JSONCursor) -> JSONMember? {
        let scanner = JSONScanner(text)
        guard let start = advance(&cursor) else { return nil }
        let keyEnd = scanner.endOfCheckedString(start)
        let colon = scanner.afterBlanks(keyEnd)
        let value = scanner.afterBlanks(colon &+ 1)
        let end = scanner.endOfChecked(value)
        cursor.at = end
        return JSONMember(
            key: JSONSlice(start: start, end: keyEnd), value: JSONSlice(start: value, end: end))
    }

    /// Returns the next element of an array, or `nil` at its end.
    public func nextElement(_ cursor: inout JSONCursor) -> JSONSlice? {
        guard let start = advance(&cursor) else { return nil }
        let end = JSONScanner(text).endOfChecked(start)
        cursor.at = end
        return JSONSlice(start: start, end: end)
    }

    /// Skips whitespace and a comma before the next key or element.
    private func advance(_ cursor: inout JSONCursor) -> Int? {
        let scanner = JSONScanner(text)
        var at = scanner.afterBlanks(cursor.at)
        if text.byte(at: at) == UInt8(ascii: ",") { at = scanner.afterBlanks(at &+ 1) }
        switch text.byte(at: at) {
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return nil
        default: return at
        }
    }
}
