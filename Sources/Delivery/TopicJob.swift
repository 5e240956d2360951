package import Basics

/// Names a message to topics that is under way: its sender and its place among what the sender's partition made.
package struct TopicJobName: Hashable, Sendable, Comparable {
    /// Whose topics.
    package var sender: SenderID
    /// Which message.
    package var sequence: Sequence

    /// Names a job.
    package init(sender: SenderID, sequence: Sequence) {
        self.sender = sender
        self.sequence = sequence
    }

    package static func < (a: Self, b: Self) -> Bool { (a.sender, a.sequence) < (b.sender, b.sequence) }
}

/// How far a job has come: everything before is done.
package struct TopicCursor: Sendable, Equatable {
    /// Which of the passes of its target is under way.
    package var pass = 0
    /// The last one on this pass that is done; nil: none.
    package var after: RegistrationName?
    /// App instances that have been sent the message.
    package var reached: UInt64 = 0

    /// At the begin.
    package init() {}

    /// At a place; all parts are the caller's.
    package init(pass: Int, after: RegistrationName?, reached: UInt64) {
        self.pass = pass
        self.after = after
        self.reached = reached
    }
}

/// A message to topics as it is stored, until every one of those meant has been sent it or refused it.
///
/// The messages to the devices refer to it for their pairs, which are stored once.
package struct TopicJob: Sendable, Equatable {
    /// Which one.
    package var name: TopicJobName
    /// Which process took it: none resumes its own.
    package var salt: UInt32
    /// To whom it goes.
    package var target: TopicTarget
    /// See `Submission`.
    package var messageID: [UInt8]
    /// See `Submission`.
    package var collapseKey: [UInt8]?
    /// See `Submission`.
    package var priority: Priority
    /// See `Submission`.
    package var wantsReceipt: Bool
    /// See `Submission`.
    package var delaysWhileIdle: Bool
    /// See `Submission`.
    package var restrictedPackage: [UInt8]?
    /// When it was accepted, milliseconds since 1970.
    package var acceptedAt: UnixMilliseconds
    /// When it ends with all messages of it, milliseconds since 1970; `acceptedAt` for now or never.
    package var expiresAt: UnixMilliseconds
    /// The pairs.
    package var body: Body
    /// How far it has come.
    package var cursor = TopicCursor()

    /// A job at its begin; all parts are the caller's.
    package init(
        name: TopicJobName, salt: UInt32, target: TopicTarget, messageID: [UInt8],
        collapseKey: [UInt8]? = nil, priority: Priority = .normal, wantsReceipt: Bool = false,
        delaysWhileIdle: Bool = false, restrictedPackage: [UInt8]? = nil, acceptedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds,
        body: Body
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
    }

    /// Whether it is stored: one that is now or never is not.
    package var isStored: Bool { expiresAt > acceptedAt }

    /// When the body that its messages share goes: after the last of them has been swept away.
    package var bodyEndsAt: UnixMilliseconds {
        expiresAt + Int64(Limits.sharedBodyGraceSeconds) * 1_000
    }
}

/// What the messages of one job have in common. A class, since each message carries it, and nearly all carry none.
package final class TopicOrigin: Sendable, Equatable {
    /// The job.
    package let job: TopicJobName
    /// `from` of the frame; empty: the sender, as for every other message.
    package let path: [UInt8]

    /// What is common; both parts are the caller's.
    package init(job: TopicJobName, path: [UInt8]) {
        self.job = job
        self.path = path
    }

    package static func == (a: TopicOrigin, b: TopicOrigin) -> Bool { a.job == b.job && a.path == b.path }
}

/// What a submission to one of a job's app instances carries.
package final class TopicShare: Sendable {
    /// What its message will say of the job.
    package let origin: TopicOrigin
    /// To whom the job goes.
    package let target: TopicTarget
    /// On which pass the app instance was met.
    package let pass: Int
    /// See `TopicJob`.
    package let acceptedAt: UnixMilliseconds
    /// See `TopicJob`.
    package let expiresAt: UnixMilliseconds

    init(_ job: TopicJob) {
        origin = TopicOrigin(job: job.name, path: job.target.path)
        target = job.target
        pass = job.cursor.pass
        acceptedAt = job.acceptedAt
        expiresAt = job.expiresAt
    }
}

/// A message to topics, as an app server submitted it.
package struct TopicSubmission: Sendable {
    /// To whom it goes.
    package var target: TopicTarget
    /// What each app instance gets; its target is set for each.
    package var submission: Submission

    /// A message to topics.
    package init(target: TopicTarget, submission: Submission) {
        self.target = target
        self.submission = submission
    }
}

/// A page of those that a job may go to.
package struct TopicPage: Sendable, Equatable {
    /// Those that have not been sent it, in their order.
    package var names: [RegistrationName]
    /// All marks of the job up to where the next page begins, whether or not those marked would still be named.
    package var marked: [RegistrationName]
    /// After which the next page begins; nil: nothing follows.
    package var next: RegistrationName?

    /// A page; all parts are the caller's.
    package init(names: [RegistrationName], marked: [RegistrationName] = [], next: RegistrationName?) {
        self.names = names
        self.marked = marked
        self.next = next
    }
}

/// What became of the submission to one app instance.
package enum TopicAnswer: Sendable {
    /// It has been sent the message.
    case reached
    /// It is not meant, or cannot be sent it.
    case passedOver
    /// The store cannot take it now.
    case unavailable
}

extension Origin {
    /// Of a submission that a job made, by the number of its run.
    static func topicJob(_ run: UInt32) -> Origin {
        Origin(connection: ConnectionID(reactor: .max, slot: .max - 1, generation: .max), ticket: run)
    }

    /// Whether a job asks.
    var isTopicJob: Bool { connection.reactor == .max && connection.slot == .max - 1 }
}
