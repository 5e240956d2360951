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
    /// The account that sent it; nil for a marker and a web push.
    public var sender: SenderID?
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
        sender: SenderID?, kind: Kind = .message, text: MessageText, acceptedAt: UnixMilliseconds,
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
        sender: SenderID?, kind: Kind = .message, messageID: [UInt8], collapseKey: [UInt8]? = nil,
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
