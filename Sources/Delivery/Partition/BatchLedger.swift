import Basics

/// What waits for a batch to be on disk, by its owner.
enum Waiter {
    /// Something of a device.
    case device(DeviceEntry, DeviceWaiter)
    /// Something of a sender.
    case sender(SenderID, SenderWaiter)
    /// A change of a group, and what it makes of it.
    indirect case group(GroupRequest, GroupRecord)
    /// A message to topics: acknowledge it, then start it.
    indirect case topicJob(TopicJob, Origin)
    /// A change of an installation: the next one of the same ID may start.
    case installation([UInt8])
    /// Any other request, with both answers.
    indirect case reply(Origin, RequestReply, orFailed: RequestReply)
    /// A request that goes on elsewhere.
    indirect case next(Event, Origin)
}

/// What waits for a change of a device's mailbox.
enum DeviceWaiter {
    /// A message: acknowledge it to whoever submitted it, then deliver it.
    ///
    /// `canonical` is the token that replaced the one it was sent to.
    case submission(StoredMessage, ReplyTo, canonical: RegistrationName?)
    /// A marker in the place of discarded messages: deliver it.
    case marker(StoredMessage)
    /// The report of an upstream message that has expired: deliver it; `nil` if the app is gone.
    case report(StoredMessage?, UpstreamReturn)
    /// A login whose received messages are removed first.
    case login(ConnectionID)
    /// A message of an app whose registration is on its way: were that lost, nobody could be told of the message's end.
    case upstream(UpstreamSubmission)
    /// A request that changes of other batches matter to as well: none of them may have failed.
    indirect case reply(Origin, RequestReply, orFailed: RequestReply)
    /// A request that goes on elsewhere, in the same way.
    indirect case next(Event, Origin)
}

/// What waits for a change of a sender's mailbox.
enum SenderWaiter {
    /// A device's message: acknowledge it to the device, then route it.
    case upstream(StoredUpstream, Origin)
    /// A receipt: its message may be removed, and it is routed.
    case receipt(StoredUpstream, ofMessage: Sequence)
}

/// A batch on its way to the store.
struct BatchRecord {
    var mutations: [Mutation] = []
    var waiters: [Waiter] = []
    /// Devices that it changes.
    var devices: [DeviceEntry] = []
    /// What it counts once it is on disk.
    var downstream = MilestoneCounts()
    var upstream = MilestoneCounts()
    /// Whether it takes something out of a sender's mailbox.
    var removesUpstream = false
}

/// The batches that the store has not answered, oldest first.
struct BatchLedger {
    private var records: [BatchRecord?] = []
    private var head = 0
    /// Ticket of the record at `head`.
    private var firstTicket: UInt64 = 1
    /// Changes in all of them.
    private(set) var mutations = 0

    /// Batches that have not been answered.
    var unanswered: Int { records[head...].count { $0 != nil } }

    /// Ticket of the next batch.
    var nextTicket: UInt64 { firstTicket + UInt64(records.count - head) }

    /// Keeps what waits for a batch; its ticket is `nextTicket` as it was.
    mutating func append(_ record: BatchRecord) {
        mutations += record.mutations.count
        records.append(record)
    }

    /// Takes a batch out; nil if there is none of that ticket.
    mutating func take(_ ticket: UInt64) -> BatchRecord? {
        guard ticket >= firstTicket, ticket < nextTicket else { return nil }
        let at = head + Int(ticket - firstTicket)
        guard let record = records[at] else { return nil }
        records[at] = nil
        mutations -= record.mutations.count
        while head < records.count, records[head] == nil {
            head += 1
            firstTicket += 1
        }
        if head == records.count || head >= 256 {
            records.removeFirst(head)
            head = 0
        }
        return record
    }

    /// Whether a batch is being gathered or on its way.
    func isOpen(_ ticket: UInt64) -> Bool {
        if ticket >= nextTicket { return true }
        guard ticket >= firstTicket else { return false }
        return records[head + Int(ticket - firstTicket)] != nil
    }

    /// Adds to what waits for a batch on its way; false if it has been answered.
    mutating func wait(_ waiter: Waiter, for ticket: UInt64) -> Bool {
        guard ticket >= firstTicket, ticket < nextTicket else { return false }
        let at = head + Int(ticket - firstTicket)
        guard records[at] != nil else { return false }
        records[at]?.waiters.append(waiter)
        return true
    }
}
