import Basics
import Wire

/// Writes the JSON inside stanzas.
enum JSONText {
    /// Appends bytes as a JSON string that needs no XML escaping.
    static func append(_ bytes: [UInt8], to buffer: inout ByteBuffer) {
        JSONWriter.append(string: bytes.raw, in: .element, to: &buffer)
    }
}

extension AppServerEvent {
    /// Parses the payload of a `gcm` element from the server.
    public init(payload: RawSpan) { self = Self.event(payload) }

    private static func event(_ payload: RawSpan) -> AppServerEvent {
        guard let reader = try? JSONReader(payload), reader.kind(reader.root) == .object else {
            return .unexpected("a payload that is not a JSON object")
        }
        var type = JSONSlice?.none
        var message = ReceivedUpstream()
        var canonical: [UInt8]?
        var error = ""
        var description = ""
        var control = ""
        var cursor = reader.begin(reader.root)
        while let member = reader.nextMember(&cursor) {
            let key = reader.inside(member.key)
            if key.equals("message_id") {
                message.messageID = text(member.value, reader)
            } else if key.equals("message_type") {
                type = member.value
            } else if key.equals("from") {
                message.from = text(member.value, reader)
            } else if key.equals("data") {
                message.data = [UInt8](copying: reader.raw(member.value))
            } else if key.equals("category") {
                message.category = text(member.value, reader)
            } else if key.equals("time_to_live") {
                message.lifetimeSeconds = reader.integer(member.value)
            } else if key.equals("registration_id") {
                canonical = text(member.value, reader)
            } else if key.equals("error") {
                error = String(decoding: text(member.value, reader), as: UTF8.self)
            } else if key.equals("error_description") {
                description = String(decoding: text(member.value, reader), as: UTF8.self)
            } else if key.equals("control_type") {
                control = String(decoding: text(member.value, reader), as: UTF8.self)
            }
        }
        guard let type else { return .upstream(message) }
        if reader.string(type, equals: "ack") {
            return .acknowledged(messageID: message.messageID, canonical: canonical)
        }
        if reader.string(type, equals: "nack") {
            return .refused(messageID: message.messageID, error: error, description: description)
        }
        if reader.string(type, equals: "receipt") { return .receipt(message) }
        if reader.string(type, equals: "control"), control == "CONNECTION_DRAINING" { return .draining }
        return .unexpected("a payload of another message_type")
    }

    private static func text(_ slice: JSONSlice, _ reader: borrowing JSONReader) -> [UInt8] {
        reader.kind(slice) == .string ? reader.string(slice) : []
    }
}
