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
    /// Whether something was written that cannot be read: a field or a list is longer than its limit, or a digest is no digest.
    var isUnreadable = false
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

    /// Writes the length of a field.
    @inline(__always)
    private mutating func length(_ value: Int) {
        if value > Limits.NodeProtocol.fieldBytes { isUnreadable = true }
        number(UInt64(value))
    }

    mutating func bytes(_ value: [UInt8]) {
        length(value.count)
        buffer.append(value)
    }

    mutating func text(_ value: String) {
        length(value.utf8.count)
        buffer.append(text: value)
    }

    /// Writes what is in `record`.
    @inline(__always)
    mutating func appendRecord() {
        length(record.count)
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
        if values.count > Limits.NodeProtocol.listItems { isUnreadable = true }
        count(values.count)
        for value in values { write(&self, value) }
    }
}
