/// Base64 encoding and decoding (RFC 4648), both alphabets.
public enum Base64 {
    private static let standard = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafe = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Value of each byte as a digit of either alphabet; 255 for any other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for alphabet in [standard, urlSafe] {
            for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        }
        return values
    }()

    /// Appends the encoding of `bytes`.
    public static func append(
        _ bytes: borrowing RawSpan, urlSafe: Bool, padded: Bool, to buffer: inout ByteBuffer
    ) {
        let digits = urlSafe ? Self.urlSafe : standard
        var at = 0
        while at < bytes.byteCount {
            let left = bytes.byteCount - at
            var word = UInt32(bytes.byte(at: at)) << 16
            if left > 1 { word |= UInt32(bytes.byte(at: at + 1)) << 8 }
            if left > 2 { word |= UInt32(bytes.byte(at: at + 2)) }
            buffer.append(byte: digits[Int(word >> 18)])
            buffer.append(byte: digits[Int(word >> 12 & 63)])
            if left > 1 { buffer.append(byte: digits[Int(word >> 6 & 63)]) }
            if left > 2 { buffer.append(byte: digits[Int(word & 63)]) }
            if padded, left < 3 { for _ in left..<3 { buffer.append("=") } }
            at += 3
        }
    }

    /// Returns the encoding of `bytes`.
    public static func text(_ bytes: [UInt8], urlSafe: Bool = false, padded: Bool = true) -> String {
        var buffer = ByteBuffer()
        append(bytes.raw, urlSafe: urlSafe, padded: padded, to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    /// Decodes text in either alphabet. Returns `nil` if it is not canonical Base64.
    ///
    /// Padding may be absent as a whole; if present, it must be complete and at the end.
    public static func bytes(_ text: borrowing RawSpan) -> [UInt8]? {
        var end = text.byteCount
        var padding = 0
        while end > 0, padding < 2, text.byte(at: end - 1) == UInt8(ascii: "=") {
            end -= 1
            padding += 1
        }
        guard end % 4 != 1, padding == 0 || (end + padding) % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end * 3 / 4)
        var word: UInt32 = 0
        var bits = 0
        for at in 0..<end {
            let value = values[Int(text.byte(at: at))]
            guard value < 64 else { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
        }
        guard word & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }
}
