public import Basics

/// UTF-8 sequences by RFC 3629: shortest form, no surrogates, nothing above U+10FFFF.
public enum UTF8Sequence {
    /// Returns the length in bytes (1 … 4) of the sequence at an offset, or 0 if it is malformed.
    public static func length(in text: RawSpan, at offset: Int) -> Int {
        let left = text.byteCount &- offset
        let lead = text.byte(at: offset)
        if lead < 0x80 { return 1 }
        if lead >= 0xC2, lead <= 0xDF {
            return left >= 2 && continues(text, offset &+ 1) ? 2 : 0
        }
        if lead & 0xF0 == 0xE0 {
            guard left >= 3, continues(text, offset &+ 1), continues(text, offset &+ 2) else { return 0 }
            let second = text.byte(at: offset &+ 1)
            if lead == 0xE0, second < 0xA0 { return 0 }
            if lead == 0xED, second > 0x9F { return 0 }
            return 3
        }
        guard lead >= 0xF0, lead <= 0xF4, left >= 4, continues(text, offset &+ 1),
            continues(text, offset &+ 2), continues(text, offset &+ 3)
        else { return 0 }
        let second = text.byte(at: offset &+ 1)
        if lead == 0xF0, second < 0x90 { return 0 }
        if lead == 0xF4, second > 0x8F { return 0 }
        return 4
    }

    /// Appends the UTF-8 sequence of a scalar value.
    public static func append(_ scalar: UInt32, to buffer: inout ByteBuffer) {
        switch scalar {
        case ..<0x80: buffer.append(byte: UInt8(truncatingIfNeeded: scalar))
        case ..<0x800:
            buffer.append(byte: UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
            buffer.append(byte: UInt8(truncatingIfNeeded: 0x80 | scalar & 63))
        case ..<0x10000:
            buffer.append(byte: UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12))
            buffer.append(byte: UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 63))
            buffer.append(byte: UInt8(truncatingIfNeeded: 0x80 | scalar & 63))
        default:
            buffer.append(byte: UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
            buffer.append(byte: UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 63))
            buffer.append(byte: UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 63))
            buffer.append(byte: UInt8(truncatingIfNeeded: 0x80 | scalar & 63))
        }
    }

    @inline(__always)
    private static func continues(_ text: RawSpan, _ offset: Int) -> Bool {
        text.byte(at: offset) & 0xC0 == 0x80
    }
}
