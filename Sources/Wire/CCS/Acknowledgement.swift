package import Basics

/// What an app server answers to an upstream message or a receipt (ccs-xmpp 4.2).
package struct Acknowledgement: Sendable, Equatable {
    /// Whether it says `ack`; else `nack`: settled as well, no redelivery.
    package var isPositive: Bool
    /// `to`, or the `from` that one client writes in its place; a string.
    package var to: JSONSlice
    /// `message_id`, a string.
    package var messageID: JSONSlice

    /// Checks that it holds what it must.
    package init(_ payload: borrowing AppServerPayload) throws(Refusal) {
        let reader = payload.reader
        guard let id = payload[.messageID], reader.kind(id) == .string else {
            throw .badAck(field: PayloadField.messageID.name)
        }
        guard let to = payload[.to] ?? payload[.from], reader.kind(to) == .string else {
            throw .badAck(field: PayloadField.to.name)
        }
        self.to = to
        messageID = id
        isPositive = payload[.messageType].map { reader.string($0, equals: "ack") } ?? false
    }
}
