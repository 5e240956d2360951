public import Basics

/// Names a message to topics that is under way: its sender and its place among what the sender's partition made.
public struct TopicJobName: Hashable, Sendable, Comparable {
    /// Whose topics.
    public var sender: SenderID
    /// Which message.
    public var sequence: Sequence

    /// Names a job.
    public init(sender: SenderID, sequence: Sequence) {
        self.sender = sender
        self.sequence = sequence
    }

    public static func < (a: Self, b: Self) -> Bool { (a.sender, a.sequence) < (b.sender, b.sequence) }
}

/// How far a job has come: everything before is done.
public struct TopicCursor: Sendable, Equatable {
    /// Which of the passes of its target is under way.
    public var pass = 0
    /// The last one on this pass that is done; nil: none.
    public var after: RegistrationName?
    /// App instances that have been sent the message.
    public var reached: UInt64 = 0

    /// At the begin.
    public init() {}

    /// At a place; all parts are the caller's.
    public init(pass: Int, after: RegistrationName?, reached: UInt64) {
        self.pass = pass
        self.after = after
        self.reached = reached
    }
}

/// A message to topics as it is stored, until every one of those meant has been sent it or refused it.
///
/// The messages to the devices refer to it for their pairs, which are stored once.
public struct TopicJob: Sendable, Equatable {
    /// Which one.
    public var name: TopicJobName
    /// Which process took it: none resumes its own.
    public var salt: UInt32
    /// To whom it goes.
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
    /// When it was accepted, milliseconds since 1970.
    public var acceptedAt: UnixMilliseconds
    /// When it ends with all messages of it, milliseconds since 1970; `acceptedAt` for now or never.
    public var expiresAt: UnixMilliseconds
    /// The pairs.
    public var body: Body
    /// See `MessageText`.
    public var apns: [UInt8]?
    /// How far it has come.
    public var cursor = TopicCursor()

    /// A job at its begin; all parts are the caller's.
    public init(
        name: TopicJobName, salt: UInt32, target: TopicTarget, messageID: [UInt8],
        collapseKey: [UInt8]? = nil, priority: Priority = .normal, wantsReceipt: Bool = false,
        delaysWhileIdle: Bool = false, restrictedPackage: [UInt8]? = nil, acceptedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds, body: Body, apns: [UInt8]? = nil
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

    /// Whether it is stored: one that is now or never is not.
    public var isStored: Bool { expiresAt > acceptedAt }

    /// When the body that its messages share goes: after the last of them has been swept away.
    public var bodyEndsAt: UnixMilliseconds {
        expiresAt + Int64(Limits.Topic.sharedBodyGraceSeconds) * 1_000
    }
}

/// What the messages of one job have in common. A class, since each message carries it, and nearly all carry none.
public final class TopicOrigin: Sendable, Equatable {
    /// The job.
    public let job: TopicJobName
    /// `from` of the frame; empty: the sender, as for every other message.
    public let path: [UInt8]

    /// What is common; both parts are the caller's.
    public init(job: TopicJobName, path: [UInt8]) {
        self.job = job
        self.path = path
    }

    public static func == (a: TopicOrigin, b: TopicOrigin) -> Bool { a.job == b.job && a.path == b.path }
}

/// What a submission to one of a job's app instances carries.
public final class TopicShare: Sendable {
    /// What its message will say of the job.
    public let origin: TopicOrigin
    /// To whom the job goes.
    public let target: TopicTarget
    /// On which pass the app instance was met.
    public let pass: Int
    /// See `TopicJob`.
    public let acceptedAt: UnixMilliseconds
    /// See `TopicJob`.
    public let expiresAt: UnixMilliseconds

    init(_ job: TopicJob) {
        origin = TopicOrigin(job: job.name, path: job.target.path)
        target = job.target
        pass = job.cursor.pass
        acceptedAt = job.acceptedAt
        expiresAt = job.expiresAt
    }
}

/// A message to topics, as an app server submitted it.
public struct TopicSubmission: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The account that it was submitted under, whose topics they are.
    public var sender: SenderID
    /// To whom it goes.
    public var target: TopicTarget
    /// What each app instance gets.
    public var content: MessageContent

    /// A message to topics.
    public init(origin: Origin, sender: SenderID, target: TopicTarget, content: MessageContent) {
        self.origin = origin
        self.sender = sender
        self.target = target
        self.content = content
    }
}

/// A page of those that a job may go to.
public struct TopicPage: Sendable, Equatable {
    /// Those that have not been sent it, in their order.
    public var names: [RegistrationName]
    /// All marks of the job up to where the next page begins, whether or not those marked would still be named.
    public var marked: [RegistrationName]
    /// After which the next page begins; nil: nothing follows.
    public var next: RegistrationName?

    /// A page; all parts are the caller's.
    public init(names: [RegistrationName], marked: [RegistrationName] = [], next: RegistrationName?) {
        self.names = names
        self.marked = marked
        self.next = next
    }
}

/// What became of the submission to one app instance.
public enum TopicAnswer: Sendable {
    /// It has been sent the message.
    case reached
    /// It is not meant, or cannot be sent it.
    case passedOver
    /// The store cannot take it now.
    case unavailable
}

extension TopicEvent {
    /// Whether what the event carries is of a sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .submitted(let submission): submission.sender == sender
        case .answered: true
        }
    }
}
