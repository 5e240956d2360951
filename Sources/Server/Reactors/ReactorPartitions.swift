import Basics
import Delivery

/// The partitions of one reactor, and what they want done in this turn.
///
/// A turn costs what happens in it: partitions without an event in a turn are not looked at.
final class ReactorPartitions {
    /// One partition.
    final class Hosted {
        let number: Int
        var core: Partition
        /// What it wants done; empty between turns.
        var effects = Effects()
        /// Whether it had an event in this turn.
        fileprivate var isActive = false

        fileprivate init(_ number: Int, _ core: consuming Partition) {
            self.number = number
            self.core = core
        }

        /// Whether it has something for sessions or for other partitions.
        var hasNews: Bool { !effects.commands.isEmpty || !effects.forwards.isEmpty }

        /// Takes that out, with its storage.
        func takeNews() -> (commands: [(ConnectionID, SessionCommand)], forwards: [Event]) {
            var news: (commands: [(ConnectionID, SessionCommand)], forwards: [Event]) = ([], [])
            swap(&news.commands, &effects.commands)
            swap(&news.forwards, &effects.forwards)
            return news
        }

        /// Gives the storage back, unless something new is there.
        func giveBack(_ commands: inout [(ConnectionID, SessionCommand)], _ forwards: inout [Event]) {
            if effects.commands.isEmpty {
                commands.removeAll(keepingCapacity: true)
                swap(&commands, &effects.commands)
            }
            if effects.forwards.isEmpty {
                forwards.removeAll(keepingCapacity: true)
                swap(&forwards, &effects.forwards)
            }
        }
    }

    /// The number of the first one.
    private let first: Int
    private let all: [Hosted]
    /// Those that had an event in this turn, in order of their first one.
    private(set) var active: [Hosted] = []

    /// The partitions of a range, each made by a call; the range may be empty.
    init(_ range: Range<Int>, make: (Int) -> Partition) {
        first = range.lowerBound
        all = range.map { Hosted($0, make($0)) }
        active.reserveCapacity(all.count)
    }

    /// How many there are.
    var count: Int { all.count }

    /// The first partition, which stands for all where they must agree; `nil` if there is none.
    var leader: Hosted? { all.first }

    /// Handles an event of a partition of this reactor.
    func handle(_ event: consuming Event, of partition: Int, now: Now) {
        handle(event, all[partition - first], now)
    }

    /// Handles an event that concerns every partition.
    func handleInAll(_ event: Event, now: Now) {
        for hosted in all { handle(event, hosted, now) }
    }

    /// Lets the partitions of a part tick: each is in one of `parts`.
    func tick(_ part: Int, of parts: Int, now: Now) {
        for at in stride(from: part, to: all.count, by: parts) { handle(.tick, all[at], now) }
    }

    private func handle(_ event: consuming Event, _ hosted: Hosted, _ now: Now) {
        if !hosted.isActive {
            hosted.isActive = true
            active.append(hosted)
        }
        #if DEBUG
            let key = event.key
        #endif
        hosted.core.handle(event, now: now, effects: &hosted.effects)
        #if DEBUG
            if let words = hosted.core.violation(of: key) { preconditionFailure(words) }
        #endif
    }

    /// Takes the changes of this turn, a batch for each partition that has any.
    func takeBatches() -> [PartitionBatch] {
        var batches: [PartitionBatch] = []
        for hosted in active where !hosted.effects.mutations.isEmpty {
            if let batch = hosted.core.endTurn(effects: &hosted.effects) {
                batches.append(PartitionBatch(partition: hosted.number, batch))
            }
        }
        return batches
    }

    /// Takes the questions of this turn.
    func takeLoads() -> [PartitionLoad] {
        var loads: [PartitionLoad] = []
        for hosted in active where !hosted.effects.loads.isEmpty {
            for load in hosted.effects.loads { loads.append(PartitionLoad(partition: hosted.number, load)) }
            hosted.effects.loads.removeAll(keepingCapacity: true)
        }
        return loads
    }

    /// Ends the turn: what was wanted has been done.
    func endTurn() {
        for hosted in active {
            assert(!hosted.hasNews && hosted.effects.mutations.isEmpty, "something is left undone")
            hosted.isActive = false
        }
        active.removeAll(keepingCapacity: true)
    }

    /// Messages to topics that are under way, up to `limit` of them, and how many there are.
    func runningTopics(limit: Int) -> (jobs: [TopicJob], count: Int) {
        var found: (jobs: [TopicJob], count: Int) = ([], 0)
        for hosted in all {
            let running = hosted.core.runningTopics(limit: limit)
            found.jobs += running.jobs
            found.count += running.count
        }
        found.jobs = Array(found.jobs.sorted { $0.name < $1.name }.prefix(limit))
        return found
    }
}
