/// The `apns-id` that the server gives a message (apns 1.2): a UUID in its canonical form (RFC 9562, version 8), made from the persistent
/// ID and the device, since the persistent ID alone is unique only for one device.
extension PersistentID {
    /// Returns the `apns-id` of the message for a device.
    public func appleID(for device: DeviceID) -> String {
        var mixed = device.number
        mixed = (mixed ^ mixed >> 33) &* 0xFF51_AFD7_ED55_8CCD
        mixed ^= mixed >> 33
        var high = (sequence.number >> 12) << 16 | sequence.number & 0xFFF
        high = high & ~0xF000 | 0x8000
        let low = 0x8000_0000_0000_0000 | UInt64(salt) << 30 | mixed & 0x3FFF_FFFF
        var digits = ByteBuffer()
        Hex.append(high, to: &digits)
        Hex.append(low, to: &digits)
        return UUIDText.canonical(digits.bytes)
    }

    /// Reads an `apns-id` that a server has made. Returns `nil` for any other text.
    public init?(appleID text: borrowing RawSpan) {
        guard text.byteCount == UUIDText.length else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for at in 0..<text.byteCount {
            let byte = text.byte(at: at)
            if UUIDText.isHyphen(at) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hex.value(of: byte) else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(digit)
        }
        guard high >> 12 & 0xF == 8, low >> 62 == 2 else { return nil }
        self.init(
            sequence: SequenceNumber((high >> 16) << 12 | high & 0xFFF),
            salt: UInt32(truncatingIfNeeded: low >> 30))
    }
}

/// The canonical form of a UUID.
public enum UUIDText {
    static let length = 36

    /// Whether a hyphen is at a position.
    static func isHyphen(_ at: Int) -> Bool { at == 8 || at == 13 || at == 18 || at == 23 }

    /// Returns the canonical form from 32 hexadecimal digits. Each message to Apple gets one, so it is made of bytes: appending characters
    /// costs ten times as much.
    public static func canonical(_ digits: borrowing RawSpan) -> String {
        var buffer = ByteBuffer()
        for position in 0..<digits.byteCount {
            if isHyphen(buffer.count) { buffer.append("-") }
            buffer.append(byte: digits.byte(at: position))
        }
        return String(decoding: buffer.copied(), as: UTF8.self)
    }
}
