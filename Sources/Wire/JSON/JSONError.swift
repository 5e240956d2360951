/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Equatable {
    /// What was wrong.
    public enum Fault: String, Sendable {
        /// The text ended inside a value.
        case unexpectedEnd = "unexpected end"
        /// A byte that cannot stand there.
        case unexpectedByte = "unexpected character"
        /// Something follows the value.
        case trailingBytes = "something follows the value"
        /// A number that RFC 8259 does not have.
        case badNumber = "malformed number"
        /// An escape that RFC 8259 does not have.
        case badEscape = "malformed escape"
        /// Half of a surrogate pair: it has no UTF-8.
        case loneSurrogate = "lone surrogate"
        /// A control character that is not escaped.
        case controlCharacter = "unescaped control character"
        /// The bytes are not UTF-8.
        case badUTF8 = "malformed UTF-8"
        /// More nesting than `Limits.Stanza.jsonDepth`.
        case tooDeep = "too deeply nested"
    }

    /// What was wrong.
    public var fault: Fault
    /// Offset in bytes at which it was noticed.
    public var offset: Int

    /// Names a fault and its place.
    public init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }
}
