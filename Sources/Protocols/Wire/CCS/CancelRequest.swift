public import Basics

/// An app server's request to cancel a message that waits, an extension of ccsd (ccs-xmpp 3.8).
public struct CancelRequest: Sendable, Equatable {
    /// `to`, whose token is not checked yet.
    public var to: [UInt8]
    /// `cancel_message_id`: the `message_id` of the message, or its persistent ID.
    public var messageID: [UInt8]

    /// Reads a request. Throws the refusal of the first field that is missing or invalid.
    public init(_ payload: borrowing AppServerPayload) throws(Refusal) {
        try payload.checkMessageID()
        try payload.checkNUL()
        guard let to = try payload.text(.to, limit: Limits.Stanza.bytes) else { throw .missingTarget }
        let limit = Limits.AppServer.messageIDBytes
        guard let id = try payload.text(.cancelMessageID, limit: limit), !id.isEmpty else {
            throw .conflict(
                field: PayloadField.cancelMessageID.name,
                reason: "expected the message_id of the message to cancel")
        }
        // A trial that cancels would be worse than none.
        guard try !payload.flag(.dryRun) else {
            throw .conflict(
                field: PayloadField.dryRun.name,
                reason: "a cancellation cannot be tried: leave it out to cancel the message")
        }
        (self.to, messageID) = (to, id)
    }
}
