import Basics

/// Where a value stands in its document; of use only with the reader that gave it.
public struct JSONSlice: Sendable, Equatable {
    /// Offset of its first byte.
    public var start: Int
    /// Offset behind its last byte.
    public var end: Int

    /// No value: a place holder.
    public static var absent: JSONSlice { JSONSlice(start: -1, end: -1) }
}

/// What a JSON value is.
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

    /// No member: a place holder.
    public static var absent: JSONMember { JSONMember(key: .absent, value: .absent) }
}

/// How far an iteration over an object or array has come.
public struct JSONCursor: Sendable {
    fileprivate var at: Int
}

/// JSON text that has been checked as a whole, read in place: nothing is copied or allocated until it is asked for.
///
/// Strict RFC 8259: UTF-8, one value, no comments, no trailing commas, nesting up to `Limits.Stanza.jsonDepth`. A lone
/// surrogate is refused, since UTF-8 cannot carry it. `\u0000` is JSON; who cannot use it asks `holdsNUL`.
/// Of equal keys the last one counts (ccs-xmpp 2.4), which is for the caller of `next` to do.
public struct JSONReader: ~Escapable {
    /// The document.
    public let text: RawSpan
    /// Its one value.
    public let root: JSONSlice
    /// Whether there is any backslash: usually not, and then every string is its own content.
    let hasEscapes: Bool

    /// Checks a document.
    @_lifetime(copy text)
    public init(_ text: RawSpan) throws(JSONError) {
        let scanner = JSONScanner(text)
        let start = scanner.afterBlanks(0)
        let end = try scanner.value(start, depth: 0)
        guard scanner.afterBlanks(end) == text.byteCount else { throw JSONError(.trailingBytes, at: end) }
        self.text = text
        root = JSONSlice(start: start, end: end)
        hasEscapes = scanner.holdsBackslash(start, end)
    }

    /// What a value is.
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

    /// The text of a value as written.
    @_lifetime(copy self)
    public func raw(_ value: JSONSlice) -> RawSpan { text.extracting(value.start..<value.end) }

    /// Begins an iteration over the members of an object or the elements of an array.
    public func begin(_ container: JSONSlice) -> JSONCursor { JSONCursor(at: container.start &+ 1) }

    /// The next member of an object; nil at its end.
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

    /// The next element of an array; nil at its end.
    public func nextElement(_ cursor: inout JSONCursor) -> JSONSlice? {
        guard let start = advance(&cursor) else { return nil }
        let end = JSONScanner(text).endOfChecked(start)
        cursor.at = end
        return JSONSlice(start: start, end: end)
    }

    /// Moves over blanks and a comma to the next key or element.
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
