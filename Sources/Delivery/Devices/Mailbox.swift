import Basics

/// A message of a device's mailbox as the partition knows it, without its body.
struct MailboxSlot {
    /// Where it is on its way to the device. What is handed over has been stored before.
    enum State: Equatable {
        /// Not handed to the present connection; `isStored`: the store has said that it is on disk.
        case waiting(isStored: Bool)
        /// Not handed to the present connection until the device is active; `isStored` as above.
        case delayed(isStored: Bool)
        /// Not handed to the present connection until its app may have one more.
        case throttled
        /// Handed to the present connection, not acknowledged.
        case sent
        /// The device has it; it goes as soon as the receipt is on disk.
        case owingReceipt

        /// Whether the store has said that it is on disk.
        var isStored: Bool {
            switch self {
            case .waiting(let isStored), .delayed(let isStored): isStored
            case .throttled, .sent, .owingReceipt: true
            }
        }

        /// Whether it is handed over as soon as the connection takes it.
        var isWaiting: Bool { if case .waiting = self { true } else { false } }

        /// Whether it waits until the device is active.
        var isDelayed: Bool { if case .delayed = self { true } else { false } }

        /// Whether a message may go from this state to another one. What is stored stays so.
        func mayBecome(_ next: State) -> Bool {
            switch (self, next) {
            case (.waiting(let wasStored), .waiting(let isStored)),
                (.waiting(let wasStored), .delayed(let isStored)),
                (.delayed(let wasStored), .waiting(let isStored)):
                isStored || !wasStored
            case (.waiting, .throttled), (.waiting, .sent), (.waiting, .owingReceipt), (.sent, .owingReceipt),
                (.owingReceipt, .sent), (.throttled, .waiting(isStored: true)),
                (.sent, .waiting(isStored: true)), (.owingReceipt, .waiting(isStored: true)):
                true
            default: false
            }
        }

        /// The same once the store has it.
        var stored: State {
            switch self {
            case .waiting: .waiting(isStored: true)
            case .delayed: .delayed(isStored: true)
            case .throttled, .sent, .owingReceipt: self
            }
        }

        /// The same for the next connection, which has been handed nothing.
        var unhanded: State {
            switch self {
            case .waiting(let isStored), .delayed(let isStored): .waiting(isStored: isStored)
            case .throttled, .sent: .waiting(isStored: true)
            case .owingReceipt: self
            }
        }
    }

    var entry: MailboxEntry
    var state: State
    /// Whether the rate of its app has been charged for it.
    var isCounted = false

    /// Whether it is one of those that the device has and has not acknowledged. A report is none: reports have a bound of their own,
    /// and a device cannot name them when it logs in, since they carry the ID of its own message (mcs-device 4.4).
    var isUnacknowledged: Bool { state == .sent && entry.kind != .sendError }

    /// Whether it counts towards the cap of messages without collapse key.
    var isPlain: Bool { entry.kind == .message && entry.collapseKey == nil }
}

/// What waits for one device, oldest first: the index of what the store holds.
struct Mailbox {
    private(set) var slots: [MailboxSlot] = []

    /// Place of a message in `slots`.
    func index(of sequence: Sequence) -> Int? {
        guard let first = slots.first else { return nil }
        if first.entry.sequence == sequence { return 0 }
        let at = lowerBound(sequence)
        return at < slots.count && slots[at].entry.sequence == sequence ? at : nil
    }

    /// Place of the first message at or after a sequence.
    func lowerBound(_ sequence: Sequence) -> Int {
        var low = 0
        var high = slots.count
        while low < high {
            let middle = (low &+ high) / 2
            if slots[middle].entry.sequence < sequence { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// Adds a message; sequences grow, so it goes last.
    mutating func append(_ slot: MailboxSlot) {
        slots.append(slot)
    }

    /// Takes a message out.
    mutating func remove(at index: Int) -> MailboxSlot { slots.remove(at: index) }

    /// Notes that the store has it.
    mutating func setStored(at index: Int) { slots[index].state = slots[index].state.stored }

    /// Notes that the rate of its app has been charged for it.
    mutating func setCounted(at index: Int) { slots[index].isCounted = true }

    /// Moves a message to another state.
    mutating func setState(_ state: MailboxSlot.State, at index: Int) { slots[index].state = state }

    /// Whether the store holds a message after a place that the connection has not been given.
    func hasStored(after sequence: Sequence) -> Bool {
        var at = slots.count
        while at > 0 {
            at -= 1
            guard slots[at].entry.sequence > sequence else { return false }
            if slots[at].state == .waiting(isStored: true) { return true }
        }
        return false
    }

    /// The newest message that the store has confirmed.
    var newestStored: Sequence? { slots.last { $0.state.isStored }?.entry.sequence }

    /// Empties it.
    mutating func removeAll() { slots.removeAll() }
}
