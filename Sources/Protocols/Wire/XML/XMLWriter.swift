public import Basics

/// Escaping of character data and attribute values: any input yields valid XML 1.0.
///
/// Markup is escaped; what XML does not allow (controls, U+FFFE, U+FFFF, bytes that are not UTF-8) becomes U+FFFD.
extension ByteBuffer {
    /// Appends bytes as character data.
    public mutating func appendText(_ text: borrowing RawSpan) { appendEscaped(text, inAttribute: false) }

    /// Appends a string as character data.
    public mutating func appendText(_ text: String) { appendText(Array(text.utf8).raw) }

    /// Appends bytes as an attribute value, for either kind of quotes.
    public mutating func appendAttribute(_ text: borrowing RawSpan) {
        appendEscaped(text, inAttribute: true)
    }

    /// Appends a string as an attribute value, for either kind of quotes.
    public mutating func appendAttribute(_ text: String) { appendAttribute(Array(text.utf8).raw) }

    private mutating func appendEscaped(_ text: borrowing RawSpan, inAttribute: Bool) {
        let count = text.byteCount
        var run = 0
        var at = 0
        while at < count {
            if count &- at >= 8 {
                let word = text.word(at: at)
                // `<` is 0x3C and `>` 0x3E: setting bit 1 finds both in one comparison; likewise `"` is 0x22, `&` 0x26.
                var hit =
                    lanes(word | 0x0202_0202_0202_0202, equal: 0x3E) | lanes(word, equal: 0x26)
                    | ((word &- 0x2020_2020_2020_2020) & ~word | word) & 0x8080_8080_8080_8080
                if inAttribute { hit |= lanes(word, equal: 0x22) | lanes(word, equal: 0x27) }
                guard hit != 0 else {
                    at &+= 8
                    continue
                }
                at &+= hit.trailingZeroBitCount >> 3
            }
            let length = text.characterLength(at: at)
            if length > 0, let plain = Self.replacement(for: text.byte(at: at), inAttribute) {
                append(text.extracting(run..<at))
                append(plain)
                run = at &+ 1
            } else if length <= 0 {
                append(text.extracting(run..<at))
                append("\u{FFFD}")
                run = at &+ (length == 0 || text.byte(at: at) < 0x80 ? 1 : 3)
            }
            at = max(run, at &+ max(1, length))
        }
        append(text.extracting(run..<count))
    }

    private static func replacement(for byte: UInt8, _ inAttribute: Bool) -> StaticString? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\r"): "&#13;"
        case UInt8(ascii: "\"") where inAttribute: "&quot;"
        case UInt8(ascii: "'") where inAttribute: "&apos;"
        case UInt8(ascii: "\n") where inAttribute: "&#10;"
        case UInt8(ascii: "\t") where inAttribute: "&#9;"
        default: nil
        }
    }
}
