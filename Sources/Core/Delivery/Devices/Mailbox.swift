import Basics

/// The index entry of a stored message in a device's mailbox, without its body, and its delivery state.
struct MailboxSlot {
    /// The delivery state of a message. A message is sent only after it is stored.
    enum State: Equatable {
        /// Not sent on the current connection; `isStored`: the store has confirmed that it is on disk.
        case waiting(isStored: Bool)
        /// Not sent on the current connection until the device is active; `isStored` as above.
        case delayed(isStored: Bool)
        /// Not sent before its time; `isStored` as above.
        case scheduled(isStored: Bool)
        /// Not sent on the current connection until its app's rate allows it.
        case throttled
        /// Sent on the current connection, not acknowledged.
        case sent
        /// Offered to the APNs gateway, not answered.
        case atGateway
        /// Acknowledged by the device, or accepted by APNs; removed once its receipt is on disk.
        case owingReceipt

        /// Whether the store has confirmed that it is on disk.
        var isStored: Bool {
            switch self {
            case .waiting(let isStored), .delayed(let isStored), .scheduled(let isStored): isStored
            case .throttled, .sent, .atGateway, .owingReceipt: true
            }
        }

        /// Whether it is sent as soon as the connection accepts it.
        var isWaiting: Bool { if case .waiting = self { true } else { false } }

        /// Whether it waits until the device is active.
        var isDelayed: Bool { if case .delayed = self { true } else { false } }

        /// Whether it waits for its time.
        var isScheduled: Bool { if case .scheduled = self { true } else { false } }

        /// Whether a message may change from this state to another one. A stored message stays stored.
        func mayBecome(_ next: State) -> Bool {
            switch (self, next) {
            case (.waiting(let wasStored), .waiting(let isStored)),
                (.waiting(let wasStored), .delayed(let isStored)),
                (.delayed(let wasStored), .waiting(let isStored)),
                (.scheduled(let wasStored), .scheduled(let isStored)),
                (.scheduled(let wasStored), .waiting(let isStored)):
                isStored || !wasStored
            case (.waiting, .throttled), (.waiting, .sent), (.waiting, .owingReceipt), (.sent, .owingReceipt),
                (.owingReceipt, .sent), (.throttled, .waiting(isStored: true)),
                (.sent, .waiting(isStored: true)), (.owingReceipt, .waiting(isStored: true)),
                (.waiting(isStored: true), .atGateway), (.atGateway, .waiting(isStored: true)),
                (.atGateway, .owingReceipt), (.scheduled(isStored: true), .owingReceipt):
                true
            default: false
            }
        }

        /// The state after the store has confirmed the message.
        var stored: State {
            switch self {
            case .waiting: .waiting(isStored: true)
            case .delayed: .delayed(isStored: true)
            case .scheduled: .scheduled(isStored: true)
            case .throttled, .sent, .atGateway, .owingReceipt: self
            }
        }

        /// The state for the next connection, which has been sent nothing.
        var unsent: State {
            switch self {
            case .waiting(let isStored), .delayed(let isStored): .waiting(isStored: isStored)
            case .throttled, .sent: .waiting(isStored: true)
            case .scheduled, .atGateway, .owingReceipt: self
            }
        }
    }

    private(set) var entry: MailboxEntry
    fileprivate(set) var state: State
    /// When it was accepted; `.distantPast` if that is not in memory.
    private(set) var acceptedAt = Instant.distantPast
    /// Whether its app's rate has been charged for it.
    private(set) var isCounted = false
    /// Whether its pairs are damaged, so that it is passed over until it expires.
    private(set) var isUnreadable = false

    /// The store has confirmed that it is on disk.
    mutating func confirm() { state = state.stored }

    /// It is due.
    mutating func takeOffSchedule() { entry.dueAt = nil }

    /// It is charged to its app's rate.
    mutating func charge() { isCounted = true }

    /// It was read without its pairs.
    mutating func passOver() { isUnreadable = true }

    /// It was removed: its memory is given back.
    fileprivate mutating func strip() { (entry.collapseKey, entry.receipt) = (nil, nil) }

    /// Whether it counts as sent and not acknowledged. A report does not count: reports have their own bound, and a device cannot
    /// name them at login, since they carry the ID of its own message (mcs-device 4.4).
    var isUnacknowledged: Bool { state == .sent && !entry.kind.isReport }

    /// Whether it may be cancelled: neither the current connection nor APNs has got it.
    var isCancellable: Bool {
        switch state {
        case .waiting, .delayed, .scheduled, .throttled: true
        case .sent, .atGateway, .owingReceipt: false
        }
    }

    /// Whether it could be offered to the gateway now.
    var isReadyForGateway: Bool {
        entry.isForGateway && state == .waiting(isStored: true) && !isUnreadable
    }

    /// Whether it counts towards the cap of messages without a collapse key.
    var isPlain: Bool { !entry.isForGateway && entry.kind == .message && entry.collapseKey == nil }
}

/// The messages of one registration that the mailbox counts for its caps. Only the mailbox changes it.
struct MessageCounts {
    /// Messages without a collapse key that wait for a connection.
    fileprivate(set) var plainWaiting = 0
    /// Messages without a collapse key that wait until the device is active.
    fileprivate(set) var plainDelayed = 0
    /// Messages that wait for the APNs gateway.
    fileprivate(set) var gatewayWaiting = 0
    /// Messages with a collapse key, waiting or sent.
    fileprivate(set) var keyed = 0

    /// Whether no count is negative.
    var isValid: Bool { plainWaiting >= 0 && plainDelayed >= 0 && gatewayWaiting >= 0 && keyed >= 0 }
}

/// The mailbox of one device, oldest message first: an in-memory index of the stored messages, and their counts.
struct Mailbox {
    private(set) var slots = MailboxSlots()
    /// Messages that wait until the device is active.
    private(set) var delayed = 0
    /// Messages that wait for their time.
    private(set) var scheduled = 0
    /// Messages sent on the connection and not acknowledged.
    private(set) var unacknowledged = 0

    /// Returns the index of a message in `slots`.
    func index(of sequence: SequenceNumber) -> Int? {
        guard !slots.isEmpty else { return nil }
        if slots[0].entry.sequence == sequence { return 0 }
        var low = 0
        var high = slots.count
        while low < high {
            let middle = (low &+ high) / 2
            if slots[middle].entry.sequence < sequence { low = middle &+ 1 } else { high = middle }
        }
        return low < slots.count && slots[low].entry.sequence == sequence ? low : nil
    }

    /// Adds a message, whose sequence must be the highest, to the mailbox and to the counts of its registration.
    mutating func append(_ slot: MailboxSlot, _ counts: inout MessageCounts) {
        slots.append(slot)
        if slot.entry.collapseKey != nil { counts.keyed += 1 }
        count(at: slots.count - 1, by: 1, &counts)
    }

    mutating func remove(at index: Int, _ counts: inout MessageCounts) -> MailboxSlot {
        count(at: index, by: -1, &counts)
        if slots[index].entry.collapseKey != nil { counts.keyed -= 1 }
        return slots.remove(at: index)
    }

    /// Changes a message by its functions.
    mutating func update<Result>(at index: Int, _ change: (inout MailboxSlot) -> Result) -> Result {
        change(&slots[index])
    }

    mutating func setState(_ state: MailboxSlot.State, at index: Int, _ counts: inout MessageCounts) {
        count(at: index, by: -1, &counts)
        slots[index].state = state
        count(at: index, by: 1, &counts)
    }

    /// Counts a message that enters its state, or leaves it (-1).
    private mutating func count(at index: Int, by change: Int, _ counts: inout MessageCounts) {
        // Read field by field, since a copy of the slot would count references.
        let state = slots[index].state
        if state.isDelayed { delayed += change }
        if state.isScheduled { scheduled += change }
        if slots[index].isUnacknowledged { unacknowledged += change }
        if state.isWaiting, slots[index].entry.isForGateway { counts.gatewayWaiting += change }
        guard slots[index].isPlain else { return }
        if state.isWaiting { counts.plainWaiting += change }
        if state.isDelayed { counts.plainDelayed += change }
    }

    /// Whether a stored message after `sequence` has not been sent on the connection.
    func hasStored(after sequence: SequenceNumber) -> Bool {
        var at = slots.count
        while at > 0 {
            at -= 1
            guard slots[at].entry.sequence > sequence else { return false }
            if slots[at].state == .waiting(isStored: true), !slots[at].entry.isForGateway { return true }
        }
        return false
    }

    /// The newest message that the store has confirmed.
    var newestStored: SequenceNumber? { slots.last { $0.state.isStored }?.entry.sequence }

    /// Whether no count is negative, nor one of a registration.
    func isValid(_ counts: MessageCounts) -> Bool {
        delayed >= 0 && scheduled >= 0 && unacknowledged >= 0 && counts.isValid
    }
}

/// The slots of a mailbox. Removing the first one, as a device does that acknowledges in order, moves no other.
struct MailboxSlots: RandomAccessCollection {
    private var storage: [MailboxSlot] = []
    /// Removed slots at the start of `storage`.
    private var removed = 0

    var startIndex: Int { 0 }
    var endIndex: Int { storage.count &- removed }

    subscript(index: Int) -> MailboxSlot {
        _read {
            assert(index >= 0)
            yield storage[removed &+ index]
        }
        _modify {
            assert(index >= 0)
            yield &storage[removed &+ index]
        }
    }

    mutating func append(_ slot: MailboxSlot) { storage.append(slot) }

    mutating func remove(at index: Int) -> MailboxSlot {
        guard index == 0 else { return storage.remove(at: removed + index) }
        let slot = storage[removed]
        storage[removed].strip()
        removed += 1
        // Each slot is moved at most once for each removed one.
        if removed == storage.count || removed >= 32 && removed * 2 > storage.count {
            storage.removeFirst(removed)
            removed = 0
        }
        return slot
    }
}
