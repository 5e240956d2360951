import Basics
import Delivery
import Store

/// Reads values strictly: each has exactly one encoding, that of `NodeWriter`.
struct NodeReader: NodeCoder, ~Escapable {
    private let bytes: RawSpan
    private var at = 1
    var now = Instant(nanoseconds: 0)
    var depth = 0

    /// Reads the version.
    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) throws(Fault) {
        self.bytes = bytes
        guard bytes.byteCount > 0 else { throw .truncated }
        let version = bytes.byte(at: 0)
        guard NodeProtocol.versions.contains(version) else { throw .version(version) }
    }

    var isAtEnd: Bool { at == bytes.byteCount }

    /// Reads a value. A fault names the field if its type does not.
    @inline(__always)
    mutating func get<Value: NodeValue>(_ field: StaticString = "value") throws(Fault) -> Value {
        try self(nil, field)
    }

    @inline(__always)
    mutating func byte(_ value: UInt8? = nil) throws(Fault) -> UInt8 {
        guard at < bytes.byteCount else { throw .truncated }
        defer { at &+= 1 }
        return bytes.byte(at: at)
    }

    mutating func varint(_ value: UInt64? = nil) throws(Fault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || (shift == 63 && next <= 1) else { throw .value(of: "number") }
            value |= UInt64(next & 0x7f) << shift
            // A trailing group without bits is an overlong form: each number has exactly one encoding.
            if next < 0x80 {
                if next == 0, shift > 0 { throw .value(of: "number") } else { return value }
            }
            shift &+= 7
        }
    }

    /// Reads the count of a list whose elements take at least `least` bytes each.
    mutating func count(_ field: StaticString, upTo limit: Int, least: Int = 1) throws(Fault) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else {
            throw .tooLong("\(field)", length: Int(clamping: value), limit: limit)
        }
        guard Int(value) <= (bytes.byteCount &- at) / least else { throw .truncated }
        return Int(value)
    }

    /// Reads a length and skips that many bytes. Returns their range.
    private mutating func sized(_ field: StaticString, upTo limit: Int) throws(Fault) -> Range<Int> {
        let length = try count(field, upTo: limit)
        defer { at &+= length }
        return at..<at &+ length
    }

    mutating func bytes(
        _ value: [UInt8]?, _ field: StaticString, upTo limit: Int
    ) throws(Fault) -> [UInt8] {
        let range = try sized(field, upTo: limit)
        return [UInt8](copying: bytes.extracting(range))
    }

    mutating func list<Value: NodeValue>(
        _ values: [Value]?, _ field: StaticString, upTo limit: Int
    ) throws(Fault) -> [Value] {
        let count = try count(field, upTo: limit, least: Value.leastBytes)
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try get()) }
        return values
    }

    mutating func record<Value>(
        _ value: Value?, _ field: StaticString, _ write: (Value, inout ByteBuffer) -> Void,
        _ read: (borrowing RawSpan) throws(RecordFault) -> Value
    ) throws(Fault) -> Value {
        let range = try sized(field, upTo: Limits.NodeProtocol.fieldBytes)
        do throws(RecordFault) { return try read(bytes.extracting(range)) } catch { throw .record(error) }
    }

    @inline(__always)
    mutating func cases<Value: NodeCases>(_ value: Value?) throws(Fault) -> Value {
        try .read(try get(), from: &self)
    }
}
