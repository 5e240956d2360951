import Basics
import Delivery
import Store

/// Writes values into one growing buffer.
///
/// Unsigned numbers are base-128 varints, lowest group first; signed ones are folded (0, -1, 1, -2 …) into unsigned ones before. Bytes and
/// texts are preceded by their length, lists by their count, optional values by a byte that is 0 or 1. What no node could read is not
/// written: it throws the fault of the reader.
struct NodeWriter: NodeCoder, ~Copyable {
    var buffer = ByteBuffer()
    /// A record of the store, before its length is known. Its storage is reused.
    var record = ByteBuffer()
    var now = Instant(nanoseconds: 0)
    var depth = 0

    /// Writes what the function writes. Returns `false`, and leaves the buffer as it was, if no node could read that, or if the buffer would
    /// exceed the limit.
    @inline(__always)
    mutating func append(upTo limit: Int, _ content: (inout NodeWriter) throws(Fault) -> Void) -> Bool {
        let start = buffer.count
        do throws(Fault) {
            try content(&self)
            if buffer.count <= limit { return true }
        } catch {}
        buffer.truncate(to: start)
        return false
    }

    // Writes values one after another, the number of a case before its values. One function with any number of values would take ten
    // times as long.

    @inline(__always)
    mutating func put(_ first: some NodeValue) throws(Fault) {
        try first.write(to: &self)
    }

    @inline(__always)
    mutating func put(_ first: some NodeValue, _ second: some NodeValue) throws(Fault) {
        try first.write(to: &self)
        try second.write(to: &self)
    }

    @inline(__always)
    mutating func put(_ first: some NodeValue, _ second: some NodeValue, _ third: some NodeValue)
        throws(Fault)
    {
        try first.write(to: &self)
        try second.write(to: &self)
        try third.write(to: &self)
    }

    @inline(__always)
    mutating func put(
        _ first: some NodeValue, _ second: some NodeValue, _ third: some NodeValue, _ fourth: some NodeValue
    ) throws(Fault) {
        try first.write(to: &self)
        try second.write(to: &self)
        try third.write(to: &self)
        try fourth.write(to: &self)
    }

    @inline(__always)
    mutating func put(
        _ first: some NodeValue, _ second: some NodeValue, _ third: some NodeValue, _ fourth: some NodeValue,
        _ fifth: some NodeValue
    ) throws(Fault) {
        try first.write(to: &self)
        try second.write(to: &self)
        try third.write(to: &self)
        try fourth.write(to: &self)
        try fifth.write(to: &self)
    }

    @inline(__always)
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(byte: UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(byte: UInt8(truncatingIfNeeded: rest))
    }

    /// Writes the length of a field or the count of a list.
    @inline(__always)
    mutating func length(_ value: Int, _ field: StaticString, upTo limit: Int) throws(Fault) {
        guard value <= limit else { throw .tooLong("\(field)", length: value, limit: limit) }
        number(UInt64(value))
    }

    /// Writes what is in `record`.
    @inline(__always)
    mutating func appendRecord(_ field: StaticString) throws(Fault) {
        try length(record.count, field, upTo: Limits.NodeProtocol.fieldBytes)
        Self.append(record, to: &buffer)
    }

    /// A function of its own, since the compiler takes the span of one buffer for a borrow of both.
    @inline(__always)
    private static func append(_ record: borrowing ByteBuffer, to buffer: inout ByteBuffer) {
        buffer.append(record.bytes)
    }

    @inline(__always)
    private func given<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("a writer got no value") }
        return value
    }

    @inline(__always)
    mutating func byte(_ value: UInt8?) throws(Fault) -> UInt8 {
        let value = given(value)
        buffer.append(byte: value)
        return value
    }

    @inline(__always)
    mutating func varint(_ value: UInt64?) throws(Fault) -> UInt64 {
        let value = given(value)
        number(value)
        return value
    }

    @inline(__always)
    mutating func append(_ value: [UInt8], _ field: StaticString, upTo limit: Int) throws(Fault) {
        try length(value.count, field, upTo: limit)
        buffer.append(value)
    }

    mutating func bytes(
        _ value: [UInt8]?, _ field: StaticString, upTo limit: Int
    ) throws(Fault) -> [UInt8] {
        let value = given(value)
        try append(value, field, upTo: limit)
        return value
    }

    mutating func list<Value: NodeValue>(
        _ values: [Value]?, _ field: StaticString, upTo limit: Int
    ) throws(Fault) -> [Value] {
        let values = given(values)
        try length(values.count, field, upTo: limit)
        for value in values { try value.write(to: &self) }
        return values
    }

    @inline(__always)
    mutating func record<Value>(
        _ value: Value?, _ field: StaticString, _ write: (Value, inout ByteBuffer) -> Void,
        _ read: (borrowing RawSpan) throws(RecordFault) -> Value
    ) throws(Fault) -> Value {
        let value = given(value)
        write(value, &record)
        try appendRecord(field)
        return value
    }

    @inline(__always)
    mutating func cases<Value: NodeCases>(_ value: Value?) throws(Fault) -> Value {
        let value = given(value)
        try value.write(to: &self)
        return value
    }
}
