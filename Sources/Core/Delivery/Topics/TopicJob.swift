public import Basics

/// Identifies a topic message: its sender, and its number in the sender's partition.
public struct TopicJobName: Hashable, Sendable, Comparable {
    /// The owner of the topics.
    public var sender: SenderID
    /// The number of the message.
    public var sequence: SequenceNumber

    public init(sender: SenderID, sequence: SequenceNumber) {
        self.sender = sender
        self.sequence = sequence
    }

    public static func < (a: Self, b: Self) -> Bool { (a.sender, a.sequence) < (b.sender, b.sequence) }
}

/// The progress of a job: everything before the cursor is done.
public struct TopicCursor: Sendable, Equatable {
    /// Index of the current pass of the target.
    public var pass = 0
    /// The last recipient of this pass that is done; `nil` if none is.
    public var after: RegistrationName?
    /// App instances that have been sent the message.
    public var reached: UInt64 = 0

    /// Creates a cursor at the start.
    public init() {}

    public init(pass: Int, after: RegistrationName?, reached: UInt64) {
        self.pass = pass
        self.after = after
        self.reached = reached
    }
}

/// A topic message as it is stored, until each recipient has been sent the message or has refused it.
///
/// The messages to the devices share its pairs, which are stored once.
public struct TopicJob: Sendable, Equatable {
    public var name: TopicJobName
    /// Salt of the process that accepted it: a process resumes only jobs of others.
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
    /// When it and all of its messages expire, in milliseconds since 1970; `acceptedAt` for a now-or-never message.
    public var expiresAt: UnixMilliseconds
    /// The pairs.
    public var body: EncodedAppData
    /// See `MessageFields`.
    public var apns: [UInt8]?
    /// Its progress.
    public var cursor = TopicCursor()

    /// Creates a job at its start.
    public init(
        name: TopicJobName, salt: UInt32, target: TopicTarget, messageID: [UInt8],
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

    /// When the shared body is removed: after the last message that shares it has been removed as expired.
    public var bodyEndsAt: UnixMilliseconds {
        expiresAt + Int64(Limits.Topic.sharedBodyGraceSeconds) * 1_000
    }
}

/// What the messages of one job have in common. A class, because every message has the reference and most have none.
public final class TopicReference: Sendable, Equatable {
    /// The job.
    public let job: TopicJobName
    /// `from` of the frame; empty for the sender's number, as in other messages.
    public let path: [UInt8]
    /// Whether the message has the job's pairs. A record of a message does not, and a message that is read has them only if the
    /// store has the job's shared body (`DeviceHub+Bodies`).
    public let hasBody: Bool

    /// Creates the reference of a message that has the job's pairs.
    public init(job: TopicJobName, path: [UInt8]) {
        self.job = job
        self.path = path
        hasBody = true
    }

    /// Creates the reference of a message that names its job only.
    public init(withoutBodyOf job: TopicJobName) {
        self.job = job
        path = []
        hasBody = false
    }

    public static func == (a: TopicReference, b: TopicReference) -> Bool {
        a.job == b.job && a.path == b.path && a.hasBody == b.hasBody
    }
}

/// The job's part in a submission to one of its recipients.
public final class TopicShare: Sendable {
    /// The reference of the message to its job.
    public let reference: TopicReference
    /// The recipients of the job.
    public let target: TopicTarget
    /// Index of the pass that found the recipient.
    public let pass: Int
    /// See `TopicJob`.
    public let acceptedAt: UnixMilliseconds
    /// See `TopicJob`.
    public let expiresAt: UnixMilliseconds

    /// Creates the part of a job.
    public init(
        job: TopicJobName, target: TopicTarget, pass: Int, acceptedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds
    ) {
        reference = TopicReference(job: job, path: target.path)
        self.target = target
        self.pass = pass
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
    }

    convenience init(_ job: TopicJob) {
        self.init(
            job: job.name, target: job.target, pass: job.cursor.pass, acceptedAt: job.acceptedAt,
            expiresAt: job.expiresAt)
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

/// A page of possible recipients of a job.
public struct TopicPage: Sendable, Equatable {
    /// The recipients without a mark, in order.
    public var names: [RegistrationName]
    /// All marks of the job up to the start of the next page, including those of registrations that are no longer subscribed.
    public var marked: [RegistrationName]
    /// The last registration of this page, after which the next page starts; `nil` if this page is the last.
    public var next: RegistrationName?

    public init(names: [RegistrationName], marked: [RegistrationName] = [], next: RegistrationName?) {
        self.names = names
        self.marked = marked
        self.next = next
    }
}

/// The answer to a submission to one recipient.
public enum TopicAnswer: Sendable, CaseIterable {
    /// The message was accepted for it.
    case reached
    /// It is not a recipient, or cannot be sent the message.
    case skipped
    /// The store is unavailable.
    case unavailable
}

extension TopicEvent {
    /// Returns whether the content of the event belongs to a sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .submitted(let submission): submission.sender == sender
        case .answered: true
        }
    }
}
