import Basics

/// Reads one record strictly: every byte must be as `RecordWriter` would have written it.
struct RecordReader: ~Escapable {
    private let bytes: RawSpan
    private var at = 1
    private let end: Int
    /// The version of the record.
    let version: UInt8

    /// Checks the version, which may also be `other`, and the checksum.
    @_lifetime(copy bytes)
    init(
        _ bytes: RawSpan, version: UInt8, or other: UInt8? = nil, place: RecordIdentity
    ) throws(RecordFault) {
        end = bytes.byteCount - 4
        self.bytes = bytes
        guard end >= 1 else { throw .length }
        var stored: UInt32 = 0
        for offset in 0..<4 { stored |= UInt32(bytes.byte(at: end + offset)) << UInt32(8 * offset) }
        guard stored == RecordWriter.checksum(of: bytes.extracting(0..<end), at: place) else {
            throw .checksum
        }
        self.version = bytes.byte(at: 0)
        guard self.version == version || self.version == other else { throw .version }
    }

    @_lifetime(self: copy self)
    mutating func byte() throws(RecordFault) -> UInt8 {
        guard at < end else { throw .length }
        defer { at += 1 }
        return bytes.byte(at: at)
    }

    @_lifetime(self: copy self)
    mutating func number() throws(RecordFault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || (shift == 63 && next <= 1) else { throw .value }
            value |= UInt64(next & 0x7f) << shift
            // A trailing group without bits is an overlong form: each number has exactly one encoding.
            if next < 0x80 { if next == 0, shift > 0 { throw .value } else { return value } }
            shift += 7
        }
    }

    @_lifetime(self: copy self)
    mutating func signed() throws(RecordFault) -> Int64 { Int64(bitPattern: try number()) }

    /// Reads a count or a size.
    @_lifetime(self: copy self)
    mutating func count() throws(RecordFault) -> Int {
        guard let value = Int(exactly: try number()) else { throw .value }
        return value
    }

    @_lifetime(self: copy self)
    mutating func byteArray() throws(RecordFault) -> [UInt8] {
        let length = try count()
        guard length <= end - at else { throw .length }
        defer { at += length }
        return [UInt8](copying: bytes.extracting(at..<at + length))
    }

    @_lifetime(self: copy self)
    mutating func digest() throws(RecordFault) -> [UInt8] {
        let bytes = try byteArray()
        guard bytes.count == 32 else { throw .value }
        return bytes
    }

    @_lifetime(self: copy self)
    mutating func text() throws(RecordFault) -> String {
        guard let text = String(validating: try byteArray(), as: UTF8.self) else { throw .value }
        return text
    }

    /// Whether the whole record was read.
    var isAtEnd: Bool { at >= end }

    /// Throws unless the whole record was read.
    func finish() throws(RecordFault) {
        guard at == end else { throw .length }
    }
}
