public import Basics

/// The delivery priority of a message (ccs-xmpp 2.2).
public enum Priority: UInt8, Sendable, CaseIterable {
    case normal = 0
    case high = 1
}

/// The key-value pairs of a message for the device, already in the encoding of MCS `app_data`.
///
/// Delivery never parses them: it stores them, counts their bytes and forwards them. The encoding is the concatenation of
/// the protobuf fields `app_data` (tag 7, length, key, value) of a DataMessageStanza, so that framing is a copy.
public typealias EncodedAppData = [UInt8]

/// A downstream message as it is stored until the device acknowledges it.
public struct StoredMessage: Sendable, Equatable, HasMessageFields {
    /// The kind of a mailbox entry.
    public enum Kind: Sendable, Equatable {
        /// A message of an app server.
        case message
        /// Replaces `count` discarded messages: the device receives `deleted_messages`.
        case discardedMarker(count: Int)
        /// Reports that the upstream message `messageID`, at `of` in the mailbox of `sender`, expired undelivered: the device
        /// receives `send_error`.
        case sendError(of: SequenceNumber)

        /// Whether it reports the end of an upstream message.
        public var isReport: Bool { if case .sendError = self { true } else { false } }
    }

    /// The device that it is for.
    public var device: DeviceID
    /// Position in the mailbox; together with `salt` the persistent id.
    public var sequence: SequenceNumber
    /// Second half of the persistent id.
    public var salt: UInt32
    /// The registration it was sent to.
    public var registration: RegistrationNumber
    /// The account that sent it. `nil` for a marker and a web push.
    public var sender: SenderID?
    /// Message, marker or report.
    public var kind: Kind
    /// Its bytes; a marker has neither an id nor pairs.
    public var fields: MessageFields
    /// When it was accepted, milliseconds since 1970.
    public var acceptedAt: UnixMilliseconds
    /// When it expires, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// Delivery priority.
    public var priority: Priority
    /// Whether the sender requested a receipt.
    public var wantsReceipt: Bool
    /// See `MessageContent.delaysWhileIdle`.
    public var delaysWhileIdle: Bool
    /// See `MessageContent.sendAt`.
    public var dueAt: UnixMilliseconds?
    /// The pairs that it shares with other messages in the store. `nil` if it has its own.
    public var shared: SharedReference?

    /// Whether it can be sent: the pairs that it shares with other messages were read, too.
    public var hasBody: Bool { shared?.hasBody ?? true }

    /// The topic message that it is part of. `nil` if there is none.
    public var topicMessage: TopicMessageName? {
        if case .topic(let name) = shared?.name { name } else { nil }
    }

    /// The id under which the device receives and acknowledges it.
    public var persistentID: PersistentID { PersistentID(sequence: sequence, salt: salt) }

    /// Whether it is a message to which its submitter gave this ID.
    public func isNamed(_ id: [UInt8]) -> Bool { kind == .message && messageID == id }

    /// Creates a message, marker or report whose bytes may be shared.
    public init(
        device: DeviceID, sequence: SequenceNumber, salt: UInt32, registration: RegistrationNumber,
        sender: SenderID?, kind: Kind = .message, fields: MessageFields, acceptedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds, priority: Priority = .normal, wantsReceipt: Bool = false,
        delaysWhileIdle: Bool = false
    ) {
        self.device = device
        self.sequence = sequence
        self.salt = salt
        self.registration = registration
        self.sender = sender
        self.kind = kind
        self.fields = fields
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.priority = priority
        self.wantsReceipt = wantsReceipt
        self.delaysWhileIdle = delaysWhileIdle
    }

    /// Creates a message, marker or report with bytes of its own.
    public init(
        device: DeviceID, sequence: SequenceNumber, salt: UInt32, registration: RegistrationNumber,
        sender: SenderID?, kind: Kind = .message, messageID: [UInt8], collapseKey: [UInt8]? = nil,
        acceptedAt: UnixMilliseconds, expiresAt: UnixMilliseconds, priority: Priority = .normal,
        wantsReceipt: Bool = false, delaysWhileIdle: Bool = false, body: EncodedAppData
    ) {
        self.init(
            device: device, sequence: sequence, salt: salt, registration: registration, sender: sender,
            kind: kind, fields: MessageFields(messageID: messageID, collapseKey: collapseKey, body: body),
            acceptedAt: acceptedAt, expiresAt: expiresAt, priority: priority, wantsReceipt: wantsReceipt,
            delaysWhileIdle: delaysWhileIdle)
    }
}
