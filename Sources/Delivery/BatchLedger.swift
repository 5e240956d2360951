import Basics

/// What waits for a batch to be on disk.
enum Waiter {
    /// A submission: acknowledge it, then deliver what the change at this place of the batch put.
    ///
    /// `canonical` is the token that replaced the one it was sent to.
    case submission(Origin, DeviceEntry, mutation: Int, canonical: RegistrationName?)
    /// A marker in the place of discarded messages: deliver it.
    case marker(DeviceEntry, mutation: Int)
    /// A login whose received messages go first.
    case login(ConnectionID, DeviceEntry)
    /// A device's message: tell the device, then route what the change at this place of the batch put.
    case upstream(Origin, mutation: Int)
    /// A receipt: its message may go, and it is routed, to the connection that it is from if that can be.
    case receipt(DeviceID, Sequence, mutation: Int, origin: ConnectionID?)
    /// The report of an upstream message that has expired: deliver what the change at this place of the batch put.
    case returned(UpstreamReturn, DeviceEntry, mutation: Int)
    /// A message to topics: acknowledge it, then begin what the change at this place of the batch put.
    case topicJob(Origin, mutation: Int)
    /// A change of a group, and what it makes of it.
    indirect case group(GroupRequest, GroupRecord)
    /// A change of an installation: the next one of the same id may begin.
    case installation([UInt8])
    /// Any other request, with both answers.
    indirect case request(ConnectionID, success: SessionCommand, failure: SessionCommand)
    /// A request that goes on elsewhere.
    indirect case next(Event, Origin)
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
