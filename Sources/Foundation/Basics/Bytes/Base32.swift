/// Base32 encoding and decoding (RFC 4648) without padding, as NKeys of NATS have it.
public enum Base32 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Returns the encoding of `bytes`.
    public static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var word: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(digits[Int(word >> bits & 31)])
            }
        }
        if bits > 0 { text.append(digits[Int(word << (5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text in upper case. Returns `nil` if it is not canonical Base32 without padding.
    public static func bytes(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var word: UInt32 = 0
        var bits: UInt32 = 0
        for digit in text {
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): word = word << 5 | UInt32(digit - UInt8(ascii: "A"))
            case UInt8(ascii: "2")...UInt8(ascii: "7"):
                word = word << 5 | UInt32(digit - UInt8(ascii: "2") + 26)
            default: return nil
            }
            bits += 5
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> bits))
        }
        // Five or more bits left belong to a digit that adds nothing.
        guard bits < 5, word & (1 << bits - 1) == 0 else { return nil }
        return bytes
    }
}
