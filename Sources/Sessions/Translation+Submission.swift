package import Basics
package import Delivery
package import Wire

/// To what a message of an app server goes.
package enum Addressee: Sendable, Equatable {
    /// The registration that its target names.
    case registration
    /// The members of a device group.
    case group(GroupName)

    /// What the core is told.
    package func event(_ submission: consuming Submission) -> Event {
        switch self {
        case .registration: .submitted(submission)
        case .group(let group): .groupSubmitted(GroupSubmission(group: group, submission: submission))
        }
    }
}

extension Translation {
    /// Steps 7 and 8 of ccs-xmpp 3.4, as every way of sending takes them: the fields, the payload and the seal of the token.
    ///
    /// The ticket of the origin is the caller's to set where it is drawn only for what was not refused.
    @inline(__always)
    package mutating func submission(
        of payload: borrowing AppServerPayload, messageID: [UInt8], to: inout [UInt8], sender: SenderID,
        connection: ConnectionID, seal: TokenSeal, lenientLifetime: Bool, reservesGCMPrefix: Bool
    ) throws(Refusal) -> (Submission, Addressee) {
        let message = try DownstreamMessage(payload, lenientLifetime: lenientLifetime)
        let body = try body(of: message, in: payload, reservesGCMPrefix: reservesGCMPrefix)
        to = payload.reader.string(message.to)
        var addressee = Addressee.registration
        var target = seal.name(of: to.raw)
        if target == nil, let group = seal.group(of: to.raw) {
            addressee = .group(group)
            // Set for each member.
            target = RegistrationName(device: DeviceID(0), number: RegistrationNumber(0))
        }
        guard let target else { throw .invalidToken }
        let submission = Submission(
            origin: Origin(connection: connection, ticket: 0), sender: sender, target: target,
            messageID: messageID, collapseKey: Self.collapseKey(of: message),
            lifetimeSeconds: message.lifetimeSeconds, priority: Self.priority(of: message),
            wantsReceipt: message.wantsReceipt,
            delaysWhileIdle: Self.delaysWhileIdle(message),
            isDryRun: message.isDryRun, restrictedPackage: message.restrictedPackage, body: body)
        return (submission, addressee)
    }
}
