public import Basics

/// Base-128 varints of protobuf: 1 to 10 bytes, lowest bits first.
public enum Varint {
    /// Returns the encoded length of a number in bytes, 1 … 10.
    @inline(__always)
    public static func size(_ value: UInt64) -> Int {
        (70 &- (value | 1).leadingZeroBitCount) / 7
    }

    /// Appends a number in its shortest encoding.
    @inline(__always)
    public static func append(_ value: UInt64, to buffer: inout ByteBuffer) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(byte: UInt8(truncatingIfNeeded: rest))
    }

    /// Reads a number and advances `offset`.
    ///
    /// Longer encodings than necessary are accepted, as protobuf does; more than 64 bits are not.
    @inline(__always)
    public static func read(_ bytes: borrowing RawSpan, at offset: inout Int) throws(MCSError) -> UInt64 {
        guard offset < bytes.byteCount else { throw .truncated }
        let first = bytes.byte(at: offset)
        offset &+= 1
        guard first >= 0x80 else { return UInt64(first) }
        return try readMore(bytes, UInt64(first & 0x7F), at: &offset)
    }

    private static func readMore(
        _ bytes: borrowing RawSpan, _ low: UInt64, at offset: inout Int
    ) throws(MCSError) -> UInt64 {
        var value = low
        var shift: UInt64 = 7
        while shift < 70 {
            guard offset < bytes.byteCount else { throw .truncated }
            let byte = bytes.byte(at: offset)
            offset &+= 1
            guard shift < 63 || byte <= 1 else { throw .varintOverflow }
            value |= UInt64(byte & 0x7F) &<< shift
            guard byte >= 0x80 else { return value }
            shift &+= 7
        }
        throw .varintOverflow
    }
}
