import Basics

/// The numbers of scheduled messages of a partition, for their limits alone: what is due is found by the search for expired messages.
///
/// They are counted in the store when the first message with a time is submitted, and again after a failed batch. Until then only what
/// is added counts, so that a message is never refused for a number that is not known.
struct ScheduleCounts {
    /// What is known of the entries in the store.
    private enum State {
        /// Not counted, or not any more.
        case unknown
        /// Being counted, after this entry. `isStale`: a batch has failed since, so that the answer does not count.
        case counting(after: ScheduledMessage?, isStale: Bool)
        case known
    }

    private var state = State.unknown
    private var counts: [SenderID: Int] = [:]
    /// The number of all.
    private(set) var total = 0
    /// What was added or removed while the entries are counted.
    private var changed: Set<ScheduledMessage> = []
    /// When it was last begun to count.
    private var countedAt = Instant.distantPast

    /// The number of a sender's messages.
    func count(of sender: SenderID) -> Int { counts[sender] ?? 0 }

    mutating func add(_ entry: ScheduledMessage) { change(entry, by: 1) }

    mutating func remove(_ entry: ScheduledMessage) { change(entry, by: -1) }

    private mutating func change(_ entry: ScheduledMessage, by change: Int) {
        switch state {
        case .unknown: return
        case .counting(let after, _):
            let isCounted = changed.contains(entry) || after.map { entry <= $0 } ?? false
            changed.insert(entry)
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

    /// Begins to count if that is necessary, or if a limit is reached and the last count is old. Returns whether a query is to be made.
    mutating func begin(isFull: Bool, _ now: Instant) -> Bool {
        switch state {
        case .counting: return false
        case .known where !isFull || countedAt.advanced(seconds: Limits.Schedule.countSeconds) > now:
            return false
        case .known, .unknown: break
        }
        if case .known = state { forget() }
        countedAt = now
        state = .counting(after: nil, isStale: false)
        return true
    }

    /// A batch has failed: what is in the store is not known any more.
    mutating func failed() {
        forget()
        if case .counting(let after, _) = state {
            state = .counting(after: after, isStale: true)
        } else {
            state = .unknown
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
        guard case .counting(_, let isStale) = state else { return (false, nil) }
        guard !isStale else {
            state = .unknown
            return (true, nil)
        }
        for entry in entries where !changed.contains(entry) { count(entry.sender, by: 1) }
        guard !isLast, let last = entries.last else {
            state = .known
            changed = []
            return (true, nil)
        }
        state = .counting(after: last, isStale: false)
        return (true, last)
    }

    /// The query has failed; the next message with a time repeats it. Returns whether it was asked.
    mutating func findFailed() -> Bool {
        guard case .counting = state else { return false }
        forget()
        state = .unknown
        return true
    }
}
