public import Basics

/// How urgently a message wants the device (ccs-xmpp 2.2).
public enum Priority: UInt8, Sendable {
    case normal = 0
    case high = 1
}

/// The pairs of a message as the device will see them, already in the encoding of MCS `app_data`.
///
/// Delivery never looks inside: it stores them, counts their bytes and hands them on. The encoding is the concatenation of
/// the protobuf fields `app_data` (tag 7, length, key, value) of a DataMessageStanza, so that framing is a copy.
public typealias Body = [UInt8]

/// What an app server submitted, checked in form, for one registration.
///
/// Its `collapseKey` is `appCollapseKey` where the package of the app is to be the key: only the registration knows it.
public struct Submission: Sendable, HoldsMessageText {
    /// Stands for the package of the app, the key of a notification that brings none (ccs-xmpp 6). It is empty: an empty key of
    /// an app server is no key.
    public static let appCollapseKey: [UInt8] = []

    /// Who asks and where the answer goes.
    public var origin: Origin
    /// The connection that it came on, where the answer goes elsewhere: receipts go there.
    public var submitter: ConnectionID?
    /// The account it was submitted under.
    public var sender: SenderID
    /// The registration that the token names; its seal has been verified.
    public var target: RegistrationName
    /// Its octets.
    public var text: MessageText
    /// Seconds to live from now, 0 … `Limits.lifetimeSeconds`; 0 is now or never.
    public var lifetimeSeconds: Int
    /// Urgency.
    public var priority: Priority
    /// Whether a receipt is wanted when the device has it.
    public var wantsReceipt: Bool
    /// Whether it waits until the device is active; a message of high priority never does (ccs-xmpp 6).
    public var delaysWhileIdle: Bool
    /// Check and answer, but store and deliver nothing.
    public var isDryRun: Bool
    /// Deliver only to this app; nil: to any.
    public var restrictedPackage: [UInt8]?
    /// By what right it is submitted.
    public var entitlement = Entitlement.account
    /// Whether the body ends with `raw_data`, which not every registration can be sent (http 2.1).
    public var holdsRawData = false
    /// The message to topics that it is part of; nil: none.
    public var topic: TopicShare?

    /// A submission; all parts are the caller's.
    public init(
        origin: Origin, sender: SenderID, target: RegistrationName, messageID: [UInt8],
        collapseKey: [UInt8]? = nil, lifetimeSeconds: Int = Limits.lifetimeSeconds,
        priority: Priority = .normal, wantsReceipt: Bool = false, delaysWhileIdle: Bool = false,
        isDryRun: Bool = false, restrictedPackage: [UInt8]? = nil, body: Body
    ) {
        self.origin = origin
        self.sender = sender
        self.target = target
        text = MessageText(messageID: messageID, collapseKey: collapseKey, body: body)
        self.lifetimeSeconds = lifetimeSeconds
        self.priority = priority
        self.wantsReceipt = wantsReceipt
        self.delaysWhileIdle = delaysWhileIdle
        self.isDryRun = isDryRun
        self.restrictedPackage = restrictedPackage
    }
}

/// Who waits for the answer to a request: a connection, and which of its open requests.
public struct Origin: Hashable, Sendable {
    /// The connection.
    public var connection: ConnectionID
    /// The requester's own number for it; returns in the answer unchanged.
    public var ticket: UInt32
    /// What the registry may gain by it.
    public var growth = Growth.unbounded

    /// What the door says of a request that may add rows to the registry.
    public enum Growth: UInt8, Sendable {
        /// As much as it asks for.
        case unbounded
        /// The same; the place that it takes among the strangers' is to be given back if it is none's.
        case counted
        /// What a device that has logged in asks for: strangers have had all their places.
        case knownOnly
        /// Nothing: the registry is as large as it may become.
        case full
    }

    /// Names a request.
    public init(connection: ConnectionID, ticket: UInt32) {
        self.connection = connection
        self.ticket = ticket
    }
}

/// A downstream message as it is stored until the device has it.
public struct StoredMessage: Sendable, Equatable, HoldsMessageText {
    /// What stands in the mailbox.
    public enum Kind: Sendable, Equatable {
        /// A message.
        case message
        /// The place of so many discarded messages: the device hears `deleted_messages`.
        case discardedMarker(count: Int)
        /// An upstream message, `messageID` to `sender`, has expired before an app server took it: the device hears `send_error`.
        case sendError
    }

    /// The device that it waits for.
    public var device: DeviceID
    /// Place in the mailbox, and with `salt` the persistent id.
    public var sequence: Sequence
    /// Second half of the persistent id.
    public var salt: UInt32
    /// The registration it was sent to.
    public var registration: RegistrationNumber
    /// The account that sent it; 0 for a marker.
    public var sender: SenderID
    /// Message or marker.
    public var kind: Kind
    /// Its octets; a marker has neither id nor pairs.
    public var text: MessageText
    /// When it was accepted, milliseconds since 1970.
    public var acceptedAt: UnixMilliseconds
    /// When it ends unheard, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// Urgency.
    public var priority: Priority
    /// Whether a receipt is owed.
    public var wantsReceipt: Bool
    /// See `Submission.delaysWhileIdle`.
    public var delaysWhileIdle: Bool
    /// The message to topics that it is part of, whose pairs it shares in the store; nil: none.
    public var topic: TopicOrigin?

    /// The id that the device knows it by.
    public var persistentID: PersistentID { PersistentID(sequence: sequence, salt: salt) }

    /// A message or marker; all parts are the caller's.
    public init(
        device: DeviceID, sequence: Sequence, salt: UInt32, registration: RegistrationNumber,
        sender: SenderID, kind: Kind = .message, text: MessageText, acceptedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds, priority: Priority = .normal, wantsReceipt: Bool = false,
        delaysWhileIdle: Bool = false
    ) {
        self.device = device
        self.sequence = sequence
        self.salt = salt
        self.registration = registration
        self.sender = sender
        self.kind = kind
        self.text = text
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.priority = priority
        self.wantsReceipt = wantsReceipt
        self.delaysWhileIdle = delaysWhileIdle
    }

    /// The same with octets that are not shared yet.
    public init(
        device: DeviceID, sequence: Sequence, salt: UInt32, registration: RegistrationNumber,
        sender: SenderID, kind: Kind = .message, messageID: [UInt8], collapseKey: [UInt8]? = nil,
        acceptedAt: UnixMilliseconds, expiresAt: UnixMilliseconds, priority: Priority = .normal,
        wantsReceipt: Bool = false, delaysWhileIdle: Bool = false, body: Body
    ) {
        self.init(
            device: device, sequence: sequence, salt: salt, registration: registration, sender: sender,
            kind: kind, text: MessageText(messageID: messageID, collapseKey: collapseKey, body: body),
            acceptedAt: acceptedAt, expiresAt: expiresAt, priority: priority, wantsReceipt: wantsReceipt,
            delaysWhileIdle: delaysWhileIdle)
    }
}
