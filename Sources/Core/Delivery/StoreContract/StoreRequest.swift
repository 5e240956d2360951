public import Basics

/// One change to the store, atomic by itself and within one partition key.
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
    /// Puts a subscription in the device's list and in the topic's. Putting it again changes its time.
    case putSubscription(Subscription)
    /// Removes a subscription from both lists; no effect if it does not exist.
    case removeSubscription(Subscription)
    /// Links a registration to an installation.
    case linkInstallation([UInt8], RegistrationName)
    /// Removes such a link; no effect if it does not exist.
    case unlinkInstallation([UInt8], RegistrationName)
    /// Puts the record of an installation.
    case putInstallation(InstallationRecord)
    /// Removes the record of an installation; its registrations and their links stay.
    case removeInstallation([UInt8])
    /// Puts a message, marker or report under its key and counts a message as `accepted`. Putting the same key again has no effect.
    ///
    /// The pairs that it shares with other messages are left out.
    case putMessage(StoredMessage)
    /// Removes a message and counts `reason` (a terminal milestone), unless it is a marker or already removed.
    case removeMessage(DeviceID, SequenceNumber, expiresAt: UnixMilliseconds, reason: Milestone)

    /// Puts a message on the schedule of its device's partition: the search for expired messages finds it when it is due.
    case putSchedule(ScheduledMessage)
    /// Removes it from there; no effect if it is not there.
    case removeSchedule(DeviceID, SequenceNumber, dueAt: UnixMilliseconds)

    /// Marks a device that has messages for the APNs gateway, so that the next process offers them again.
    case markForGateway(DeviceID)
    /// Removes such a mark; no effect if it does not exist.
    case unmarkForGateway(DeviceID)
    /// Puts an entry of the feedback list, under the partition of its device.
    case putFeedback(APNsFeedback)
    /// Removes such an entry; no effect if it does not exist.
    case removeFeedback(APNsFeedback)

    // Topic.
    /// Puts a topic message in the partition of its sender, with its pairs, until all partitions have it in their logs.
    case putTopicMessage(TopicMessage)
    /// Removes it; its pairs stay, since the log of the same partition shares them. No effect if it does not exist.
    case removeTopicMessage(TopicMessageName)
    /// Puts a topic message, with its pairs, in the log of a partition; one that stands for discarded messages has no pairs.
    case putTopicEntry(TopicEntry, partition: Int)
    /// Records what has become of a topic message in a partition. No effect if the log does not have it.
    case putTopicProgress(SequenceNumber, TopicProgress, partition: Int)
    /// Removes a topic message from the log of a partition; its pairs stay. No effect if it does not exist.
    case removeTopicEntry(SequenceNumber, partition: Int)
    /// Records the newest topic message that a partition was passed on from another one, or from itself.
    case putTopicMark(TopicMark, partition: Int)
    /// Puts pairs that messages of a partition share. Putting them again has no effect.
    case putSharedBody(SharedBody, partition: Int, expiresAt: UnixMilliseconds)
    /// Removes such pairs, also those of a topic message, once no message can share them any more.
    case removeSharedBody(SharedBodyName, partition: Int, expiresAt: UnixMilliseconds)
    /// Records up to which place in the log a device has been sent the topic messages. The removal of the device removes it.
    case putTopicPosition(DeviceID, SequenceNumber)
    /// Lists a subscription of an iOS app, by which topic messages find it.
    case listForGateway(Subscription)
    /// Removes it from that list; no effect if it is not there.
    case unlistForGateway(Subscription)

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
    /// Puts an upstream message or receipt. A duplicate of a message that was put within `Limits.Message.upstreamMemorySeconds` is
    /// not put: its sequence number is reported in the outcome's `duplicates`. A duplicate has the same device, app, sender,
    /// persistent ID (not empty), message ID and pairs (mcs-device 4.2): an app that restarts its counter, or writes to two
    /// senders, sends new messages under old IDs.
    case putUpstream(StoredUpstream, now: UnixMilliseconds)
    /// Removes an upstream message and counts `reason`, unless it is a receipt or already removed.
    case removeUpstream(SenderID, SequenceNumber, expiresAt: UnixMilliseconds, reason: Milestone)

    // Server.
    /// Stores a number for the next process.
    case putMark(StoreMark, UInt64)
    /// Records how much of the replicated log of a partition is applied: the last mutation of each batch that comes from the log.
    case advanceLog(partition: Int, LogProgress)

    /// Whether an answer depends on it. Mutations that are not durable may be lost in a crash, which then only causes a redelivery.
    public var isDurable: Bool {
        switch self {
        case .removeMessage(_, _, _, let reason): reason != .delivered && reason != .expired
        case .removeUpstream, .removeTopicMessage, .putTopicProgress, .removeTopicEntry, .removeSharedBody,
            .putMark, .unmarkForGateway, .advanceLog, .removeSchedule:
            false
        default: true
        }
    }
}

extension Mutation {
    /// The sequence number that it was assigned when it was made; `nil` if it has none.
    public var sequence: SequenceNumber? {
        switch self {
        case .putMessage(let message): message.sequence
        case .putUpstream(let message, _): message.sequence
        case .putTopicMessage(let message): message.name.sequence
        case .putTopicEntry(let entry, _): entry.sequence
        default: nil
        }
    }
}

/// A number that a process leaves for the next one, stored with the settings of the store.
public enum StoreMark: String, CaseIterable, Sendable {
    /// Watermark: no sequence number in the store exceeds it (microseconds since 1970).
    case sequence = "sequence_mark"
    /// The last believed time of a process (milliseconds since 1970).
    case clock = "clock_mark"

    /// Encodes a number as the value of the setting.
    public static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// Decodes the value of a setting.
    public static func number(_ bytes: [UInt8]) -> UInt64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The mutations of one turn of one partition, in order.
public struct WriteBatch: Sendable {
    /// The batch number, assigned by the partition; returned in the outcome.
    public var batchNumber: UInt64
    /// Applied in this order.
    public var mutations: [Mutation]
    /// Whether the outcome can be reported only once the mutations are on disk.
    public var isDurable: Bool
    /// The partition that wrote the batch, against which its messages are checked. `nil` for the control plane.
    public var partition: Int?
    /// A sequence number that none in the batch exceeds; `nil` if it has none.
    public var newestSequence: SequenceNumber?
    /// The newest `CommitOutcome.failures` that the partition had when it made the batch; if there is a newer one, the batch fails
    /// (`BatchOrder`).
    public var failuresSeen: UInt64

    /// Creates a batch. Without `newestSequence`, it is found in the mutations, each of which that copies.
    public init(
        batchNumber: UInt64, mutations: [Mutation], isDurable: Bool, partition: Int? = nil,
        newestSequence: SequenceNumber? = nil, failuresSeen: UInt64 = 0
    ) {
        self.failuresSeen = failuresSeen
        self.partition = partition
        self.newestSequence = newestSequence ?? mutations.lazy.compactMap(\.sequence).max()
        self.batchNumber = batchNumber
        self.mutations = mutations
        self.isDurable = isDurable
    }
}

/// A query of the store, answered by an event. It sees every batch whose outcome was reported before.
public enum StoreQuery: Sendable, Equatable {
    /// The state of a device, without message bodies.
    case device(DeviceID)
    /// Messages of a device with their bodies, oldest first, after a sequence number, up to `limit`.
    case messages(DeviceID, after: SequenceNumber, limit: Int)
    /// A message for the APNs gateway, with its body.
    case gatewayMessage(DeviceID, SequenceNumber)
    /// The messages of a device to which their submitters gave an ID. The answer repeats `lookup`.
    case named(DeviceID, [UInt8], lookup: UInt64)
    /// The schedule of a partition, in order, after an entry, up to `limit`.
    case schedule(after: ScheduledMessage?, limit: Int, partition: Int)
    /// Marked devices of a partition, in the order of IDs from `from` on, up to `limit`.
    case gatewayDevices(from: DeviceID, limit: Int, partition: Int)
    /// Upstream messages of a sender, oldest first, after a sequence number, up to `limit`.
    case upstream(SenderID, after: SequenceNumber, limit: Int)
    /// A group. The answer repeats `isForChange`, so that a change never starts from a group that was read for a message.
    case group(GroupName, isForChange: Bool)
    /// The group of a sender with this label.
    case groupLabelled(SenderID, [UInt8])
    /// The record of an installation and up to `limit` of its registrations, by name. `isForChange` is as in `.group`.
    case installation([UInt8], limit: Int, isForChange: Bool)
    /// Installations of a partition, in the order of IDs from `from` on, that were last used before a time (milliseconds since
    /// 1970), or before another time while they have no registrations. Examines up to `examine` rows and returns up to `limit` of
    /// them.
    case unusedInstallations(
        before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds, from: [UInt8], examine: Int, limit: Int,
        partition: Int)
    /// Topic messages of a partition's senders that not all partitions have in their logs, by name, after a name, up to `limit`.
    case topicMessages(after: TopicMessageName?, limit: Int, partition: Int)
    /// The log of a partition, without pairs, in order, after a place, up to `limit`.
    case topicEntries(after: SequenceNumber, limit: Int, partition: Int)
    /// Devices of a partition, by ID, after one, up to `limit`, with iOS apps that subscribe to a topic of a sender; with `nil` with
    /// iOS apps that the sender may address. May return fewer, and go on.
    case topicDevices(SenderID, of: TopicName?, after: DeviceID?, limit: Int, partition: Int)
    /// Messages and upstream messages of a partition that expire at or before a time (milliseconds since 1970), and scheduled ones that
    /// are due by then, earliest first.
    case expired(by: UnixMilliseconds, limit: Int, partition: Int)
    /// Devices of a partition, in the order of IDs from `from` on, that were last seen before a time, or created before another
    /// time and never used (milliseconds since 1970). Examines up to `examine` devices and returns up to `limit` of them.
    case unseen(
        before: UnixMilliseconds, unusedBefore: UnixMilliseconds, from: DeviceID, examine: Int, limit: Int,
        partition: Int)
}

/// A message in a mailbox, without its body.
public struct MailboxEntry: Sendable, Equatable {
    /// Sequence number in the mailbox.
    public var sequence: SequenceNumber
    /// Second half of the persistent ID.
    public var salt: UInt32
    public var registration: RegistrationNumber
    /// The account that sent it. `nil` for a marker and a web push.
    public var sender: SenderID?
    /// Message, marker or report.
    public var kind: StoredMessage.Kind
    /// See `Submission.collapseKey`.
    public var collapseKey: [UInt8]?
    /// When it expires, in milliseconds since 1970.
    public var expiresAt: UnixMilliseconds
    /// When it is due, in milliseconds since 1970. `nil` if it is not, or no longer, on the schedule.
    public var dueAt: UnixMilliseconds?
    /// Contents of the receipt, if one is owed.
    public var receipt: ReceiptRequest?
    /// Whether it is sent through the APNs gateway.
    public var isForGateway: Bool
    /// The pairs that it shares with other messages. `nil` if it has its own.
    public var shared: SharedReference?

    /// The entry of a message; `requester` is the connection that submitted it, if known.
    public init(_ message: StoredMessage, requester: ConnectionID? = nil) {
        sequence = message.sequence
        salt = message.salt
        registration = message.registration
        sender = message.sender
        kind = message.kind
        collapseKey = message.collapseKey
        expiresAt = message.expiresAt
        dueAt = message.dueAt
        isForGateway = message.apns != nil
        shared = message.shared
        receipt =
            message.wantsReceipt
            ? message.sender.map {
                ReceiptRequest(sender: $0, messageID: message.messageID, requester: requester)
            } : nil
    }
}

/// The recipient and subject of an owed receipt.
public struct ReceiptRequest: Sendable, Equatable {
    /// The account that requested it.
    public var sender: SenderID
    /// The submitter's ID of the message.
    public var messageID: [UInt8]
    /// The connection that requested it; `nil` after the mailbox was read from the store, which does not contain the connection.
    public var requester: ConnectionID?
}

/// The stored state of a device, without message bodies.
public struct DeviceState: Sendable, Equatable {
    public var device: DeviceID
    /// `nil` if it never checked in or was removed.
    public var record: DeviceRecord?
    /// Registrations, by number.
    public var registrations: [Registration]
    /// Mailbox entries, by sequence number.
    public var mailbox: [MailboxEntry]
    /// Subscriptions of its registrations.
    public var subscriptions: [Subscription]
    /// Its place in the log of topic messages; 0 if none is recorded.
    public var topicPosition = SequenceNumber(0)

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

/// What has come to its time: an expired message or upstream message, or a scheduled one that is due.
public enum ExpiredEntry: Sendable, Equatable {
    /// Downstream.
    case message(DeviceID, SequenceNumber, expiresAt: UnixMilliseconds)
    /// Upstream; `author` is to receive a report, `nil` for a receipt.
    case upstream(SenderID, SequenceNumber, expiresAt: UnixMilliseconds, author: UpstreamAuthor?)
    /// Pairs that messages of a partition share.
    case sharedBody(SharedBodyName, partition: Int, expiresAt: UnixMilliseconds)
    /// A message that is due: it does not expire, but is sent from now on.
    case scheduled(DeviceID, SequenceNumber, dueAt: UnixMilliseconds)

    /// The owner of the entry.
    public var key: PartitionKey {
        switch self {
        case .message(let device, _, _), .scheduled(let device, _, _): .device(device)
        case .upstream(let sender, _, _, _): .sender(sender)
        case .sharedBody(_, let partition, _): .partition(partition)
        }
    }
}

extension DeviceRecord {
    /// Returns whether a search for expired devices returns the device.
    public func isUnseen(before time: UnixMilliseconds, unusedBefore: UnixMilliseconds) -> Bool {
        seenAt < time || isUnused && unusedSince < unusedBefore
    }
}

/// The answer to a query.
public enum StoreResult: Sendable {
    /// To `.device`.
    case device(DeviceState)
    /// To `.messages`; `isLast` if no message follows.
    case messages(DeviceID, [StoredMessage], isLast: Bool)
    /// To `.gatewayMessage`; `nil` if it does not exist.
    case gatewayMessage(DeviceID, SequenceNumber, StoredMessage?)
    /// To `.named`, oldest first.
    case named(DeviceID, [PersistentID], lookup: UInt64)
    /// To `.schedule`; `isLast` if none follows.
    case schedule([ScheduledMessage], isLast: Bool)
    /// To `.gatewayDevices`; `next` is where the search continues, `nil` at its end.
    case gatewayDevices([DeviceID], next: DeviceID?)
    /// To `.upstream`; `isLast` if no message follows.
    case upstream(SenderID, [StoredUpstream], isLast: Bool)
    /// To `.installation`; the record is `nil` if the installation is unknown, or has only registrations from before records
    /// existed.
    case installation([UInt8], InstallationRecord?, [RegistrationName], isForChange: Bool)
    /// To `.unusedInstallations`; `next` is where the search continues, `nil` at its end. The times are those of the query.
    case unusedInstallations(
        [[UInt8]], next: [UInt8]?, before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds)
    /// To `.topicMessages`; `isLast` if none follows.
    case topicMessages([TopicMessage], isLast: Bool)
    /// To `.topicEntries`; `isLast` if none follows. Each answer has all marks of the partition.
    case topicEntries([TopicEntry], marks: [TopicMark], isLast: Bool)
    /// To `.topicDevices`; `next` is the device after which the search continues, `nil` at its end.
    case topicDevices([DeviceID], next: DeviceID?)
    /// To `.expired`.
    case expired([ExpiredEntry])
    /// To `.unseen`; `next` is where the search continues, `nil` at its end.
    case unseen([DeviceID], next: DeviceID?)
    /// To `.group`; the record is `nil` if the group does not exist.
    case group(GroupName, GroupRecord?, isForChange: Bool)
    /// To `.groupLabelled`; the record is `nil` if the group does not exist.
    case groupLabelled(SenderID, [UInt8], GroupRecord?)
    /// The store failed to answer; `isDamage` if what it should read is damaged, so that trying again does not help.
    case failed(StoreQuery, isDamage: Bool = false)
}
