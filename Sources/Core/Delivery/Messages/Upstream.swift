public import Basics

/// A message of a device to an app server, as the device's session parsed it.
public struct UpstreamSubmission: Sendable {
    /// The device's connection; `requestID` identifies the frame and is returned when the message is stored or refused.
    public var requester: Requester
    /// The device that sent it.
    public var device: DeviceID
    /// The sender ID that it is addressed to, or that of the group.
    public var sender: SenderID
    /// The group that it is addressed to. `nil` if it is for app servers.
    public var group: GroupName?
    /// Whether it was addressed to the domain `fcm.googleapis.com` instead of `gcm.googleapis.com` (ccs-xmpp 4.1).
    public var isFCMDomain: Bool
    /// The app that sends it.
    public var category: [UInt8]
    /// The app's id of the message; an app may reuse it.
    public var messageID: [UInt8]
    /// The device's id of the message; empty if the device keeps none and so never sends it again. An equal id alone does not make
    /// a duplicate.
    public var persistentID: [UInt8]
    /// Remaining lifetime in seconds, 0 … `Limits.Message.upstreamLifetimeSeconds`; 0 is now or never.
    public var lifetimeSeconds: Int
    /// The pairs, encoded as `EncodedAppData`.
    public var body: EncodedAppData
    /// When it was sent by the device's own clock, milliseconds since 1970. `nil` if the device does not report it.
    public var sentAt: UnixMilliseconds?

    /// Creates a message that a device sent.
    public init(
        requester: Requester, device: DeviceID, sender: SenderID, isFCMDomain: Bool, category: [UInt8],
        messageID: [UInt8], persistentID: [UInt8], lifetimeSeconds: Int, body: EncodedAppData
    ) {
        self.requester = requester
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

/// An entry of a sender's mailbox, stored until an app server acknowledges it.
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
    /// Position in the sender's mailbox.
    public var sequence: SequenceNumber
    /// Message or receipt.
    public var kind: Kind
    /// The registration that it came from.
    public var from: RegistrationName
    /// What the token of the registration begins with.
    public var tokenPrefix: TokenPrefix?
    /// See `UpstreamSubmission.isFCMDomain`.
    public var isFCMDomain: Bool
    /// The app that it came from.
    public var category: [UInt8]
    /// The app's id; for a receipt the id of the original message.
    public var messageID: [UInt8]
    /// The device's id of the message. If it is empty, duplicates are not detected.
    public var persistentID: [UInt8]
    /// When it expires, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// The lifetime that the device requested, seconds.
    public var lifetimeSeconds: Int
    /// The pairs; empty for a receipt.
    public var body: EncodedAppData
    /// For a receipt, the connection that submitted the original, preferred while it is open (ccs-xmpp 3.6). Never stored.
    public var requester: ConnectionID?

    /// Creates a message or receipt.
    public init(
        sender: SenderID, sequence: SequenceNumber, kind: Kind = .message, from: RegistrationName,
        isFCMDomain: Bool = false, category: [UInt8], messageID: [UInt8], persistentID: [UInt8] = [],
        expiresAt: UnixMilliseconds, lifetimeSeconds: Int, body: EncodedAppData
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

/// The author of an upstream message and its ID, which a report about the message names.
public struct UpstreamAuthor: Sendable, Equatable {
    /// The registration that it came from.
    public var from: RegistrationName
    /// The app's ID of the message.
    public var messageID: [UInt8]

    /// Creates the author of a message.
    public init(from: RegistrationName, messageID: [UInt8]) {
        self.from = from
        self.messageID = messageID
    }
}

extension StoredUpstream {
    /// The registration that it came from, whose token is the `from` of the stanza.
    public var token: TokenName { TokenName(from, prefix: tokenPrefix) }

    /// The author, to whom its expiry is reported. `nil` for a receipt.
    public var author: UpstreamAuthor? {
        kind == .message ? UpstreamAuthor(from: from, messageID: messageID) : nil
    }
}

/// An expired upstream message on its way back to its device (ccs-xmpp 4.3).
public struct UpstreamReturn: Sendable, Equatable {
    /// The account that it was for.
    public var sender: SenderID
    /// Its position in the sender's mailbox, returned to the sender's partition once the report is stored.
    public var sequence: SequenceNumber
    /// When it expired, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// The author, to whom the expiry is reported.
    public var author: UpstreamAuthor

    /// Creates the return of a message.
    public init(
        sender: SenderID, sequence: SequenceNumber, expiresAt: UnixMilliseconds, author: UpstreamAuthor
    ) {
        self.sender = sender
        self.sequence = sequence
        self.expiresAt = expiresAt
        self.author = author
    }
}

/// A request to store the receipt of a delivered message, from the device's partition to the sender's.
public struct ReceiptDue: Sendable {
    /// The registration that the message was delivered to.
    public var message: RegistrationName
    /// What the token of the registration begins with.
    public var tokenPrefix: TokenPrefix?
    /// Its position in the device's mailbox, returned to the device's partition once the receipt is stored.
    public var sequence: SequenceNumber
    /// The account that requested the receipt.
    public var sender: SenderID
    /// The submitter's id of the message.
    public var messageID: [UInt8]
    /// The app that it was delivered to.
    public var category: [UInt8]
    /// When the device acknowledged it, milliseconds since 1970.
    public var deliveredAt: UnixMilliseconds
    /// Whether APNs accepted it, which does not report whether the device got it.
    public var isForwarded: Bool
    /// The connection that submitted the original. `nil` if it is no longer known.
    public var requester: ConnectionID?

    /// Creates the request.
    public init(
        message: RegistrationName, sequence: SequenceNumber, sender: SenderID, messageID: [UInt8],
        category: [UInt8], deliveredAt: UnixMilliseconds, isForwarded: Bool = false,
        requester: ConnectionID?
    ) {
        self.message = message
        self.sequence = sequence
        self.sender = sender
        self.messageID = messageID
        self.category = category
        self.deliveredAt = deliveredAt
        self.isForwarded = isForwarded
        self.requester = requester
    }
}

extension StoredUpstream {
    /// The body of a receipt for a message that APNs has accepted; that of any other receipt is empty.
    static let forwardedReceipt: EncodedAppData = Array("apns".utf8)

    /// Whether it is a receipt for a message that APNs has accepted, which does not report whether the device got it.
    public var isForwardedReceipt: Bool { if case .receipt = kind { !body.isEmpty } else { false } }
}
