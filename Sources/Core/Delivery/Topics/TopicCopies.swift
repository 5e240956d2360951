import Basics

/// The topic messages of a partition's senders that not all partitions have in their logs, and what each partition has.
struct TopicCopies {
    /// What is known of a partition.
    private struct Target {
        enum State {
            /// Nothing is passed on to it.
            case idle
            /// It has been passed on messages, and has not answered.
            case awaiting
            /// It could not store what it was passed on.
            case waiting(until: Instant)
        }

        var state = State.idle
        /// It has all messages up to this one.
        var through = SequenceNumber(0)
    }

    /// Ascending by number.
    private var messages: [TopicMessage] = []
    private var targets: [Target]
    private var counts: [SenderID: Int] = [:]
    /// Messages whose batch is not on disk yet, by sender.
    private var announcements: [SenderID: Int] = [:]

    init(partitions: Int) { targets = Array(repeating: Target(), count: partitions) }

    /// Number of messages that are on disk.
    var stored: Int { messages.count }

    /// Number of messages.
    var count: Int { messages.count + announcements.values.reduce(0, +) }

    /// Returns the number of a sender's messages.
    func count(of sender: SenderID) -> Int { (counts[sender] ?? 0) + (announcements[sender] ?? 0) }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        if counts.values.reduce(0, +) != messages.count { return "wrong counts of topic messages by sender" }
        let isAscending = zip(messages, messages.dropFirst()).allSatisfy {
            $0.name.sequence < $1.name.sequence
        }
        return isAscending ? nil : "topic messages are out of order"
    }

    // MARK: Messages

    /// A message of a sender is being stored.
    mutating func announce(_ sender: SenderID) { announcements[sender, default: 0] += 1 }

    /// A message of a sender is on disk, or could not be stored.
    mutating func announced(_ sender: SenderID) {
        let count = announcements[sender] ?? 0
        announcements[sender] = count > 1 ? count - 1 : nil
    }

    /// Adds a message that is on disk. Returns `false` if it is not the newest.
    mutating func add(_ message: TopicMessage) -> Bool {
        guard messages.last.map({ $0.name.sequence < message.name.sequence }) ?? true else { return false }
        messages.append(message)
        counts[message.name.sender, default: 0] += 1
        return true
    }

    /// Adds the messages of earlier processes, ascending, before all others. Returns how many there are.
    mutating func resume(_ found: [TopicMessage]) -> Int {
        messages = found + messages
        messages.sort { $0.name.sequence < $1.name.sequence }
        for message in found { counts[message.name.sender, default: 0] += 1 }
        return found.count
    }

    // MARK: Partitions

    /// Returns what is to be passed on to a partition now, which then has to answer.
    mutating func next(for partition: Int) -> [TopicMessage] {
        guard case .idle = targets[partition].state else { return [] }
        let through = targets[partition].through
        guard let last = messages.last, last.name.sequence > through else { return [] }
        targets[partition].state = .awaiting
        return Array(messages[firstIndex(after: through)...].prefix(Limits.Topic.copiedAtOnce))
    }

    private func firstIndex(after sequence: SequenceNumber) -> Int {
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].name.sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Records the answer of a partition. Returns `false` if none is expected from it.
    mutating func answered(by partition: Int, through last: SequenceNumber?, retryAt: Instant) -> Bool {
        guard targets.indices.contains(partition), case .awaiting = targets[partition].state else {
            return false
        }
        if let last {
            targets[partition].through = max(targets[partition].through, last)
            targets[partition].state = .idle
        } else {
            targets[partition].state = .waiting(until: retryAt)
        }
        return true
    }

    /// Has those passed on again that could not be stored, if it is time.
    mutating func retry(_ now: Instant) {
        for at in targets.indices {
            if case .waiting(let until) = targets[at].state, until <= now { targets[at].state = .idle }
        }
    }

    /// Removes and returns the messages that all partitions have.
    mutating func takeFinished() -> [TopicMessageName] {
        guard let through = targets.map(\.through).min() else { return [] }
        let end = firstIndex(after: through)
        guard end > 0 else { return [] }
        let finished = messages[..<end].map(\.name)
        messages.removeFirst(end)
        for name in finished {
            let count = counts[name.sender] ?? 0
            counts[name.sender] = count > 1 ? count - 1 : nil
        }
        return finished
    }
}
