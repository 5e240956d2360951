package import Basics
package import Delivery
package import Wire

extension Translation {
    /// Steps 7 and 8 of ccs-xmpp 3.4, as every way of sending takes them: the fields, the payload and the seal of the token.
    ///
    /// The ticket of the origin is the caller's to set where it is drawn only for what was not refused.
    @inline(__always)
    package mutating func submission(
        of payload: borrowing AppServerPayload, messageID: [UInt8], to: inout [UInt8], sender: SenderID,
        connection: ConnectionID, seal: TokenSeal, lenientLifetime: Bool, reservesGCMPrefix: Bool
    ) throws(Refusal) -> Submission {
        let message = try DownstreamMessage(payload, lenientLifetime: lenientLifetime)
        let body = try body(of: message, in: payload, reservesGCMPrefix: reservesGCMPrefix)
        to = payload.reader.string(message.to)
        guard let target = seal.name(of: to.raw) else { throw .invalidToken }
        return Submission(
            origin: Origin(connection: connection, ticket: 0), sender: sender, target: target,
            messageID: messageID, collapseKey: Self.collapseKey(of: message),
            lifetimeSeconds: message.lifetimeSeconds, priority: Self.priority(of: message),
            wantsReceipt: message.wantsReceipt, isDryRun: message.isDryRun,
            restrictedPackage: message.restrictedPackage, body: body)
    }
}
