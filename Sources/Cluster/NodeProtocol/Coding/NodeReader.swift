import Basics
import Delivery
import Store

/// Reads values strictly: each has exactly one encoding, that of `NodeWriter`.
struct NodeReader: ~Escapable {
    let bytes: RawSpan
    private var at = 1
    /// The monotonic clock of this node, to which instants are relative.
    var now = Instant(nanoseconds: 0)
    /// How many events contain the event that is being read.
    var depth = 0

    /// Reads the version.
    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) throws(NodeProtocolFault) {
        self.bytes = bytes
        guard bytes.byteCount > 0 else { throw .truncated }
        let version = bytes.byte(at: 0)
        guard NodeProtocol.versions.contains(version) else { throw .version(version) }
    }

    var isAtEnd: Bool { at == bytes.byteCount }

    /// How many bytes are left.
    var left: Int { bytes.byteCount &- at }

    @_lifetime(self: copy self)
    mutating func byte() throws(NodeProtocolFault) -> UInt8 {
        guard at < bytes.byteCount else { throw .truncated }
        defer { at &+= 1 }
        return bytes.byte(at: at)
    }

    @_lifetime(self: copy self)
    mutating func flag(_ field: StaticString) throws(NodeProtocolFault) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .value(of: "\(field)")
        }
    }

    @_lifetime(self: copy self)
    mutating func number() throws(NodeProtocolFault) -> UInt64 {
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

    /// Reads a number that has fewer bits.
    @_lifetime(self: copy self)
    mutating func small<Small: FixedWidthInteger & UnsignedInteger>(
        _ field: StaticString
    ) throws(NodeProtocolFault) -> Small {
        guard let value = Small(exactly: try number()) else { throw .value(of: "\(field)") }
        return value
    }

    @_lifetime(self: copy self)
    mutating func signed() throws(NodeProtocolFault) -> Int64 {
        let folded = try number()
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    @_lifetime(self: copy self)
    mutating func integer() throws(NodeProtocolFault) -> Int { Int(try signed()) }

    /// Reads the count of a list whose elements take at least `least` bytes each.
    @_lifetime(self: copy self)
    mutating func count(
        _ field: StaticString, upTo limit: Int = Limits.NodeProtocol.listItems, least: Int = 1
    ) throws(NodeProtocolFault) -> Int {
        let value = try number()
        guard value <= UInt64(limit) else {
            throw .tooLong("\(field)", length: Int(clamping: value), limit: limit)
        }
        guard Int(value) <= left / least else { throw .truncated }
        return Int(value)
    }

    /// Reads a length and skips that many bytes. Returns their range.
    @_lifetime(self: copy self)
    mutating func sized(
        _ field: StaticString, upTo limit: Int = Limits.NodeProtocol.fieldBytes
    ) throws(NodeProtocolFault) -> Range<Int> {
        let length = try count(field, upTo: limit)
        defer { at &+= length }
        return at..<at &+ length
    }

    @_lifetime(self: copy self)
    mutating func byteArray(
        _ field: StaticString, upTo limit: Int = Limits.NodeProtocol.fieldBytes
    ) throws(NodeProtocolFault) -> [UInt8] {
        let range = try sized(field, upTo: limit)
        return [UInt8](copying: bytes.extracting(range))
    }

    @_lifetime(self: copy self)
    mutating func text(_ field: StaticString) throws(NodeProtocolFault) -> String {
        guard let text = String(validating: try byteArray(field), as: UTF8.self) else {
            throw .value(of: "\(field)")
        }
        return text
    }

    /// Reads a record of the store.
    @_lifetime(self: copy self)
    mutating func record<Value>(
        _ field: StaticString, _ read: (borrowing RawSpan) throws(RecordFault) -> Value
    ) throws(NodeProtocolFault) -> Value {
        let range = try sized(field)
        do throws(RecordFault) { return try read(bytes.extracting(range)) } catch { throw .record(error) }
    }
}
