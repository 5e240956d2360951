import Basics

/// Reads the fields of one protobuf message in place: no copy, no recursion, no allocation.
///
/// After each `next` call exactly one of the value methods, such as `varint`, `bytes` or `skip`.
public struct ProtobufReader: ~Escapable {
    /// The number and wire type of a field.
    public struct Field: Equatable, Sendable {
        /// 1 … 2^29-1.
        public var number: Int
        /// 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes.
        public var wireType: UInt8
    }

    private let message: RawSpan
    private var offset = 0

    /// The offset of the next field, or of the value of the current one.
    public var position: Int { offset }

    /// Creates a reader of a complete message.
    @_lifetime(copy message)
    public init(_ message: RawSpan) { self.message = message }

    /// Returns the next field, or `nil` at the end.
    @_lifetime(self: copy self)
    public mutating func next() throws(MCSError) -> Field? {
        guard offset < message.byteCount else { return nil }
        let key = try Varint.read(message, at: &offset)
        let wireType = UInt8(truncatingIfNeeded: key & 7)
        let number = key >> 3
        guard number > 0, number < 1 << 29 else { throw .invalidFieldNumber }
        guard wireType < 3 || wireType == 5 else { throw .unsupportedWireType(wireType) }
        return Field(number: Int(number), wireType: wireType)
    }

    /// Reads a varint field.
    @_lifetime(self: copy self)
    public mutating func varint(_ field: Field) throws(MCSError) -> UInt64 {
        guard field.wireType == 0 else { throw .wrongWireType(field: field.number) }
        return try Varint.read(message, at: &offset)
    }

    /// Reads an `int32` field; higher bits are dropped, as protobuf does.
    @_lifetime(self: copy self)
    public mutating func int32(_ field: Field) throws(MCSError) -> Int32 {
        Int32(truncatingIfNeeded: try varint(field))
    }

    /// Reads an `int64` field.
    @_lifetime(self: copy self)
    public mutating func int64(_ field: Field) throws(MCSError) -> Int64 {
        Int64(bitPattern: try varint(field))
    }

    /// Reads a `fixed64` field.
    @_lifetime(self: copy self)
    public mutating func fixed64(_ field: Field) throws(MCSError) -> UInt64 {
        guard field.wireType == 1 else { throw .wrongWireType(field: field.number) }
        guard message.byteCount &- offset >= 8 else { throw .truncated }
        defer { offset &+= 8 }
        return message.word(at: offset)
    }

    /// Reads a `bool` field.
    @_lifetime(self: copy self)
    public mutating func bool(_ field: Field) throws(MCSError) -> Bool {
        try varint(field) != 0
    }

    /// Reads a string, bytes or message field in place.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func bytes(_ field: Field) throws(MCSError) -> RawSpan {
        message.extracting(try range(field))
    }

    /// Reads a string, bytes or message field as a range of the message.
    @_lifetime(self: copy self)
    public mutating func range(_ field: Field) throws(MCSError) -> Range<Int> {
        guard field.wireType == 2 else { throw .wrongWireType(field: field.number) }
        let length = try Varint.read(message, at: &offset)
        guard length <= UInt64(message.byteCount &- offset) else { throw .truncated }
        let start = offset
        offset &+= Int(length)
        return start..<offset
    }

    /// Reads a copy of a string or bytes field.
    @_lifetime(self: copy self)
    public mutating func array(_ field: Field) throws(MCSError) -> [UInt8] {
        [UInt8](copying: try bytes(field))
    }

    /// Skips an unknown field.
    @_lifetime(self: copy self)
    public mutating func skip(_ field: Field) throws(MCSError) {
        switch field.wireType {
        case 0: _ = try Varint.read(message, at: &offset)
        case 2: _ = try bytes(field)
        default:
            let width = field.wireType == 1 ? 8 : 4
            guard message.byteCount &- offset >= width else { throw .truncated }
            offset &+= width
        }
    }
}
