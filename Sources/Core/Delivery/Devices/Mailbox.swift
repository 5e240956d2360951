import Basics

/// The index entry of a stored message in a device's mailbox, without its body, and its delivery state.
struct MailboxSlot {
    /// The delivery state of a message. A message is sent only after it is stored.
    enum State: Equatable {
        /// Not sent on the current connection; `isStored`: the store has confirmed that it is on disk.
        case waiting(isStored: Bool)
        /// Not sent on the current connection until the device is active; `isStored` as above.
        case delayed(isStored: Bool)
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
            case .waiting(let isStored), .delayed(let isStored): isStored
            case .throttled, .sent, .atGateway, .owingReceipt: true
            }
        }

        /// Whether it is sent as soon as the connection accepts it.
        var isWaiting: Bool { if case .waiting = self { true } else { false } }

        /// Whether it waits until the device is active.
        var isDelayed: Bool { if case .delayed = self { true } else { false } }

        /// Whether a message may change from this state to another one. A stored message stays stored.
        func mayBecome(_ next: State) -> Bool {
            switch (self, next) {
            case (.waiting(let wasStored), .waiting(let isStored)),
                (.waiting(let wasStored), .delayed(let isStored)),
                (.delayed(let wasStored), .waiting(let isStored)):
                isStored || !wasStored
            case (.waiting, .throttled), (.waiting, .sent), (.waiting, .owingReceipt), (.sent, .owingReceipt),
                (.owingReceipt, .sent), (.throttled, .waiting(isStored: true)),
                (.sent, .waiting(isStored: true)), (.owingReceipt, .waiting(isStored: true)),
                (.waiting(isStored: true), .atGateway), (.atGateway, .waiting(isStored: true)),
                (.atGateway, .owingReceipt):
                true
            default: false
            }
        }

        /// The state after the store has confirmed the message.
        var stored: State {
            switch self {
            case .waiting: .waiting(isStored: true)
            case .delayed: .delayed(isStored: true)
            case .throttled, .sent, .atGateway, .owingReceipt: self
            }
        }

        /// The state for the next connection, which has been sent nothing.
        var unsent: State {
            switch self {
            case .waiting(let isStored), .delayed(let isStored): .waiting(isStored: isStored)
            case .throttled, .sent: .waiting(isStored: true)
            case .atGateway, .owingReceipt: self
            }
        }
    }

    var entry: MailboxEntry
    var state: State
    /// When it was accepted; `.distantPast` if that is not in memory.
    var acceptedAt = Instant.distantPast
    /// Whether its app's rate has been charged for it.
    var isCounted = false
    /// How often it was read without its shared body.
    private(set) var readsWithoutBody: UInt8 = 0
    /// Whether it is to be read again because of that, and is passed over until then.
    fileprivate(set) var awaitsBody = false

    /// It was read without its shared body.
    mutating func missBody() {
        awaitsBody = true
        if readsWithoutBody < .max { readsWithoutBody += 1 }
    }

    /// Whether it counts as sent and not acknowledged. A report does not count: reports have their own bound, and a device cannot
    /// name them at login, since they carry the ID of its own message (mcs-device 4.4).
    var isUnacknowledged: Bool { state == .sent && !entry.kind.isReport }

    /// Whether it could be offered to the gateway now.
    var isReadyForGateway: Bool {
        entry.isForGateway && state == .waiting(isStored: true) && !awaitsBody
    }

    /// The cap of its registration that it counts towards.
    enum Cap {
        /// That of messages without a collapse key.
        case plain
        /// That of messages for the APNs gateway.
        case gateway
        /// None of these: a report, a marker, or a message with a collapse key.
        case none
    }

    /// The cap that it counts towards.
    var cap: Cap {
        if entry.isForGateway { return .gateway }
        return entry.kind == .message && entry.collapseKey == nil ? .plain : .none
    }
}

/// The messages of one registration that the mailbox counts for its caps. Only the mailbox changes it.
struct MessageCounts {
    /// Messages without a collapse key that wait for a connection.
    private(set) var plainWaiting = 0
    /// Messages without a collapse key that wait until the device is active.
    private(set) var plainDelayed = 0
    /// Messages that wait for the APNs gateway.
    private(set) var gatewayWaiting = 0
    /// Messages with a collapse key, waiting or sent.
    fileprivate(set) var keyed = 0

    /// Whether no count is negative.
    var isValid: Bool { plainWaiting >= 0 && plainDelayed >= 0 && gatewayWaiting >= 0 && keyed >= 0 }

    /// Whether all counts are 0.
    var isEmpty: Bool { plainWaiting == 0 && plainDelayed == 0 && gatewayWaiting == 0 && keyed == 0 }

    /// Counts a message that enters a state, or leaves it (-1).
    fileprivate mutating func count(_ cap: MailboxSlot.Cap, _ state: MailboxSlot.State, by change: Int) {
        switch (cap, state) {
        case (.plain, .waiting): plainWaiting += change
        case (.plain, .delayed): plainDelayed += change
        case (.gateway, .waiting): gatewayWaiting += change
        case (.none, _), (_, .throttled), (_, .sent), (_, .atGateway), (_, .owingReceipt),
            (.gateway, .delayed):
            break
        }
    }
}

/// The mailbox of one device, oldest message first: an in-memory index of the stored messages, and their counts.
struct Mailbox {
    private(set) var slots = MailboxSlots()
    /// Messages that wait until the device is active.
    private(set) var delayed = 0
    /// Messages sent on the connection and not acknowledged.
    private(set) var unacknowledged = 0

    /// Returns the index of a message in `slots`.
    func index(of sequence: SequenceNumber) -> Int? {
        guard let first = slots.first else { return nil }
        if first.entry.sequence == sequence { return 0 }
        let at = lowerBound(sequence)
        return at < slots.count && slots[at].entry.sequence == sequence ? at : nil
    }

    /// Returns the index of the first message at or after a sequence.
    func lowerBound(_ sequence: SequenceNumber) -> Int {
        var low = 0
        var high = slots.count
        while low < high {
            let middle = (low &+ high) / 2
            if slots[middle].entry.sequence < sequence { low = middle &+ 1 } else { high = middle }
        }
        return low
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

    /// Marks a message as confirmed by the store.
    mutating func setStored(at index: Int) { slots[index].state = slots[index].state.stored }

    /// Marks a message as charged to its app's rate.
    mutating func setCounted(at index: Int) { slots[index].isCounted = true }

    /// Marks a message as read without its shared body. Returns how often it was.
    mutating func missBody(at index: Int) -> Int {
        slots[index].missBody()
        return Int(slots[index].readsWithoutBody)
    }

    /// Marks a message as no longer passed over.
    mutating func takeUp(at index: Int) { slots[index].awaitsBody = false }

    mutating func setState(_ state: MailboxSlot.State, at index: Int, _ counts: inout MessageCounts) {
        count(at: index, by: -1, &counts)
        slots[index].state = state
        slots[index].awaitsBody = false
        count(at: index, by: 1, &counts)
    }

    /// Counts a message that enters its state, or leaves it (-1).
    private mutating func count(at index: Int, by change: Int, _ counts: inout MessageCounts) {
        // Read field by field, since a copy of the slot would count references.
        let state = slots[index].state
        if state.isDelayed { delayed += change }
        if slots[index].isUnacknowledged { unacknowledged += change }
        counts.count(slots[index].cap, state, by: change)
    }

    /// Returns the oldest messages of a registration with a collapse key that must leave for another key, if up to `limit` of
    /// those that `isCounted` selects may stay.
    func surplus(
        of number: RegistrationNumber, limit: Int, where isCounted: (MailboxSlot) -> Bool
    ) -> [SequenceNumber] {
        var found: [SequenceNumber] = []
        for slot in slots
        where slot.entry.registration == number && slot.entry.collapseKey != nil && isCounted(slot) {
            found.append(slot.entry.sequence)
        }
        return Array(found.prefix(max(0, found.count + 1 - limit)))
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
    func isValid(_ counts: MessageCounts) -> Bool { delayed >= 0 && unacknowledged >= 0 && counts.isValid }
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
        storage[removed].entry.collapseKey = nil
        storage[removed].entry.receipt = nil
        removed += 1
        // Each slot is moved at most once for each removed one.
        if removed == storage.count || removed >= 32 && removed * 2 > storage.count {
            storage.removeFirst(removed)
            removed = 0
        }
        return slot
    }
}
