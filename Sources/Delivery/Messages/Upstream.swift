public import Basics

/// What a device sent to an app server, as its session read it.
public struct UpstreamSubmission: Sendable {
    /// The device's connection; `ticket` names the frame, and returns when the message is safe or refused.
    public var origin: Origin
    /// The device.
    public var device: DeviceID
    /// The sender ID it is addressed to, or that of the group.
    public var sender: SenderID
    /// The group that it is addressed to; nil: app servers.
    public var group: GroupName?
    /// Whether it was addressed to the domain `fcm.googleapis.com` instead of `gcm.googleapis.com` (ccs-xmpp 4.1).
    public var isFCMDomain: Bool
    /// The app that sends it.
    public var category: [UInt8]
    /// The app's id for it; an app may use it again.
    public var messageID: [UInt8]
    /// The device's id for it; empty where the device keeps none, and so never repeats it. Alone it does not make a repetition.
    public var persistentID: [UInt8]
    /// Seconds it has left, 0 … `Limits.Message.upstreamLifetimeSeconds`; 0 is now or never.
    public var lifetimeSeconds: Int
    /// The pairs, encoded as `Body`.
    public var body: Body
    /// What the device's own clock showed when it sent it, milliseconds since 1970; nil where it does not say.
    public var sentAt: UnixMilliseconds?

    /// A submission; all parts are the caller's.
    public init(
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
public struct StoredUpstream: Sendable, Equatable {
    /// A message of a device, or the receipt of a downstream message.
    public enum Kind: Sendable, Equatable {
        /// Sent by an app.
        case message
        /// `MESSAGE_SENT_TO_DEVICE` at that time (milliseconds since 1970), for `messageID`.
        case receipt(sentAt: UnixMilliseconds)
    }

    /// The account it is for.
    public var sender: SenderID
    /// Place in the sender's mailbox.
    public var sequence: Sequence
    /// Message or receipt.
    public var kind: Kind
    /// The registration it came from; its token is the `from` of the stanza.
    public var from: RegistrationName
    /// See `UpstreamSubmission.isFCMDomain`.
    public var isFCMDomain: Bool
    /// The app.
    public var category: [UInt8]
    /// The app's id; for a receipt the id of the original message.
    public var messageID: [UInt8]
    /// The device's id for it; empty: repeats are not looked for.
    public var persistentID: [UInt8]
    /// When it ends unheard, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// The lifetime the device asked for, seconds.
    public var lifetimeSeconds: Int
    /// The pairs; empty for a receipt.
    public var body: Body
    /// Of a receipt: the connection that submitted the original, preferred while it lives (ccs-xmpp 3.6). Never stored.
    public var origin: ConnectionID?

    /// A message or receipt; all parts are the caller's.
    public init(
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

/// Who sent an upstream message, and under which ID: what a report about it names.
public struct UpstreamAuthor: Sendable, Equatable {
    /// The registration that it came from.
    public var from: RegistrationName
    /// The app's ID for it.
    public var messageID: [UInt8]

    /// An author.
    public init(from: RegistrationName, messageID: [UInt8]) {
        self.from = from
        self.messageID = messageID
    }
}

extension StoredUpstream {
    /// Who is to hear of its end; `nil` for a receipt.
    public var author: UpstreamAuthor? {
        kind == .message ? UpstreamAuthor(from: from, messageID: messageID) : nil
    }
}

/// An upstream message that no app server took in time, on its way back to its device (ccs-xmpp 4.3).
public struct UpstreamReturn: Sendable, Equatable {
    /// The account it was for.
    public var sender: SenderID
    /// Its place in the sender's mailbox, told back when it has left there.
    public var sequence: Sequence
    /// When it ended, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// Who hears of it.
    public var author: UpstreamAuthor

    /// A message on its way back.
    public init(
        sender: SenderID, sequence: Sequence, expiresAt: UnixMilliseconds, author: UpstreamAuthor
    ) {
        self.sender = sender
        self.sequence = sequence
        self.expiresAt = expiresAt
        self.author = author
    }
}

/// The receipt of a delivered message, on its way from the device's partition to the sender's.
public struct ReceiptDue: Sendable {
    /// The message that was delivered.
    public var message: RegistrationName
    /// Its place in the device's mailbox, told back when the receipt is stored.
    public var sequence: Sequence
    /// The account that asked for the receipt.
    public var sender: SenderID
    /// The submitter's id.
    public var messageID: [UInt8]
    /// The app it was delivered to.
    public var category: [UInt8]
    /// When the device confirmed it, milliseconds since 1970.
    public var deliveredAt: UnixMilliseconds
    /// The connection that submitted the original; nil if that is no longer known.
    public var origin: ConnectionID?

    /// A receipt; all parts are the caller's.
    public init(
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
