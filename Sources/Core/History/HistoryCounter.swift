public import Basics
import Delivery

/// Counts the outcomes of messages, block by block. Blocks never change, so each is read once.
public struct HistoryCounter: Sendable {
    /// What was counted of a file, from its first block on.
    private struct Counted {
        var blocks = 0
        var totals = HistoryTotals()
        /// Blocks that were damaged.
        var damaged = 0
        /// Searches for the senders of messages of which a block has the end alone.
        var searches = 0
    }

    /// The counts of one day.
    public struct Day: Sendable, Equatable {
        /// Midnight in UTC.
        public var start: UnixMilliseconds
        public var counts: OutcomeCounts

        /// Creates the counts of a day.
        public init(start: UnixMilliseconds, counts: OutcomeCounts) {
            self.start = start
            self.counts = counts
        }
    }

    private var files: [UInt64: Counted] = [:]
    /// Counts of all files.
    private var entries = 0

    /// Starts without counts.
    public init() {}

    /// Counts up to `limit` more blocks, those of the newest files first. Returns whether there are no more to count.
    public mutating func count(_ sources: [HistorySource], upTo limit: Int) -> Bool {
        let numbers = Set(sources.map(\.number))
        for number in files.keys where !numbers.contains(number) { remove(number) }
        var left = limit
        var search = HistorySearch(sources, blocks: .max)
        for source in sources.sorted(by: { $0.number > $1.number }) {
            while files[source.number]?.blocks ?? 0 < source.blockCount {
                guard left > 0 else { return false }
                guard makeRoom(for: source.number) else { return true }
                left -= 1
                countBlock(of: source, &search, &left)
            }
        }
        return true
    }

    /// Removes the counts of older files until there is room. Returns whether there is.
    private mutating func makeRoom(for number: UInt64) -> Bool {
        while entries >= Limits.History.countedEntries {
            guard let oldest = files.keys.min(), oldest < number else { return false }
            remove(oldest)
        }
        return true
    }

    private mutating func remove(_ number: UInt64) {
        guard let counted = files.removeValue(forKey: number) else { return }
        entries -= counted.totals.entries
    }

    private mutating func countBlock(
        of source: HistorySource, _ search: inout HistorySearch, _ left: inout Int
    ) {
        var counted = files.removeValue(forKey: source.number) ?? Counted()
        let before = counted.totals.entries
        do throws(HistoryDamage) {
            for record in try source.records(counted.blocks) {
                var sender = record.sender
                if sender == 0, record.end != nil, counted.searches < Limits.History.searchesPerFile {
                    counted.searches += 1
                    left -= 1
                    sender = search.sender(of: record)
                }
                counted.totals.add(record, of: sender)
            }
        } catch { counted.damaged += 1 }
        counted.blocks += 1
        entries += counted.totals.entries - before
        files[source.number] = counted
    }

    // MARK: Answers

    /// Returns the counts of a sender, or of all, by day, newest first.
    public func days(of sender: SenderID?, from start: UnixMilliseconds) -> [Day] {
        var sums: [Int: OutcomeCounts] = [:]
        let first = HistoryTotals.day(of: start)
        for (key, counts) in files.values.lazy.flatMap(\.totals.counts) where key.day >= first {
            guard sender == nil || key.sender == sender?.number else { continue }
            sums[key.day, default: OutcomeCounts()].add(counts)
        }
        return sums.sorted { $0.key > $1.key }.map {
            Day(start: UnixMilliseconds($0.key) * 86_400_000, counts: $0.value)
        }
    }

    /// Returns the topics of a sender, or of all, to which messages were sent, those that have reached most first.
    public func topics(of sender: SenderID?, from start: UnixMilliseconds) -> [TopicSum] {
        var sums: [CountedTopic: TopicCounts] = [:]
        let first = HistoryTotals.day(of: start)
        for (key, counts) in files.values.lazy.flatMap(\.totals.topics) where key.day >= first {
            guard sender == nil || key.topic.sender == sender?.number else { continue }
            sums[key.topic, default: TopicCounts()].add(counts)
        }
        return sums.map { TopicSum($0, messages: $1.messages, reached: $1.reached) }.most
    }

    /// How many messages ended of which the sender is not known.
    public func unattributed(from start: UnixMilliseconds) -> Int {
        let first = HistoryTotals.day(of: start)
        return files.values.lazy.flatMap(\.totals.counts).filter { $0.key.sender == 0 && $0.key.day >= first }
            .reduce(0) { sum, item in
                HistoryOutcome.allCases.reduce(sum) { $0 + ($1 == .accepted ? 0 : item.value[$1]) }
            }
    }

    /// From when on everything is counted. Returns `nil` if nothing is.
    public func completeSince(_ sources: [HistorySource]) -> UnixMilliseconds? {
        var since: UnixMilliseconds?
        for source in sources.sorted(by: { $0.number > $1.number }) where source.blockCount > 0 {
            guard files[source.number]?.blocks ?? 0 >= source.blockCount else { return since }
            since = min(source.first, since ?? source.first)
        }
        return since
    }

    /// How many blocks could not be read.
    public var damaged: Int { files.values.reduce(0) { $0 + $1.damaged } }
}
