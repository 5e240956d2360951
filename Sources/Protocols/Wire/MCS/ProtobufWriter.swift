public import Basics

extension ByteBuffer {
    /// Appends a protobuf integer or enum field; negative numbers take ten bytes.
    public mutating func appendField(_ number: Int, varint value: some FixedWidthInteger) {
        appendField(number, varint: Int64(truncatingIfNeeded: value))
    }

    /// Appends a protobuf `int64` field; not generic, for the hot path.
    @inline(__always)
    public mutating func appendField(_ number: Int, varint value: Int64) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3, to: &self)
        Varint.append(UInt64(bitPattern: value), to: &self)
    }

    /// Appends a protobuf `int32` field; not generic, for the hot path.
    @inline(__always)
    public mutating func appendField(_ number: Int, varint value: Int32) {
        appendField(number, varint: Int64(value))
    }

    /// Appends a protobuf `bool` field.
    @inline(__always)
    public mutating func appendField(_ number: Int, bool value: Bool) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3, to: &self)
        append(byte: value ? 1 : 0)
    }

    /// Appends a protobuf string or bytes field.
    @inline(__always)
    public mutating func appendField(_ number: Int, bytes: borrowing RawSpan) {
        appendFieldHead(number, length: bytes.byteCount)
        append(bytes)
    }

    /// Appends a protobuf string or bytes field.
    @inline(__always)
    public mutating func appendField(_ number: Int, bytes: [UInt8]) {
        appendFieldHead(number, length: bytes.count)
        append(bytes)
    }

    /// Appends a protobuf string field from a literal.
    @inline(__always)
    public mutating func appendField(_ number: Int, text: StaticString) {
        appendFieldHead(number, length: text.utf8CodeUnitCount)
        append(text)
    }

    /// Appends the tag and length of a length-delimited protobuf field; the caller appends the content.
    @inline(__always)
    public mutating func appendFieldHead(_ number: Int, length: Int) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3 | 2, to: &self)
        Varint.append(UInt64(truncatingIfNeeded: length), to: &self)
    }

    /// Appends a protobuf string, bytes or message field whose content `write` appends.
    public mutating func appendField(_ number: Int, _ write: (inout ByteBuffer) -> Void) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3 | 2, to: &self)
        appendSized(expecting: 1, write)
    }

    /// Appends an MCS frame whose message `write` appends.
    @inline(__always)
    public mutating func appendFrame(_ tag: MCS.Tag, _ write: (inout ByteBuffer) -> Void) {
        append(byte: tag.rawValue)
        appendSized(expecting: 2, write)
    }

    /// Appends what `write` appends, preceded by its length; a correctly expected width of the length saves a move.
    @inline(__always)
    private mutating func appendSized(expecting width: Int, _ write: (inout ByteBuffer) -> Void) {
        let start = count
        for _ in 0..<width { append(byte: 0) }
        write(&self)
        var length = UInt64(truncatingIfNeeded: count &- start &- width)
        let needed = Varint.size(length)
        if needed != width { resizeGap(at: start, from: width, to: needed) }
        for at in start..<start &+ needed {
            set(UInt8(truncatingIfNeeded: length & 0x7F) | (at &+ 1 < start &+ needed ? 0x80 : 0), at: at)
            length >>= 7
        }
    }
}
