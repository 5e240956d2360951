import Basics

/// Writes one record: version, fields, checksum.
///
/// Integers are varints of base 128, lowest group first; bytes and text carry their length before them.
struct RecordWriter: ~Copyable {
    private var buffer: ByteBuffer
    private let place: RecordPlace

    /// Begins a record in a buffer, whose content is dropped and whose storage is used again.
    init(_ buffer: consuming ByteBuffer, version: UInt8, place: RecordPlace) {
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

    /// A signed number, whose negative values are rare: ten bytes each.
    mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value)) }

    mutating func bytes(_ value: [UInt8]) {
        number(UInt64(value.count))
        buffer.append(value)
    }

    /// Ends the record and gives the buffer back.
    consuming func finish() -> ByteBuffer {
        let checksum = RecordWriter.checksum(of: buffer.bytes, at: place)
        for shift in [0, 8, 16, 24] as [UInt32] {
            buffer.append(byte: UInt8(truncatingIfNeeded: checksum >> shift))
        }
        return buffer
    }

    /// The checksum of a record's bytes under its key: half of a SipHash keyed by the place.
    static func checksum(of bytes: borrowing RawSpan, at place: RecordPlace) -> UInt32 {
        UInt32(truncatingIfNeeded: SipHash(key: (place.high, place.low)).hash(bytes))
    }
}
