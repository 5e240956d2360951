/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Equatable {
    /// What was wrong.
    public enum Fault: String, Sendable {
        /// The text ended inside a value.
        case unexpectedEnd = "unexpected end"
        /// A byte that is not allowed at this position.
        case unexpectedByte = "unexpected character"
        /// The value is followed by another character.
        case trailingBytes = "unexpected character after the value"
        /// A number that RFC 8259 does not allow.
        case badNumber = "malformed number"
        /// An escape that RFC 8259 does not allow.
        case badEscape = "malformed escape"
        /// Half of a surrogate pair, which has no UTF-8.
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
    /// The byte offset of the fault.
    public var offset: Int

    /// Creates an error.
    public init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }
}
