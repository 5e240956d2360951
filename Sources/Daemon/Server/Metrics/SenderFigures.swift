import Basics
import Delivery
import Synchronization

/// The messages of each sender, with a bound on the number of senders that the metrics name.
///
/// A named sender has a series of its own. The messages of all others count as those of `other`, and stay there when their sender
/// gets a name, so that no counter ever falls. Names are given at once while there are free ones; then a sender that was busier than
/// a named one since the last ranking takes its place, and the series of the other one pauses.
struct SenderRanking {
    /// A sender's messages.
    private struct Entry {
        let sender: SenderID
        /// Counted while it had a name.
        var named = SenderCounts()
        /// Counted in all, for operators.
        var all = SenderCounts()
        /// Refused messages in the order of `Metric.refusalReasons`; empty if there are none.
        var refused: [Int] = []
        var isNamed: Bool
        /// Messages since the last ranking.
        var recent = 0
    }

    /// A row of the output.
    struct Row {
        /// `nil` stands for all senders without a name.
        var sender: SenderID?
        var counts: SenderCounts
    }

    private let names: Int
    private let capacity: Int
    private var entries: [Entry] = []
    /// The index of each sender in `entries`.
    private var places: [SenderID: Int] = [:]
    private var named = 0
    private var others = SenderCounts()
    private var ranksAt = Instant.distantPast

    /// Creates a table that names up to `names` senders, and remembers up to `capacity`.
    init(names: Int = Limits.Metrics.namedSenders, capacity: Int = Limits.Metrics.countedSenders) {
        self.names = names
        self.capacity = capacity
    }

    /// Counts messages of a sender.
    mutating func add(_ counts: SenderCounts, of sender: SenderID) {
        guard let at = place(of: sender) else { return others.add(counts) }
        entries[at].recent += counts.total
        entries[at].all.add(counts)
        if entries[at].isNamed { entries[at].named.add(counts) } else { others.add(counts) }
    }

    /// Counts the reason of refused messages, which are also among the counts of the sender.
    mutating func add(_ row: SenderTally.Refused) {
        guard let at = place(of: row.sender) else { return }
        if entries[at].refused.isEmpty {
            entries[at].refused = Array(repeating: 0, count: Metric.refusalReasons.count)
        }
        entries[at].refused[row.reason.position] += row.count
    }

    /// Returns the index of a sender, which is added if there is room.
    private mutating func place(of sender: SenderID) -> Int? {
        if let at = places[sender] { return at }
        guard entries.count < capacity else { return nil }
        entries.append(Entry(sender: sender, isNamed: named < names))
        if named < names { named += 1 }
        places[sender] = entries.count - 1
        return entries.count - 1
    }

    /// Gives the names to the busiest senders, at most once in `Limits.Metrics.rankingSeconds`.
    mutating func rank(now: Instant) {
        guard now >= ranksAt else { return }
        ranksAt = now.advanced(seconds: Limits.Metrics.rankingSeconds)
        // A sender keeps its name unless another one was busier; the ID decides between equal ones.
        let ranked = entries.indices.sorted { a, b in
            let (first, second) = (entries[a], entries[b])
            if first.recent != second.recent { return first.recent > second.recent }
            if first.isNamed != second.isNamed { return first.isNamed }
            return first.sender < second.sender
        }
        named = min(names, ranked.count)
        for (place, at) in ranked.enumerated() {
            entries[at].isNamed = place < names
            entries[at].recent = 0
        }
    }

    /// The messages of a sender. Returns `nil` if there are none, or too many other senders had some before.
    func sums(of sender: SenderID) -> SenderFigures.Sums? {
        places[sender].map { SenderFigures.Sums(counts: entries[$0].all, refused: entries[$0].refused) }
    }

    /// The rows of the named senders by ID, then that of all others.
    var rows: [Row] {
        let shown = entries.filter { $0.isNamed }.sorted { $0.sender < $1.sender }
        return shown.map { Row(sender: $0.sender, counts: $0.named) } + [Row(sender: nil, counts: others)]
    }
}

/// The messages of each sender, for all threads.
final class SenderFigures: Sendable {
    private let ranking = Mutex(SenderRanking())

    /// The messages of a sender since the start.
    struct Sums {
        var counts = SenderCounts()
        /// Refused messages in the order of `Metric.refusalReasons`; empty if there are none.
        var refused: [Int] = []
    }

    /// Adds the messages of a turn.
    func add(_ tally: SenderTally) {
        ranking.withLock { ranking in
            for row in tally.rows { ranking.add(row.counts, of: row.sender) }
            for row in tally.refused { ranking.add(row) }
        }
    }

    /// The messages of a sender. Returns `nil` if there are none, or too many other senders had some before.
    func sums(of sender: SenderID) -> Sums? { ranking.withLock { $0.sums(of: sender) } }

    /// Returns the rows of the busiest senders and of all others.
    func rows(now: Instant) -> [SenderRanking.Row] {
        ranking.withLock { ranking in
            ranking.rank(now: now)
            return ranking.rows
        }
    }

    /// Returns the lines of the metric.
    func series(now: Instant) -> [MetricSeries] {
        rows(now: now).flatMap { row in
            SenderCount.allCases.map { kind in
                let (milestone, isUpstream) = kind.meaning
                return MetricSeries(
                    .senderMessages,
                    labels: [
                        row.sender.map { "\($0.number)" } ?? "other", Metric.directions[isUpstream ? 1 : 0],
                        milestone.rawValue,
                    ], row.counts[kind])
            }
        }
    }
}
