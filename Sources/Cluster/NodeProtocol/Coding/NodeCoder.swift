import Basics
import Delivery
import Store

typealias Fault = NodeProtocolFault
typealias Coder = NodeCoder & ~Copyable & ~Escapable

/// What codes values in the order of the format: a `NodeWriter` writes the values that it gets, and a `NodeReader` gets none and returns
/// those that it reads. Each value is described once, for both.
protocol NodeCoder: ~Copyable, ~Escapable {
    /// The monotonic clock of this node, to which instants are relative.
    var now: Instant { get }
    /// How many events contain what is coded now.
    var depth: Int { get set }

    mutating func byte(_ value: UInt8?) throws(Fault) -> UInt8
    /// An unsigned number as a base-128 varint, lowest group first.
    mutating func varint(_ value: UInt64?) throws(Fault) -> UInt64
    /// Bytes after their length.
    mutating func bytes(_ value: [UInt8]?, _ field: StaticString, upTo limit: Int) throws(Fault) -> [UInt8]
    /// Values after their count.
    mutating func list<Value: NodeValue>(
        _ values: [Value]?, _ field: StaticString, upTo limit: Int
    ) throws(Fault) -> [Value]
    /// A record of the store after its length.
    mutating func record<Value>(
        _ value: Value?, _ field: StaticString, _ write: (Value, inout ByteBuffer) -> Void,
        _ read: (borrowing RawSpan) throws(RecordFault) -> Value
    ) throws(Fault) -> Value
    /// The number of a case, and its values.
    mutating func cases<Value: NodeCases>(_ value: Value?) throws(Fault) -> Value
}

extension NodeCoder where Self: ~Copyable, Self: ~Escapable {
    /// Codes a value. A fault names the field if its type does not.
    @inline(__always)
    mutating func callAsFunction<Value: NodeValue>(
        _ value: Value?, _ field: StaticString = "value"
    ) throws(Fault) -> Value {
        try Value.code(value, field, &self)
    }

    /// Codes a value that may be absent, after a byte that is 0 or 1.
    @inline(__always)
    mutating func optional<Value: NodeValue>(
        _ value: Value?, _ field: StaticString
    ) throws(Fault) -> Value? {
        try self(value != nil, field) ? try self(value, field) : nil
    }

    mutating func bytes(_ value: [UInt8]?, _ field: StaticString) throws(Fault) -> [UInt8] {
        try bytes(value, field, upTo: Limits.NodeProtocol.fieldBytes)
    }
}

/// A value that nodes exchange.
protocol NodeValue {
    /// The fewest bytes that it takes.
    static var leastBytes: Int { get }
    /// Passes the fields of a value to a coder in the order of the format, and returns the value that they make. The value is `nil` for a
    /// coder that reads.
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self
    /// Writes the value. What is on the way of each message does so itself, since a writer that codes makes a copy of each value.
    func write(to w: inout NodeWriter) throws(Fault)
    static func writeList(_ values: [Self], to w: inout NodeWriter) throws(Fault)
    /// Codes a list of such values.
    static func codeList(
        _ values: [Self]?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> [Self]
}

extension NodeValue {
    static var leastBytes: Int { 1 }

    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) { _ = try Self.code(self, "value", &w) }

    static func writeList(_ values: [Self], to w: inout NodeWriter) throws(Fault) {
        try w.length(values.count, "value", upTo: Limits.NodeProtocol.listItems)
        for value in values { try value.write(to: &w) }
    }

    static func codeList(
        _ values: [Self]?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> [Self] {
        try coder.list(values, field, upTo: Limits.NodeProtocol.listItems)
    }
}

/// A value that is its fields. A fault names them, and not the value.
protocol NodeFields: NodeValue {
    /// See `NodeValue.code`.
    static func fields(
        _ v: Self?, _ c: inout some Coder
    ) throws(Fault) -> Self
}

extension NodeFields {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        try fields(value, &coder)
    }
}

extension Optional: NodeValue where Wrapped: NodeValue {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        try coder.optional(value ?? nil, field)
    }

    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) {
        w.buffer.append(byte: self == nil ? 0 : 1)
        if let self { try self.write(to: &w) }
    }
}

extension Array: NodeValue where Element: NodeValue {
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        try Element.codeList(value, field, &coder)
    }

    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) { try Element.writeList(self, to: &w) }
}

extension UInt8: NodeValue {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        try coder.byte(value)
    }

    static func codeList(
        _ values: [Self]?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> [Self] {
        try coder.bytes(values, field)
    }

    @inline(__always)
    static func writeList(_ values: [Self], to w: inout NodeWriter) throws(Fault) {
        try w.append(values, "value", upTo: Limits.NodeProtocol.fieldBytes)
    }
}

extension Bool: NodeValue {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        switch try coder.byte(value.map { $0 ? 1 : 0 }) {
        case 0: false
        case 1: true
        default: throw .value(of: "\(field)")
        }
    }

    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) { w.buffer.append(byte: self ? 1 : 0) }
}

/// A number whose encoding is that of a `UInt64`.
protocol NodeNumber: NodeValue {
    /// Returns `nil` for a number that it cannot have.
    init?(varint: UInt64)
    var varint: UInt64 { get }
}

extension NodeNumber {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        guard let number = Self(varint: try coder.varint(value?.varint)) else {
            throw .value(of: "\(field)")
        }
        return number
    }

    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) { w.number(varint) }
}

extension NodeNumber where Self: UnsignedInteger & FixedWidthInteger {
    @inline(__always)
    init?(varint: UInt64) { self.init(exactly: varint) }
    @inline(__always)
    var varint: UInt64 { UInt64(self) }
}

extension UInt64: NodeNumber {}
extension UInt32: NodeNumber {}
extension UInt16: NodeNumber {}

extension NodeNumber where Self: SignedInteger & FixedWidthInteger {
    @inline(__always)
    init?(varint: UInt64) {
        self.init(exactly: Int64(bitPattern: varint >> 1) ^ -Int64(bitPattern: varint & 1))
    }
    @inline(__always)
    var varint: UInt64 {
        let value = Int64(self)
        return UInt64(bitPattern: value << 1 ^ value >> 63)
    }
}

extension Int64: NodeNumber {}
extension Int: NodeNumber {}

extension String: NodeValue {
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        let bytes = try coder.bytes(value.map { Array($0.utf8) }, field)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .value(of: "\(field)") }
        return text
    }
}
