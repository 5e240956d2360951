public import Basics

/// Appends JSON to a buffer.
public enum JSONWriter {
    /// The context of the text, which determines what is escaped.
    public enum Context: Sendable {
        /// A JSON document, such as an HTTP body: only what RFC 8259 requires.
        case document
        /// The text of an XML element that clients read without an XML parser (ccs-xmpp 3.1): also `<`, `>`, `&`, and
        /// characters that XML 1.0 does not allow.
        case element
    }

    /// Appends a string in quotes; bytes that are not UTF-8 become U+FFFD.
    public static func append(
        string content: RawSpan, in context: Context = .document, to buffer: inout ByteBuffer
    ) {
        buffer.append("\"")
        append(content: content, in: context, to: &buffer)
        buffer.append("\"")
    }

    /// Appends the content of a string without its quotes.
    public static func append(content: RawSpan, in context: Context, to buffer: inout ByteBuffer) {
        var at = 0
        var copied = 0
        while true {
            at = afterPlain(content, at, in: context)
            guard at < content.byteCount else { break }
            let byte = content.byte(at: at)
            if byte < 0x80 {
                guard needsEscape(byte, in: context) else {
                    at &+= 1
                    continue
                }
                buffer.append(content.extracting(copied..<at))
                append(escapeOf: byte, to: &buffer)
                at &+= 1
                copied = at
                continue
            }
            let length = UTF8Sequence.length(in: content, at: at)
            let excluded = context == .element ? NonCharacter(in: content, at: at) : nil
            if length > 0, excluded == nil {
                at &+= length
                continue
            }
            buffer.append(content.extracting(copied..<at))
            buffer.append(excluded?.escape ?? "\u{FFFD}")
            at &+= max(length, 1)
            copied = at
        }
        buffer.append(content.extracting(copied..<content.byteCount))
    }

    /// Appends a string in quotes.
    public static func append(
        text: String, in context: Context = .document, to buffer: inout ByteBuffer
    ) {
        append(string: Array(text.utf8).raw, in: context, to: &buffer)
    }

    /// Skips ASCII that needs no escape, eight bytes at a time.
    @inline(__always)
    private static func afterPlain(_ content: RawSpan, _ offset: Int, in context: Context) -> Int {
        var at = offset
        while content.byteCount &- at >= 8 {
            let word = content.word(at: at)
            var special = JSONBytes.special(word)
            if context == .element {
                // `<` and `>` differ in one bit only.
                special |= JSONBytes.equal(word | 0x0202_0202_0202_0202, 0x3E) | JSONBytes.equal(word, 0x26)
            }
            if special != 0 { return at &+ special.trailingZeroBitCount >> 3 }
            at &+= 8
        }
        return at
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8, in context: Context) -> Bool {
        switch byte {
        case ..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): true
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"): context == .element
        default: false
        }
    }

    private static func append(escapeOf byte: UInt8, to buffer: inout ByteBuffer) {
        switch byte {
        case UInt8(ascii: "\""): buffer.append("\\\"")
        case UInt8(ascii: "\\"): buffer.append("\\\\")
        case 0x0A: buffer.append("\\n")
        case 0x0D: buffer.append("\\r")
        case 0x09: buffer.append("\\t")
        default:
            buffer.append("\\u00")
            Hex.append(byte, to: &buffer)
        }
    }
}
