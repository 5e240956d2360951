/// Hexadecimal encoding.
public enum Hex {
    private static let lower = Array("0123456789abcdef".utf8)
    private static let upper = Array("0123456789ABCDEF".utf8)

    /// Returns the value of one digit of either case, or `nil` for any other byte.
    public static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit &- 0x30
        case 0x61...0x66: digit &- 0x61 &+ 10
        case 0x41...0x46: digit &- 0x41 &+ 10
        default: nil
        }
    }

    /// Appends an integer with all its digits, lower case.
    public static func append(_ value: some FixedWidthInteger & UnsignedInteger, to buffer: inout ByteBuffer)
    {
        append(UInt64(truncatingIfNeeded: value), bits: type(of: value).bitWidth, lower, to: &buffer)
    }

    /// Appends 32 bits as eight digits, lower case; not generic, for the hot path.
    public static func append(_ value: UInt32, to buffer: inout ByteBuffer) {
        append(UInt64(value), bits: 32, lower, to: &buffer)
    }

    /// Appends an integer with all its digits, upper case.
    public static func appendUpper(
        _ value: some FixedWidthInteger & UnsignedInteger, to buffer: inout ByteBuffer
    ) {
        append(UInt64(truncatingIfNeeded: value), bits: type(of: value).bitWidth, upper, to: &buffer)
    }

    /// Appends 32 bits as eight digits, upper case; not generic, for the hot path.
    public static func appendUpper(_ value: UInt32, to buffer: inout ByteBuffer) {
        append(UInt64(value), bits: 32, upper, to: &buffer)
    }

    private static func append(_ value: UInt64, bits: Int, _ digits: [UInt8], to buffer: inout ByteBuffer) {
        var shift = bits &- 4
        while shift >= 0 {
            buffer.append(
                byte: digits[Int(truncatingIfNeeded: (value &>> UInt64(truncatingIfNeeded: shift)) & 15)])
            shift &-= 4
        }
    }

    /// Returns the lower-case encoding of `bytes`.
    public static func text(_ bytes: [UInt8]) -> String {
        var buffer = ByteBuffer()
        for byte in bytes { append(byte, to: &buffer) }
        return String(decoding: buffer.copied(), as: UTF8.self)
    }
}
