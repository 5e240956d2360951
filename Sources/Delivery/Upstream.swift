package import Basics

/// What a device sent to an app server, as its session read it.
package struct UpstreamSubmission: Sendable {
    /// The device's connection; `ticket` names the frame, and returns when the message is safe or refused.
    package var origin: Origin
    /// The device.
    package var device: DeviceID
    /// The sender ID it is addressed to, or that of the group.
    package var sender: SenderID
    /// The group that it is addressed to; nil: app servers.
    package var group: GroupName?
    /// Whether it was addressed to the domain `fcm.googleapis.com` instead of `gcm.googleapis.com` (ccs-xmpp 4.1).
    package var isFCMDomain: Bool
    /// The app that sends it.
    package var category: [UInt8]
    /// The app's id for it, unique within the app.
    package var messageID: [UInt8]
    /// The device's id for it, by which repeats are known; empty where the device keeps none.
    package var persistentID: [UInt8]
    /// Seconds it has left, 0 … `Limits.upstreamLifetimeSeconds`; 0 is now or never.
    package var lifetimeSeconds: Int
    /// The pairs, encoded as `Body`.
    package var body: Body

    /// A submission; all parts are the caller's.
    package init(
        origin: Origin, device: DeviceID, sender: SenderID, isFCMDomain: Bool, category: [UInt8],
        messageID: [UInt8], persistentID: [UInt8], lifetimeSeconds: Int, body: Body
    ) {
        self.origin = origin
        self.device = device
        self.sender = sender
        self.isFCMDomain = isFCMDomain
        self.category = category
        self.messageID = messageID
        self.persistentID = persistentID
        self.lifetimeSeconds = lifetimeSeconds
        self.body = body
    }
}

/// What waits in a sender's mailbox until an app server acknowledges it.
package struct StoredUpstream: Sendable, Equatable {
    /// A message of a device, or the receipt of a downstream message.
    package enum Kind: Sendable, Equatable {
        /// Sent by an app.
        case message
        /// `MESSAGE_SENT_TO_DEVICE` at that time (milliseconds since 1970), for `messageID`.
        case receipt(sentAt: UnixMilliseconds)
    }

    /// The account it is for.
    package var sender: SenderID
    /// Place in the sender's mailbox.
    package var sequence: Sequence
    /// Message or receipt.
    package var kind: Kind
    /// The registration it came from; its token is the `from` of the stanza.
    package var from: RegistrationName
    /// See `UpstreamSubmission.isFCMDomain`.
    package var isFCMDomain: Bool
    /// The app.
    package var category: [UInt8]
    /// The app's id; for a receipt the id of the original message.
    package var messageID: [UInt8]
    /// The device's id for it; empty: repeats are not looked for.
    package var persistentID: [UInt8]
    /// When it ends unheard, milliseconds since 1970.
    package var expiresAt: UnixMilliseconds
    /// The lifetime the device asked for, seconds.
    package var lifetimeSeconds: Int
    /// The pairs; empty for a receipt.
    package var body: Body
    /// Of a receipt: the connection that submitted the original, preferred while it lives (ccs-xmpp 3.6). Never stored.
    package var origin: ConnectionID?

    /// A message or receipt; all parts are the caller's.
    package init(
        sender: SenderID, sequence: Sequence, kind: Kind = .message, from: RegistrationName,
        isFCMDomain: Bool = false, category: [UInt8], messageID: [UInt8], persistentID: [UInt8] = [],
        expiresAt: UnixMilliseconds, lifetimeSeconds: Int, body: Body
    ) {
        self.sender = sender
        self.sequence = sequence
        self.kind = kind
        self.from = from
        self.isFCMDomain = isFCMDomain
        self.category = category
        self.messageID = messageID
        self.persistentID = persistentID
        self.expiresAt = expiresAt
        self.lifetimeSeconds = lifetimeSeconds
        self.body = body
    }
}

/// The receipt of a delivered message, on its way from the device's partition to the sender's.
package struct ReceiptDue: Sendable {
    /// The message that was delivered.
    package var message: RegistrationName
    /// Its place in the device's mailbox, told back when the receipt is stored.
    package var sequence: Sequence
    /// The account that asked for the receipt.
    package var sender: SenderID
    /// The submitter's id.
    package var messageID: [UInt8]
    /// The app it was delivered to.
    package var category: [UInt8]
    /// When the device confirmed it, milliseconds since 1970.
    package var deliveredAt: UnixMilliseconds
    /// The connection that submitted the original; nil if that is no longer known.
    package var origin: ConnectionID?

    /// A receipt; all parts are the caller's.
    package init(
        message: RegistrationName, sequence: Sequence, sender: SenderID, messageID: [UInt8],
        category: [UInt8], deliveredAt: UnixMilliseconds, origin: ConnectionID?
    ) {
        self.message = message
        self.sequence = sequence
        self.sender = sender
        self.messageID = messageID
        self.category = category
        self.deliveredAt = deliveredAt
        self.origin = origin
    }
}
