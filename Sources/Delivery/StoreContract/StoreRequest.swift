public import Basics

/// One change to the store, atomic by itself and within one partition key (design 5).
public enum Mutation: Sendable, Equatable {
    // Device.
    /// Puts a device's record.
    case putDevice(DeviceRecord)
    /// Puts a registration.
    case putRegistration(Registration)
    /// Removes a registration; its messages, subscriptions and links are removed by mutations of their own.
    case removeRegistration(RegistrationName)
    /// Removes a device's record; registrations and messages are removed by mutations of their own.
    case removeDevice(DeviceID)
    /// Puts a subscription, in the device's list and in the topic's. The same again changes its time.
    case putSubscription(Subscription)
    /// Removes a subscription from both lists, if it is there.
    case removeSubscription(Subscription)
    /// Notes that an installation has a registration.
    case linkInstallation([UInt8], RegistrationName)
    /// Takes that note away, if it is there.
    case unlinkInstallation([UInt8], RegistrationName)
    /// Puts the record of an installation.
    case putInstallation(InstallationRecord)
    /// Removes it; what has its id stays.
    case removeInstallation([UInt8])
    /// Puts a message or marker at its place; counts `accepted` for a message. The same place again changes nothing.
    ///
    /// One that is part of a message to topics also marks its registration as done for that, and has its pairs from there.
    case putMessage(StoredMessage)
    /// Removes a message and counts `reason` (a terminal milestone) unless it is a marker or already gone.
    case removeMessage(DeviceID, Sequence, expiresAt: UnixMilliseconds, reason: Milestone)

    // Topic.
    /// Puts a message to topics, and the body that its messages share.
    case putTopicJob(TopicJob)
    /// Moves such a message behind those that are done, and removes their marks.
    case advanceTopicJob(TopicJobName, TopicCursor, marked: [RegistrationName])
    /// Removes it with the marks that are left; the body stays.
    case removeTopicJob(TopicJobName, marked: [RegistrationName])
    /// Removes the body of such a message, when no message can share it any more.
    case removeTopicBody(TopicJobName, expiresAt: UnixMilliseconds)

    // Group.
    /// Puts a group and its label.
    case putGroup(GroupRecord)
    /// Removes a group and its label.
    case removeGroup(GroupName, label: [UInt8])

    // Sender.
    /// Puts a sender's record.
    case putSender(SenderRecord)
    /// Removes a sender's record.
    case removeSender(SenderID)
    /// Puts an upstream message or receipt. One that repeats a message which was put within
    /// `Limits.Message.upstreamMemorySeconds` is not put again: its sequence is reported among the outcome's duplicates. A repetition has
    /// the same device, app, sender, persistent ID (not empty), message ID and pairs (mcs-device 4.2): an app that starts its
    /// counter again, or writes to two senders, sends new messages under old IDs.
    case putUpstream(StoredUpstream, now: UnixMilliseconds)
    /// Removes an upstream message and counts `reason` unless it is a receipt or already gone.
    case removeUpstream(SenderID, Sequence, expiresAt: UnixMilliseconds, reason: Milestone)
    /// Removes an upstream message, counts it as expired, and puts the report of that in the mailbox of its device, both or
    /// neither; `nil` where nobody is left to read it. Where the message is gone already, or is a receipt, nothing is put: its
    /// sequence is reported among the outcome's duplicates.
    case returnUpstream(SenderID, Sequence, expiresAt: UnixMilliseconds, report: StoredMessage?)

    // Server.
    /// Keeps a number that the next process begins with.
    case putMark(StoreMark, UInt64)

    /// Whether an answer waits for it; lazy ones may be lost by a crash and then only cause a redelivery.
    public var isDurable: Bool {
        switch self {
        case .removeMessage(_, _, _, let reason): reason != .delivered && reason != .expired
        case .removeUpstream, .advanceTopicJob, .removeTopicJob, .removeTopicBody, .putMark: false
        default: true
        }
    }
}

extension Mutation {
    /// The sequence that it was given when it was made; nil where it has none.
    public var sequence: Sequence? {
        switch self {
        case .putMessage(let message): message.sequence
        case .putUpstream(let message, _): message.sequence
        case .putTopicJob(let job): job.name.sequence
        default: nil
        }
    }
}

/// What a process leaves to the next one, among the settings of the store.
public enum StoreMark: String, Sendable {
    /// No sequence in the store is above it (microseconds since 1970).
    case sequence = "sequence_mark"
    /// Until when a process has lived, by a clock that was believed (milliseconds since 1970).
    case clock = "clock_mark"

    /// What the setting of that name holds.
    public static func octets(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// The number that a setting holds.
    public static func number(_ octets: [UInt8]) -> UInt64 {
        octets.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What one turn of one partition wants written, in order.
public struct WriteBatch: Sendable {
    /// Chosen by the partition; returns with the outcome.
    public var ticket: UInt64
    /// The changes, applied in this order.
    public var mutations: [Mutation]
    /// Whether the outcome may only be told once the changes are on disk.
    public var isDurable: Bool
    /// The partition that wrote it, as far as its messages are to be checked against that; `nil` for the control plane.
    public var partition: Int?

    /// A batch; all parts are the caller's.
    public init(ticket: UInt64, mutations: [Mutation], isDurable: Bool, partition: Int? = nil) {
        self.partition = partition
        self.ticket = ticket
        self.mutations = mutations
        self.isDurable = isDurable
    }
}

/// What became of a batch.
public struct CommitOutcome: Sendable, Equatable {
    /// The batch's ticket.
    public var ticket: UInt64
    /// Sequences of upstream messages that had been put before, and were not put again, or were gone before they could return.
    public var duplicates: [(SenderID, Sequence)]
    /// Whether the batch failed; then nothing of it may be relied on, and nothing of it is acknowledged.
    public var hasFailed: Bool

    /// An outcome; all parts are the caller's.
    public init(ticket: UInt64, duplicates: [(SenderID, Sequence)] = [], hasFailed: Bool = false) {
        self.ticket = ticket
        self.duplicates = duplicates
        self.hasFailed = hasFailed
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.ticket == b.ticket && a.hasFailed == b.hasFailed
            && a.duplicates.elementsEqual(b.duplicates) { $0.0 == $1.0 && $0.1 == $1.1 }
    }
}

/// A question to the store; the answer comes as an event. It sees every batch whose outcome was told before.
public enum Load: Sendable, Equatable {
    /// All that is known of a device, without bodies.
    case device(DeviceID)
    /// Messages of a device with their bodies, oldest first, after a place, at most so many.
    case messages(DeviceID, after: Sequence, limit: Int)
    /// Upstream messages of a sender, oldest first, after a place, at most so many.
    case upstream(SenderID, after: Sequence, limit: Int)
    /// A group. `isForChange` returns in the answer, so that what a change begins from is never what a send has read.
    case group(GroupName, isForChange: Bool)
    /// The group of a sender with a label.
    case groupLabelled(SenderID, [UInt8])
    /// The record and the registrations of an installation, by name, at most so many. `isForChange` as of a group.
    case installation([UInt8], limit: Int, isForChange: Bool)
    /// Installations of a partition from an id on, in the order of ids, whose record says that they were last used before a time
    /// (milliseconds since 1970), or before another one while they have no registrations; so many rows are looked at, and so many
    /// of them named, at most.
    case unusedInstallations(
        before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds, from: [UInt8], examine: Int, limit: Int,
        partition: Int)
    /// The registrations that subscribe to a topic of the job's sender, or all that the sender may address (nil), by name,
    /// after one, at most so many, without those that are marked as done for the job. With a limit of 0 the marks alone are told.
    case topicPage(TopicJobName, of: TopicName?, after: RegistrationName?, limit: Int)
    /// Messages to topics of a partition that are not done, by name, after one, at most so many.
    case topicJobs(after: TopicJobName?, limit: Int, partition: Int)
    /// Messages and upstream messages of a partition whose end lies at or before a time (milliseconds since 1970), earliest first.
    case expired(by: UnixMilliseconds, limit: Int, partition: Int)
    /// Devices of a partition from an id on, in order of their ids, whose record says that they were last seen before a time, or
    /// that they were made before another and never used (milliseconds since 1970); so many devices are looked at, and so many
    /// named, at most.
    case unseen(
        before: UnixMilliseconds, unusedBefore: UnixMilliseconds, from: DeviceID, examine: Int, limit: Int,
        partition: Int)
}

/// A message in a mailbox, without its body.
public struct MailboxEntry: Sendable, Equatable {
    /// Place in the mailbox.
    public var sequence: Sequence
    /// Second half of the persistent id.
    public var salt: UInt32
    /// The registration it was sent to.
    public var registration: RegistrationNumber
    /// Message or marker.
    public var kind: StoredMessage.Kind
    /// See `Submission.collapseKey`.
    public var collapseKey: [UInt8]?
    /// When it ends unheard, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// What the receipt is to say, if one is owed.
    public var receipt: ReceiptRequest?

    /// The entry of a message; `origin` is the connection that submitted it, as far as that is known.
    public init(_ message: StoredMessage, origin: ConnectionID? = nil) {
        sequence = message.sequence
        salt = message.salt
        registration = message.registration
        kind = message.kind
        collapseKey = message.collapseKey
        expiresAt = message.expiresAt
        receipt =
            message.wantsReceipt
            ? message.sender.map {
                ReceiptRequest(sender: $0, messageID: message.messageID, origin: origin)
            } : nil
    }
}

/// To whom a receipt is owed and for what.
public struct ReceiptRequest: Sendable, Equatable {
    /// The account that asked for it.
    public var sender: SenderID
    /// The submitter's id of the message.
    public var messageID: [UInt8]
    /// The connection that asked for it; nil once the mailbox has been read from the store, which does not know it.
    public var origin: ConnectionID?
}

/// All that the store holds of a device, without bodies.
public struct DeviceState: Sendable, Equatable {
    /// The device.
    public var device: DeviceID
    /// Its record; nil if it never checked in or was removed.
    public var record: DeviceRecord?
    /// Its registrations, by number.
    public var registrations: [Registration]
    /// Its mailbox, by sequence.
    public var mailbox: [MailboxEntry]
    /// The topics that its registrations subscribe to.
    public var subscriptions: [Subscription]

    /// A state; all parts are the caller's.
    public init(
        device: DeviceID, record: DeviceRecord?, registrations: [Registration], mailbox: [MailboxEntry],
        subscriptions: [Subscription] = []
    ) {
        self.device = device
        self.record = record
        self.registrations = registrations
        self.mailbox = mailbox
        self.subscriptions = subscriptions
    }
}

/// A message or upstream message whose time is over.
public enum ExpiredEntry: Sendable, Equatable {
    /// Downstream.
    case message(DeviceID, Sequence, expiresAt: UnixMilliseconds)
    /// Upstream; `author` is who is to hear of it, `nil` for a receipt.
    case upstream(SenderID, Sequence, expiresAt: UnixMilliseconds, author: UpstreamAuthor?)
    /// The body that the messages of a job share.
    case topicBody(TopicJobName, expiresAt: UnixMilliseconds)

    /// Whose it is.
    public var key: PartitionKey {
        switch self {
        case .message(let device, _, _): .device(device)
        case .upstream(let sender, _, _, _): .sender(sender)
        case .topicBody(let job, _): .sender(job.sender)
        }
    }
}

extension DeviceRecord {
    /// Whether a search for devices that may end names it.
    public func isUnseen(before time: UnixMilliseconds, unusedBefore: UnixMilliseconds) -> Bool {
        seenAt < time || isUnused && unusedSince < unusedBefore
    }
}

/// The answer to a `Load`.
public enum Loaded: Sendable {
    /// To `.device`.
    case device(DeviceState)
    /// To `.messages`; `isLast` says that nothing follows.
    case messages(DeviceID, [StoredMessage], isLast: Bool)
    /// To `.upstream`; `isLast` says that nothing follows.
    case upstream(SenderID, [StoredUpstream], isLast: Bool)
    /// To `.installation`; without a record it has none, or only registrations from before there were records.
    case installation([UInt8], InstallationRecord?, [RegistrationName], isForChange: Bool)
    /// To `.unusedInstallations`; `next` is where the search goes on, nil where none follows. The times are those that were asked
    /// with.
    case unusedInstallations(
        [[UInt8]], next: [UInt8]?, before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds)
    /// To `.topicPage`.
    case topicPage(TopicJobName, TopicPage)
    /// To `.topicJobs`; `isLast` says that nothing follows.
    case topicJobs([TopicJob], isLast: Bool)
    /// To `.expired`.
    case expired([ExpiredEntry])
    /// To `.unseen`; `next` is where the search goes on, nil where no device follows.
    case unseen([DeviceID], next: DeviceID?)
    /// To `.group`; nil: there is none.
    case group(GroupName, GroupRecord?, isForChange: Bool)
    /// To `.groupLabelled`; nil: there is none.
    case groupLabelled(SenderID, [UInt8], GroupRecord?)
    /// The store could not answer.
    case failed(Load)
}
