import Basics
import Delivery

/// Writes values into one growing buffer.
///
/// Unsigned numbers are base-128 varints, lowest group first; signed ones are folded (0, -1, 1, -2 …) into unsigned ones before. Bytes and
/// texts are preceded by their length, lists by their count, optional values by a byte that is 0 or 1.
struct NodeWriter: ~Copyable {
    var buffer = ByteBuffer()
    /// A record of the store, before its length is known. Its storage is reused.
    var record = ByteBuffer()
    /// The monotonic clock of this node, to which instants are relative.
    var now = Instant(nanoseconds: 0)
    /// How many events contain the event that is being written.
    var depth = 0

    @inline(__always)
    mutating func byte(_ value: UInt8) { buffer.append(byte: value) }

    mutating func flag(_ value: Bool) { buffer.append(byte: value ? 1 : 0) }

    @inline(__always)
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(byte: UInt8(truncatingIfNeeded: rest))
    }

    mutating func number(_ value: UInt32) { number(UInt64(value)) }

    @inline(__always)
    mutating func signed(_ value: Int64) {
        number(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func signed(_ value: Int) { signed(Int64(value)) }

    /// Writes the count of a list.
    mutating func count(_ value: Int) { number(UInt64(value)) }

    mutating func bytes(_ value: [UInt8]) {
        number(UInt64(value.count))
        buffer.append(value)
    }

    mutating func text(_ value: String) {
        number(UInt64(value.utf8.count))
        buffer.append(text: value)
    }

    /// Writes what is in `record`.
    @inline(__always)
    mutating func appendRecord() {
        number(UInt64(record.count))
        Self.append(record, to: &buffer)
    }

    /// A function of its own, since the compiler takes the span of one buffer for a borrow of both.
    @inline(__always)
    private static func append(_ record: borrowing ByteBuffer, to buffer: inout ByteBuffer) {
        buffer.append(record.bytes)
    }

    mutating func optional<Value>(_ value: Value?, _ write: (inout NodeWriter, Value) -> Void) {
        flag(value != nil)
        if let value { write(&self, value) }
    }

    mutating func list<Value>(_ values: [Value], _ write: (inout NodeWriter, Value) -> Void) {
        count(values.count)
        for value in values { write(&self, value) }
    }
}
