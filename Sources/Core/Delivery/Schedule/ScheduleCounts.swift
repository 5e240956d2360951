import Basics

/// The numbers of scheduled messages of a partition, for their limits alone: what is due is found by the search for expired messages.
///
/// They are counted in the store when the first message with a time is submitted, and again after a failed batch: what the store has, with
/// the changes that it has not confirmed. Until then only what is added counts, so that a message is never refused for a number that is not
/// known.
struct ScheduleCounts {
    /// What is known of the entries in the store.
    private enum State {
        /// Not counted, or not any more.
        case unknown
        /// Being counted, after this entry.
        case counting(after: ScheduledMessage?)
        /// A query is open, but its answer does not count: a batch has failed since.
        case stale
        case known
    }

    private var state = State.unknown
    private var counts: [SenderID: Int] = [:]
    /// The number of all.
    private(set) var total = 0
    /// The places of entries that were added or removed since a time before the query: what the store has of them does not count.
    private var changed: Set<ScheduledMessage> = []
    /// When it was last begun to count.
    private var countedAt = Instant.distantPast

    /// The number of a sender's messages.
    func count(of sender: SenderID) -> Int { counts[sender] ?? 0 }

    mutating func add(_ entry: ScheduledMessage) { change(entry, by: 1) }

    mutating func remove(_ entry: ScheduledMessage) { change(entry, by: -1) }

    private mutating func change(_ entry: ScheduledMessage, by change: Int) {
        switch state {
        case .unknown, .stale: return
        case .counting(let after):
            let isCounted = changed.contains(entry.place) || after.map { entry <= $0 } ?? false
            changed.insert(entry.place)
            // It is passed over when it is found.
            guard isCounted || change > 0 else { return }
        case .known: break
        }
        count(entry.sender, by: change)
    }

    private mutating func count(_ sender: SenderID, by change: Int) {
        let count = max(0, (counts[sender] ?? 0) + change)
        total += count - (counts[sender] ?? 0)
        counts[sender] = count > 0 ? count : nil
    }

    /// Whether to count now: if the numbers are not known, or a limit is reached and the last count is old.
    func isDue(isFull: Bool, _ now: Instant) -> Bool {
        switch state {
        case .counting, .stale: false
        case .unknown: true
        case .known: isFull && countedAt.advanced(seconds: Limits.Schedule.countSeconds) <= now
        }
    }

    /// Begins to count, with the mutations that the store has not confirmed: a query may be answered before they are on disk. The first
    /// query is to be made.
    mutating func begin(with open: [Mutation], _ now: Instant) {
        forget()
        countedAt = now
        state = .counting(after: nil)
        var added: [ScheduledMessage: ScheduledMessage] = [:]
        for mutation in open {
            switch mutation {
            case .putSchedule(let entry):
                added[entry.place] = entry
                add(entry)
            case .removeSchedule(let device, let sequence, let dueAt):
                let place = ScheduledMessage(
                    dueAt: dueAt, device: device, sequence: sequence, sender: SenderID(0))
                remove(added.removeValue(forKey: place) ?? place)
            default: break
            }
        }
    }

    /// What is in the store is not known any more: a batch has failed, or the store had an entry of no message.
    mutating func invalidate() {
        forget()
        switch state {
        case .counting, .stale: state = .stale
        case .known, .unknown: state = .unknown
        }
    }

    private mutating func forget() {
        counts = [:]
        total = 0
        changed = []
    }

    /// Adds entries that the store has. Returns whether it asked for them, and where the next query begins; `nil` if none is to be made.
    mutating func found(_ entries: [ScheduledMessage], isLast: Bool) -> (
        wasAsked: Bool, next: ScheduledMessage?
    ) {
        switch state {
        case .unknown, .known: return (false, nil)
        case .stale:
            state = .unknown
            return (true, nil)
        case .counting: break
        }
        for entry in entries where !changed.contains(entry.place) { count(entry.sender, by: 1) }
        guard !isLast, let last = entries.last else {
            state = .known
            changed = []
            return (true, nil)
        }
        state = .counting(after: last)
        return (true, last)
    }

    /// The query has failed; the next message with a time repeats it. Returns whether it was asked.
    mutating func findFailed() -> Bool {
        switch state {
        case .unknown, .known: return false
        case .counting, .stale:
            forget()
            state = .unknown
            return true
        }
    }
}

extension ScheduledMessage {
    /// Its place on the schedule, without its sender.
    fileprivate var place: ScheduledMessage {
        ScheduledMessage(dueAt: dueAt, device: device, sequence: sequence, sender: SenderID(0))
    }
}
