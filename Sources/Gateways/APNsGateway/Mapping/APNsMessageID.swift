import Basics
import Delivery

/// The `apns-id` of a message (apns 1.2).
public enum APNsMessageID {
    /// Returns a UUID in its canonical form (RFC 9562, version 8), made from the persistent ID and the device.
    ///
    /// The persistent ID alone is unique only for one device.
    static func text(of message: StoredMessage) -> String {
        let sequence = message.sequence.number
        var mixed = message.device.number
        mixed = (mixed ^ mixed >> 33) &* 0xFF51_AFD7_ED55_8CCD
        mixed ^= mixed >> 33
        var high = (sequence >> 12) << 16 | sequence & 0xFFF
        high = high & ~0xF000 | 0x8000
        let low = 0x8000_0000_0000_0000 | UInt64(message.salt) << 30 | mixed & 0x3FFF_FFFF
        var digits = ByteBuffer()
        Hex.append(high, to: &digits)
        Hex.append(low, to: &digits)
        return text(digits.bytes)
    }

    /// Returns the canonical form of a UUID from its 32 hexadecimal digits.
    public static func text(digits: String) -> String {
        text(Array(digits.utf8).raw)
    }

    /// The positions of digits that follow a hyphen.
    private static func startsGroup(_ position: Int) -> Bool {
        position == 8 || position == 12 || position == 16 || position == 20
    }

    /// Each message gets one, so it is made of bytes: appending characters costs ten times as much.
    private static func text(_ digits: RawSpan) -> String {
        var buffer = ByteBuffer()
        for position in 0..<digits.byteCount {
            if startsGroup(position) { buffer.append("-") }
            buffer.append(byte: digits.byte(at: position))
        }
        return String(decoding: buffer.copied(), as: UTF8.self)
    }
}
