import Basics

/// Writes one record: version, fields, checksum.
///
/// Integers are base-128 varints, lowest group first. Bytes and text are preceded by their length.
struct RecordWriter: ~Copyable {
    private var buffer: ByteBuffer
    private let place: RecordIdentity

    /// Starts a record in a buffer. The content of the buffer is dropped and its storage reused.
    init(_ buffer: consuming ByteBuffer, version: UInt8, place: RecordIdentity) {
        self.buffer = buffer
        self.place = place
        self.buffer.removeAll(keepingCapacity: true)
        self.buffer.append(byte: version)
    }

    mutating func byte(_ value: UInt8) { buffer.append(byte: value) }

    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(byte: UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a signed number. Negative values take ten bytes, and are rare.
    mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value)) }

    mutating func bytes(_ value: [UInt8]) {
        number(UInt64(value.count))
        buffer.append(value)
    }

    /// Ends the record and returns the buffer.
    consuming func finish() -> ByteBuffer {
        let checksum = RecordWriter.checksum(of: buffer.bytes, at: place)
        for shift in [0, 8, 16, 24] as [UInt32] {
            buffer.append(byte: UInt8(truncatingIfNeeded: checksum >> shift))
        }
        return buffer
    }

    /// Returns the checksum of a record: half of a SipHash whose key is the identity of the record.
    static func checksum(of bytes: borrowing RawSpan, at place: RecordIdentity) -> UInt32 {
        UInt32(truncatingIfNeeded: SipHash(key: (place.high, place.low)).hash(bytes))
    }
}
