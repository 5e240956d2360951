import Basics
import Store

/// The recent messages as the committing thread sees them.
///
/// Most messages are removed a moment after they were put. They are in the journal and in memory. Once the journal has grown by
/// `Limits.Journal.recentBytes`, the messages that are left move to the engine, oldest commit first. The IDs of upstream messages
/// stay here until the engine has them on the disk, since its memtable for them is unsorted (`EngineOptions`).
struct RecentIndex: Sendable {
    /// A recent message.
    struct Entry: Sendable {
        var header: MessageRecord.Header
        /// The commit that put it.
        var commit: UInt64
    }

    private struct Seen: Sendable {
        var time: UnixMilliseconds
        var commit: UInt64
    }

    /// A commit whose messages have not been moved to the engine.
    private struct Mark: Sendable {
        var commit: UInt64
        var puts: Int
        var seen: Int
        var bytes: Int
    }

    private var entries: [MessageKey: Entry] = [:]
    private var seen: [SeenKey: Seen] = [:]
    private var marks = Fifo<Mark>()
    private var putKeys = Fifo<MessageKey>()
    private var putSeen = Fifo<(key: SeenKey, time: UnixMilliseconds)>()
    private var movedSeen = Fifo<(key: SeenKey, commit: UInt64)>()
    /// Number of messages and IDs that the current commit has put.
    private var made = (puts: 0, seen: 0)
    /// The highest sequence of all recent messages of each partition so far. Sequences ascend in a partition only: compared with
    /// those of all, most new messages would need a lookup.
    private var highest: [UInt64]
    /// Size of the journal frames whose messages have not been moved to the engine, in bytes.
    private(set) var bytes = 0

    /// The last commit that was ended, and the last one whose messages were moved to the engine.
    private var ended: UInt64 = 0
    private var applied: UInt64 = 0

    /// Creates an index without messages for a number of partitions.
    init(partitions: Int) { highest = Array(repeating: 0, count: partitions) }

    /// Returns whether a message may be here, by its partition and sequence.
    func mayContain(_ sequence: UInt64, in partition: Int) -> Bool { sequence <= highest[partition] }

    /// The recent message with a key. `nil` if there is none.
    subscript(messageKey: MessageKey) -> Entry? { entries[messageKey] }

    /// The time at which an upstream message was put. `nil` if its ID is not here.
    subscript(key: SeenKey) -> UnixMilliseconds? { seen[key]?.time }

    /// Adds a message of the current commit.
    mutating func put(
        _ messageKey: MessageKey, in partition: Int, _ header: MessageRecord.Header, commit: UInt64
    ) throws(StoreError) {
        try demand(commit > ended, "a message is put by a commit that has already ended", "\(messageKey)")
        let found = entries.updateValue(Entry(header: header, commit: commit), forKey: messageKey)
        try demand(found == nil, "a message is put under the key of a recent message", "\(messageKey)")
        putKeys.append(messageKey)
        highest[partition] = max(highest[partition], messageKey.sequence)
        made.puts += 1
    }

    /// Removes a message and returns it. Returns `nil` if it is not a recent message.
    @discardableResult mutating func remove(_ messageKey: MessageKey) -> Entry? {
        guard let index = entries.index(forKey: messageKey) else { return nil }
        return entries.remove(at: index).value
    }

    /// Adds the ID of an upstream message of the current commit.
    mutating func put(_ key: SeenKey, at time: UnixMilliseconds, commit: UInt64) {
        seen[key] = Seen(time: time, commit: commit)
        putSeen.append((key, time))
        made.seen += 1
    }

    /// Ends the current commit, whose frame has a size in bytes.
    mutating func end(_ commit: UInt64, bytes: Int) throws(StoreError) {
        try demand(commit > ended, "commits do not end in order")
        try demand(bytes > 0, "a commit has no bytes")
        ended = commit
        marks.append(Mark(commit: commit, puts: made.puts, seen: made.seen, bytes: bytes))
        self.bytes += bytes
        made = (0, 0)
    }

    /// The messages and IDs that are left of the oldest commits.
    struct Survivors: Sendable {
        /// The last of these commits. `nil` if there are none.
        var commit: UInt64?
        var keys: [MessageKey] = []
        var seen: [(key: SeenKey, time: UnixMilliseconds)] = []

        /// Whether nothing is left for the engine.
        var isEmpty: Bool { keys.isEmpty && seen.isEmpty }
    }

    /// Removes the oldest commits until up to `limit` bytes are left. Returns what is left of them.
    mutating func evict(to limit: Int) throws(StoreError) -> Survivors {
        var left = Survivors()
        while bytes > limit, let mark = marks.first {
            marks.removeFirst()
            try demand(mark.commit > applied, "commits do not leave memory in order")
            applied = mark.commit
            bytes -= mark.bytes
            try demand(bytes >= 0, "the size of the recent commits is negative")
            left.commit = mark.commit
            for _ in 0..<mark.puts {
                let messageKey = try demand(
                    putKeys.popFirst(), "the queue of recent messages is shorter than its commits")
                // A message that was removed and put again belongs to a later commit.
                guard entries[messageKey]?.commit == mark.commit else { continue }
                entries[messageKey] = nil
                left.keys.append(messageKey)
            }
            for _ in 0..<mark.seen {
                let put = try demand(
                    putSeen.popFirst(), "the queue of upstream IDs is shorter than its commits")
                left.seen.append(put)
                movedSeen.append((put.key, mark.commit))
            }
        }
        try demand(
            bytes == 0 || marks.first != nil, "the size of the recent commits is not zero without commits")
        return left
    }

    /// Removes up to `count` IDs that the engine has on the disk, up to a commit.
    mutating func forget(upTo commit: UInt64, atMost count: Int) {
        for _ in 0..<count {
            guard let first = movedSeen.first, first.commit <= commit else { return }
            movedSeen.removeFirst()
            guard let index = seen.index(forKey: first.key) else { continue }
            // An ID that was put again after a day stays: the engine does not have the later one yet.
            if seen.values[index].commit == first.commit { seen.remove(at: index) }
        }
    }
}

/// A first-in, first-out queue that frees the storage of removed elements.
struct Fifo<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var start = 0

    var first: Element? { start < elements.count ? elements[start] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes the oldest element and returns it. Returns `nil` if the queue is empty.
    mutating func popFirst() -> Element? { first == nil ? nil : removeFirst() }

    /// Removes the oldest element and returns it. Traps if the queue is empty.
    @discardableResult mutating func removeFirst() -> Element {
        let element = elements[start]
        start += 1
        // Each element is moved at most once for each removed one.
        if start * 2 > elements.count, start >= 1_024 {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }
}
