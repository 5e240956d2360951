public import Basics

/// The fields of an `application/x-www-form-urlencoded` body; the first of several fields with one name counts.
public struct FormBody: Sendable {
    private var fields: [(name: [UInt8], value: [UInt8])] = []

    /// Why a form is invalid.
    public enum Fault: Error, Sendable {
        /// `%` is not followed by two hexadecimal digits.
        case badEscape
        /// The form has more than `Limits.HTTP.formFields` fields.
        case tooManyFields
    }

    /// Parses a body; empty fields are skipped, and a field without `=` has an empty value.
    public init(_ body: borrowing RawSpan) throws(Fault) {
        var start = 0
        while start < body.byteCount {
            var end = start
            var equals: Int?
            while end < body.byteCount, body.byte(at: end) != UInt8(ascii: "&") {
                if equals == nil, body.byte(at: end) == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            if end > start {
                guard fields.count < Limits.HTTP.formFields else { throw .tooManyFields }
                let name = try Self.decoded(body.extracting(start..<(equals ?? end)))
                let value = try equals.map { at throws(Fault) in
                    try Self.decoded(body.extracting(at + 1..<end))
                }
                fields.append((name, value ?? []))
            }
            start = end + 1
        }
    }

    /// The value of the first field of that name, or `nil`.
    public subscript(_ name: StaticString) -> [UInt8]? {
        for field in fields where field.name.raw.equals(name) { return field.value }
        return nil
    }

    /// Returns the fields whose names start with a prefix, in order and without the prefix; the first of equal names counts.
    public func pairs(prefix: StaticString) -> [(key: [UInt8], value: [UInt8])] {
        let length = prefix.utf8CodeUnitCount
        var seen: Set<[UInt8]> = []
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        for field in fields where field.name.count > length {
            guard field.name.raw.extracting(0..<length).equals(prefix) else { continue }
            let key = Array(field.name[length...])
            if seen.insert(key).inserted { pairs.append((key, field.value)) }
        }
        return pairs
    }

    /// Decodes `%XX` and `+`.
    public static func decoded(_ text: borrowing RawSpan) throws(Fault) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.byteCount)
        var at = 0
        while at < text.byteCount {
            let byte = text.byte(at: at)
            if byte == UInt8(ascii: "%") {
                guard at + 2 < text.byteCount, let high = Hex.value(of: text.byte(at: at + 1)),
                    let low = Hex.value(of: text.byte(at: at + 2))
                else { throw .badEscape }
                decoded.append(high << 4 | low)
                at += 3
            } else {
                decoded.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
                at += 1
            }
        }
        return decoded
    }
}

/// Writes an `application/x-www-form-urlencoded` body.
public struct FormWriter: ~Copyable {
    /// The encoded body so far.
    public var bytes = ByteBuffer()
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Creates a form without fields.
    public init() {}

    /// Appends a field, percent-encoded.
    public mutating func add(_ name: StaticString, _ value: [UInt8]) {
        if !bytes.isEmpty { bytes.append("&") }
        bytes.append(name)
        bytes.append("=")
        for byte in value {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "*"):
                bytes.append(byte: byte)
            default:
                bytes.append("%")
                bytes.append(byte: Self.digits[Int(byte >> 4)])
                bytes.append(byte: Self.digits[Int(byte & 15)])
            }
        }
    }
}
