public import Basics

/// Identifies a topic message: its sender, and its number in the sender's partition.
public struct TopicMessageName: Hashable, Sendable, Comparable {
    /// The owner of the topics.
    public var sender: SenderID
    /// The number of the message. It increases among all messages of the partition.
    public var sequence: SequenceNumber

    public init(sender: SenderID, sequence: SequenceNumber) {
        self.sender = sender
        self.sequence = sequence
    }

    public static func < (a: Self, b: Self) -> Bool { (a.sender, a.sequence) < (b.sender, b.sequence) }
}

/// A topic message as an app server sent it. Each partition has it once for all of its devices; the messages in their mailboxes share its
/// pairs.
public struct TopicMessage: Sendable, Equatable {
    public var name: TopicMessageName
    /// Salt of the process that accepted it: a process resumes only messages of others.
    public var salt: UInt32
    /// The recipients.
    public var target: TopicTarget
    /// See `MessageContent`.
    public var messageID: [UInt8]
    /// See `MessageContent`.
    public var collapseKey: [UInt8]?
    /// See `MessageContent`.
    public var priority: Priority
    /// See `MessageContent`.
    public var wantsReceipt: Bool
    /// See `MessageContent`.
    public var delaysWhileIdle: Bool
    /// See `MessageContent`.
    public var restrictedPackage: [UInt8]?
    /// When it was accepted, in milliseconds since 1970.
    public var acceptedAt: UnixMilliseconds
    /// When it expires, in milliseconds since 1970; `acceptedAt` for a now-or-never message.
    public var expiresAt: UnixMilliseconds
    /// The pairs.
    public var body: EncodedAppData
    /// See `MessageFields`.
    public var apns: [UInt8]?

    public init(
        name: TopicMessageName, salt: UInt32, target: TopicTarget, messageID: [UInt8],
        collapseKey: [UInt8]? = nil, priority: Priority = .normal, wantsReceipt: Bool = false,
        delaysWhileIdle: Bool = false, restrictedPackage: [UInt8]? = nil, acceptedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds, body: EncodedAppData, apns: [UInt8]? = nil
    ) {
        self.name = name
        self.salt = salt
        self.target = target
        self.messageID = messageID
        self.collapseKey = collapseKey
        self.priority = priority
        self.wantsReceipt = wantsReceipt
        self.delaysWhileIdle = delaysWhileIdle
        self.restrictedPackage = restrictedPackage
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.body = body
        self.apns = apns
    }

    /// Whether it is stored; a now-or-never message is not.
    public var isStored: Bool { expiresAt > acceptedAt }

    /// Bytes of its pairs, and of what it holds for APNs alone.
    var bodyBytes: Int { body.count + (apns?.count ?? 0) }

    /// When the shared body is removed: after the last message that shares it has been removed as expired.
    public var bodyEndsAt: UnixMilliseconds {
        expiresAt + Int64(Limits.SharedBody.graceSeconds) * 1_000
    }

    /// Its pairs, and what else its mailbox entries have in common.
    public var shared: SharedBody {
        SharedBody(reference: SharedReference(.topic(name), path: target.path), body: body, apns: apns)
    }
}

/// A topic message in the log of a partition.
public struct TopicEntry: Sendable, Equatable {
    /// What the entry is.
    public enum Kind: Sendable, Equatable {
        /// A topic message.
        case message
        /// Stands for `count` messages to the topic that were discarded, since too many waited, the last one at the place `through`: each app
        /// instance whose device has not been sent all of them gets `deleted_messages`.
        case discarded(count: Int, through: SequenceNumber)
    }

    /// Its place in the log: a device has been sent all messages up to its position, and none after it.
    public var sequence: SequenceNumber
    public var kind: Kind
    /// The message, without its pairs when it was read from the store: the store has them once.
    public var message: TopicMessage
    /// What has become of it.
    public var progress = TopicProgress()

    public init(sequence: SequenceNumber, kind: Kind = .message, message: TopicMessage) {
        self.sequence = sequence
        self.kind = kind
        self.message = message
    }
}

/// What has become of a topic message in a partition so far.
public struct TopicProgress: Sendable, Equatable {
    /// App instances whose mailboxes it has entered.
    public var reached: UInt64 = 0
    /// Whether all iOS apps have been found that it is for: they never log in.
    public var isOffered = false

    public init(reached: UInt64 = 0, isOffered: Bool = false) {
        self.reached = reached
        self.isOffered = isOffered
    }
}

/// The newest message of another partition's senders, or of its own, that a partition has in its log or had there.
public struct TopicMark: Sendable, Equatable {
    /// The partition of the senders.
    public var source: Int
    /// The number of the message there.
    public var through: SequenceNumber

    public init(source: Int, through: SequenceNumber) {
        self.source = source
        self.through = through
    }
}

/// What is the same for all recipients of a topic message in a partition, or of what stands for discarded ones. A class, as
/// `SharedReference` is.
final class TopicShare: Sendable {
    /// See `TopicEntry`.
    let kind: TopicEntry.Kind
    /// The owner of the topics.
    let sender: SenderID
    /// The recipients.
    let target: TopicTarget
    /// See `TopicMessage`.
    let isStored: Bool
    /// What iOS apps get, and what all others get.
    let apple: MessageContent
    let plain: MessageContent
    /// The reference of the mailbox entries.
    let reference: SharedReference
    /// See `TopicMessage`.
    let acceptedAt: UnixMilliseconds
    /// See `TopicMessage`.
    let expiresAt: UnixMilliseconds
    /// Its place in the log; `nil` for a now-or-never message.
    let sequence: SequenceNumber?

    init(
        _ message: TopicMessage, kind: TopicEntry.Kind = .message, hasBody: Bool, at sequence: SequenceNumber?
    ) {
        self.kind = kind
        (sender, target, isStored) = (message.name.sender, message.target, message.isStored)
        reference =
            hasBody
            ? SharedReference(.topic(message.name), path: message.target.path)
            : SharedReference(withoutBodyOf: .topic(message.name))
        acceptedAt = message.acceptedAt
        expiresAt = message.expiresAt
        self.sequence = sequence
        let all = MessageContent(
            messageID: message.messageID, collapseKey: message.collapseKey,
            lifetimeSeconds: message.isStored ? Limits.Message.lifetimeSeconds : 0,
            priority: message.priority, wantsReceipt: message.wantsReceipt,
            delaysWhileIdle: message.delaysWhileIdle, restrictedPackage: message.restrictedPackage,
            body: hasBody ? message.body : [], apns: hasBody ? message.apns : message.apns.map { _ in [] })
        apple = all
        var others = all
        // As a submission is completed by their registrations, but once.
        if all.apns != nil { others.apns = nil }
        plain = others
    }
}

/// A topic message as an app server submitted it.
public struct TopicSubmission: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    /// The account that it was submitted under, which owns the topics.
    public var sender: SenderID
    /// The recipients.
    public var target: TopicTarget
    /// The message that each recipient gets.
    public var content: MessageContent

    public init(requester: Requester, sender: SenderID, target: TopicTarget, content: MessageContent) {
        self.requester = requester
        self.sender = sender
        self.target = target
        self.content = content
    }
}
