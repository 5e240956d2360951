public import Basics

/// Why a payload is answered by a stanza error: without a message ID no NACK can be built (ccs-xmpp 3.5).
public enum PayloadError: Error, Sendable, Equatable {
    /// Not JSON.
    case notJSON(JSONError)
    /// Valid JSON, but not an object.
    case notObject
    /// `message_id` is absent, empty, not a string, or contains U+0000.
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

/// The JSON of one `gcm` element from an app server; only the known fields are located, the others are ignored.
///
/// The steps of ccs-xmpp 3.4 are separate calls, since the connection's own checks come between them: `kind`, then
/// `messageID`, then (after duplicate, draining and window) `DownstreamMessage` or `Acknowledgement`.
public struct AppServerPayload: ~Copyable, ~Escapable {
    /// The type of a payload.
    public enum Kind: Sendable, Equatable {
        /// A message to a device: `message_type` is absent.
        case downstream
        /// The answer to an upstream message or receipt: `ack` or `nack`.
        case acknowledgement
        /// A request to cancel a message, an extension of ccsd: `cancel`.
        case cancellation
    }

    /// The reader of the document.
    public let reader: JSONReader
    private let places: InlineArray<22, Place>
    /// One bit for each field that is present.
    private let present: UInt32

    /// The place of a field. Not copyable, since a look into an array of copyable values copies all of it.
    private struct Place: ~Copyable {
        var slice = JSONSlice.absent
    }

    /// Parses a payload. The last of several equal keys counts, and null means absent.
    @_lifetime(copy text)
    public init(_ text: RawSpan) throws(PayloadError) {
        let reader: JSONReader
        do throws(JSONError) { reader = try JSONReader(text) } catch { throw .notJSON(error) }
        guard reader.kind(reader.root) == .object else { throw .notObject }
        var places = InlineArray<22, Place> { _ in Place() }
        var present: UInt32 = 0
        var cursor = reader.begin(reader.root)
        while let member = reader.nextMember(&cursor) {
            guard let field = Self.field(member.key, in: reader) else { continue }
            places[field.rawValue].slice = member.value
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

    /// The value of a field. Returns `nil` if it is absent or null.
    @inline(__always)
    public subscript(field: PayloadField) -> JSONSlice? {
        guard present & UInt32(1) << UInt32(field.rawValue) != 0 else { return nil }
        return places[field.rawValue].slice
    }

    /// The kind by `message_type`; values other than `ack`, `nack` and `cancel` count as downstream, where `checkCommonFields` refuses them.
    public var kind: Kind {
        guard let type = self[.messageType], reader.kind(type) == .string else { return .downstream }
        if reader.string(type, equals: "ack") || reader.string(type, equals: "nack") {
            return .acknowledgement
        }
        return reader.string(type, equals: "cancel") ? .cancellation : .downstream
    }

    /// Returns the message ID. Throws `noMessageID` if there is none that a NACK could repeat.
    public func messageID() throws(PayloadError) -> [UInt8] {
        guard let value = self[.messageID], reader.kind(value) == .string, value.end - value.start > 2,
            reader.isPlain(value) || !reader.holdsNUL(value)
        else { throw .noMessageID }
        return reader.string(value)
    }

    /// Appends the content of a string field; appends nothing if the field is absent or not a string.
    public func append(_ field: PayloadField, to buffer: inout ByteBuffer) {
        guard let value = self[field], reader.kind(value) == .string else { return }
        reader.append(string: value, to: &buffer)
    }
}
