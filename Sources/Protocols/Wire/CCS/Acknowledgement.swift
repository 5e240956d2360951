public import Basics

/// An app server's answer to an upstream message or a receipt (ccs-xmpp 4.2).
public struct Acknowledgement: Sendable, Equatable {
    /// Whether `message_type` is `ack`; a `nack` also acknowledges: the message is not redelivered.
    public var isPositive: Bool
    /// `to`, or the `from` that one client writes in its place; a string.
    public var to: JSONSlice
    /// `message_id`, a string.
    public var messageID: JSONSlice

    /// Reads an acknowledgement. Throws a `BAD_ACK` refusal if a required field is missing or not a string.
    public init(_ payload: borrowing AppServerPayload) throws(Refusal) {
        messageID = try Self.string(payload[.messageID], .messageID, payload)
        to = try Self.string(payload[.to] ?? payload[.from], .to, payload)
        isPositive = payload[.messageType].map { payload.reader.string($0, equals: "ack") } ?? false
    }

    /// The refusal for a message that is not waiting for an ack on this connection.
    public func unknown(in payload: borrowing AppServerPayload) -> Refusal {
        .badAck(.unknown(messageID: payload.shown(messageID)))
    }

    private static func string(
        _ value: JSONSlice?, _ field: PayloadField, _ payload: borrowing AppServerPayload
    ) throws(Refusal) -> JSONSlice {
        guard let value else { throw .badAck(.missing(field: field.name)) }
        guard payload.reader.kind(value) == .string else {
            throw .badAck(.notAString(field: field.name, found: payload.shown(value)))
        }
        return value
    }
}
