import Basics

/// A continuation that runs once its batch is on disk or has failed, by owner.
enum Waiter {
    /// Concerns a device.
    case device(DeviceEntry, DeviceWaiter)
    /// Concerns a sender.
    case sender(SenderID, SenderWaiter)
    /// A group change: answer the request with the changed group.
    indirect case group(GroupRequest, GroupRecord)
    /// A message to topics: acknowledge it, then pass it on.
    indirect case topicMessage(TopicMessage, Requester)
    /// Messages that were passed on: add them to the log, then answer.
    case topicEntries(TopicFeed.Addition, [TopicFeed.Publication])
    /// Connected devices that have been sent topic messages: the next ones follow.
    case topicsDue
    /// A change of an installation: the next change of the same ID may start.
    case installation([UInt8])
    /// Any other request: send one of the two answers.
    indirect case reply(Requester, RequestReply, orFailed: RequestReply)
    /// A request that continues at another owner.
    indirect case next(Event, Requester)
}

/// A continuation for a change to a device's mailbox.
enum DeviceWaiter {
    /// A message: acknowledge it to its submitter, then deliver it.
    ///
    /// `canonical` is the token that replaced the token it was sent to.
    case submission(StoredMessage, ReplyTo, canonical: TokenName?)
    /// A marker that replaces discarded messages: deliver it.
    case marker(StoredMessage)
    /// The report of an expired upstream message: answer the return, then deliver it. `nil` if there is nothing to store: the app is
    /// unregistered, or the report is stored already.
    case report(StoredMessage?, UpstreamReturn)
    /// A login: complete it after the messages that the device has received are removed.
    case login(ConnectionID)
    /// An upstream message of an app whose registration is not on disk yet. Were the registration lost, no app could receive the
    /// report of the message's end.
    case upstream(UpstreamSubmission)
    /// The end of a message that the APNs gateway has answered: offer the next one of its registration.
    case gatewayEnd(RegistrationNumber, SequenceNumber)
    /// A request to cancel messages that were not on disk: find them.
    indirect case cancellation(Cancellation)
    /// A submission that is refused for good, because of a change that was not on disk: Apple has refused its message, or its
    /// registration has ended.
    indirect case refusal(ReplyTo, Refusal)
    /// A request that also depends on earlier batches, with which this one would have failed.
    indirect case reply(Requester, RequestReply, orFailed: RequestReply)
    /// A request that continues at another owner.
    indirect case next(Event, Requester)
}

/// A continuation for a change to a sender's mailbox.
enum SenderWaiter {
    /// A device's message: acknowledge it to the device, then route it.
    case upstream(StoredUpstream, Requester)
    /// A receipt: remove its message, then route the receipt.
    case receipt(StoredUpstream, ofMessage: SequenceNumber)
}

/// A batch on its way to the store.
struct BatchRecord {
    var mutations: [Mutation] = []
    var waiters: [Waiter] = []
    /// Devices that the batch changes.
    var devices: [DeviceEntry] = []
    /// Milestones to count for each sender once the batch is on disk; the store counts all messages together.
    var senders = SenderTally()
    /// Whether the batch removes messages from a sender's mailbox.
    var removesUpstream = false
    /// Steps of messages that happen when the batch is on disk, for the history.
    var history = HistoryBatch()
    /// The same for those who trace a device.
    var traces: [TracedStep] = []

    /// A step for those who trace a device.
    enum TracedStep {
        case ofDevice(DeviceID, TraceRecord)
        /// The end of an upstream message: its device is the one whose trace contains it.
        case ofSender(TraceRecord)

        /// The place of a message to a device; `nil` for any other step.
        var place: MailboxPlace? {
            guard case .ofDevice(let device, let record) = self, record.direction == .downstream else {
                return nil
            }
            return record.persistentID.map { MailboxPlace(.device(device), $0.sequence) }
        }
    }
}

/// The batches that the store has not answered, oldest first.
struct BatchLedger {
    private var records: [BatchRecord?] = []
    private var head = 0
    /// Number of the batch at `head`.
    private var firstBatchNumber: UInt64 = 1
    /// Mutations in all unanswered batches.
    private(set) var mutations = 0
    /// The newest count of failures that an outcome has had (`WriteBatch.failuresSeen`).
    private(set) var failuresSeen: UInt64

    init(failuresSeen: UInt64) { self.failuresSeen = failuresSeen }

    var unanswered: Int { records[head...].count { $0 != nil } }

    /// The mutations of unanswered batches, oldest first.
    var openMutations: [Mutation] { records[head...].flatMap { $0?.mutations ?? [] } }

    /// Number of the next batch.
    var nextBatchNumber: UInt64 { firstBatchNumber + UInt64(records.count - head) }

    /// Appends a batch under the number `nextBatchNumber`.
    mutating func append(_ record: BatchRecord) {
        mutations += record.mutations.count
        records.append(record)
    }

    /// Removes a batch and returns it. Returns `nil` if no unanswered batch has the number.
    mutating func remove(_ batchNumber: UInt64) -> BatchRecord? {
        guard batchNumber >= firstBatchNumber, batchNumber < nextBatchNumber else { return nil }
        let at = head + Int(batchNumber - firstBatchNumber)
        guard let record = records[at] else { return nil }
        records[at] = nil
        mutations -= record.mutations.count
        while head < records.count, records[head] == nil {
            head += 1
            firstBatchNumber += 1
        }
        if head == records.count || head >= 256 {
            records.removeFirst(head)
            head = 0
        }
        return record
    }

    /// Records a failure. Returns whether its batch is unanswered.
    mutating func see(_ outcome: CommitOutcome) -> Bool {
        failuresSeen = max(failuresSeen, outcome.failures ?? 0)
        return outcome.batchNumber < nextBatchNumber && isOpen(outcome.batchNumber)
    }

    /// Removes the unanswered batches that fail with an outcome, and returns them with their numbers.
    mutating func removeAll(by outcome: CommitOutcome) -> [(number: UInt64, record: BatchRecord)] {
        let end = outcome.failures == nil ? outcome.batchNumber + 1 : nextBatchNumber
        return (outcome.batchNumber..<end).compactMap { number in remove(number).map { (number, $0) } }
    }

    /// Returns whether a batch is still gathered or unanswered.
    func isOpen(_ batchNumber: UInt64) -> Bool {
        if batchNumber >= nextBatchNumber { return true }
        guard batchNumber >= firstBatchNumber else { return false }
        return records[head + Int(batchNumber - firstBatchNumber)] != nil
    }

    /// Adds a continuation to an unanswered batch. Returns `false` if the batch has been answered.
    mutating func wait(_ waiter: Waiter, for batchNumber: UInt64) -> Bool {
        guard batchNumber >= firstBatchNumber, batchNumber < nextBatchNumber else { return false }
        let at = head + Int(batchNumber - firstBatchNumber)
        guard records[at] != nil else { return false }
        records[at]?.waiters.append(waiter)
        return true
    }
}
