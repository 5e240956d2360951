public import Basics

/// Why a payload gets a stanza error: no NACK can be built, since there is no message id to name (ccs-xmpp 3.5).
public enum PayloadError: Error, Sendable, Equatable {
    /// Not JSON.
    case notJSON(JSONError)
    /// JSON, but no object.
    case notObject
    /// `message_id` is absent, empty, no string or holds U+0000.
    case noMessageID

    /// The text of the stanza error.
    public var text: String {
        switch self {
        case .notJSON(let error):
            "InvalidJson: JSON_PARSING_ERROR : \(error.fault.rawValue) at position \(error.offset)"
        case .notObject: "InvalidJson: JSON_PARSING_ERROR : The message must be a JSON object"
        case .noMessageID: "InvalidJson: JSON_PARSING_ERROR : Missing Required Field: message_id"
        }
    }
}

/// The JSON of one `gcm` element from an app server, with its known fields found and nothing else looked at.
///
/// The steps of ccs-xmpp 3.4 are separate calls, since the connection's own checks lie between them: first the kind, then
/// `messageID`, then (duplicate, draining, window) `DownstreamMessage` or `Acknowledgement`.
public struct AppServerPayload: ~Copyable, ~Escapable {
    /// What `message_type` says.
    public enum Kind: Sendable, Equatable {
        /// Absent: a message to a device.
        case downstream
        /// The answer to an upstream message or receipt.
        case acknowledgement
    }

    /// The document.
    public let reader: JSONReader
    private let places: InlineArray<19, JSONSlice>
    /// A bit for each field that is there: most are not, and to look into `places` copies all of it.
    private let present: UInt32

    /// Reads a payload; of equal keys the last one counts, and null is the same as absent.
    @_lifetime(copy text)
    public init(_ text: RawSpan) throws(PayloadError) {
        let reader: JSONReader
        do throws(JSONError) { reader = try JSONReader(text) } catch { throw .notJSON(error) }
        guard reader.kind(reader.root) == .object else { throw .notObject }
        var places = InlineArray<19, JSONSlice>(repeating: JSONSlice.absent)
        var present: UInt32 = 0
        var cursor = reader.begin(reader.root)
        while let member = reader.nextMember(&cursor) {
            guard let field = Self.field(member.key, in: reader) else { continue }
            places[field.rawValue] = member.value
            let bit = UInt32(1) << UInt32(field.rawValue)
            present = reader.kind(member.value) == .null ? present & ~bit : present | bit
        }
        self.reader = reader
        self.places = places
        self.present = present
    }

    private static func field(_ key: JSONSlice, in reader: borrowing JSONReader) -> PayloadField? {
        if reader.isPlain(key) { return PayloadField(reader.inside(key)) }
        var decoded = ByteBuffer()
        reader.append(string: key, to: &decoded)
        return PayloadField(decoded.bytes)
    }

    /// The value of a field; nil if absent or null.
    @inline(__always)
    public subscript(field: PayloadField) -> JSONSlice? {
        guard present & UInt32(1) << UInt32(field.rawValue) != 0 else { return nil }
        return places.span[field.rawValue]
    }

    /// What `message_type` says; words other than `ack` and `nack` count as downstream, whose checks refuse them.
    public var kind: Kind {
        guard let type = self[.messageType], reader.kind(type) == .string else { return .downstream }
        return reader.string(type, equals: "ack") || reader.string(type, equals: "nack")
            ? .acknowledgement : .downstream
    }

    /// The message id of a downstream message; none that could be repeated in a NACK gets a stanza error.
    public func messageID() throws(PayloadError) -> [UInt8] {
        guard let value = self[.messageID], reader.kind(value) == .string, value.end - value.start > 2,
            reader.isPlain(value) || !reader.holdsNUL(value)
        else { throw .noMessageID }
        return reader.string(value)
    }

    /// Appends the content of a field that is a string; nothing where it is absent or none.
    public func append(_ field: PayloadField, to buffer: inout ByteBuffer) {
        guard let value = self[field], reader.kind(value) == .string else { return }
        reader.append(string: value, to: &buffer)
    }
}
