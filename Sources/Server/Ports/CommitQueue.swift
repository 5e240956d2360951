import Basics
import Delivery

/// Batches that wait for the next commit.
struct CommitQueue {
    /// To whom the outcome of a batch is reported.
    enum Listener {
        /// A partition, by an event.
        case partition(Int)
        /// The caller that waits for just this one.
        case caller(@Sendable (CommitOutcome) -> Void)
    }

    /// A batch and who hears of it.
    struct Entry {
        var batch: WriteBatch
        var listener: Listener
        /// What it counts against the limits: an empty batch is still work.
        var weight: Int { max(1, batch.mutations.count) }
    }

    private(set) var entries: [Entry] = []
    private var waitingWrites = 0
    private var durable = 0
    /// When lazy batches stop to wait for a durable one.
    private var lazyEnd = Instant.distantFuture
    /// No attempt before, after a failure.
    var pausedUntil = Instant.distantPast
    /// Everything that waits is committed without more ado, and nothing more is taken.
    var isStopping = false

    /// Takes a batch; false where it must be refused.
    mutating func add(_ entry: Entry) -> Bool {
        guard !isStopping, waitingWrites + entry.weight <= Limits.Store.waitingWrites else { return false }
        entries.append(entry)
        waitingWrites += entry.weight
        if entry.batch.isDurable {
            durable += 1
        } else if lazyEnd == .distantFuture {
            lazyEnd = Now.read().monotonic.advanced(milliseconds: Int64(Limits.Store.lazyCommitMilliseconds))
        }
        return true
    }

    /// Sees to it that there is a next attempt after a failure, even where nobody has anything to write; whether there
    /// was none. An orchestrator sends nothing to a daemon that is not ready: nothing else would find out that it is again.
    mutating func ensureNext() -> Bool {
        guard entries.isEmpty else { return false }
        let nothing = WriteBatch(ticket: 0, mutations: [], isDurable: true)
        return add(Entry(batch: nothing, listener: .caller { _ in }))
    }

    /// What the committing thread does: the entries of the next commit, none at the end, or wait.
    mutating func next() -> Monitor<CommitQueue>.Step<[Entry]> {
        if entries.isEmpty { return isStopping ? .done([]) : .wait(until: .distantFuture) }
        if isStopping { return .done(take()) }
        if pausedUntil > .distantPast {
            if Now.read().monotonic < pausedUntil { return .wait(until: pausedUntil) }
            pausedUntil = .distantPast
        }
        let isWaiting = durable == 0 && waitingWrites < Limits.Store.writesPerCommit
        if isWaiting, Now.read().monotonic < lazyEnd { return .wait(until: lazyEnd) }
        return .done(take())
    }

    private mutating func take() -> [Entry] {
        var count = 0
        var weight = 0
        while count < entries.count,
            count == 0 || weight + entries[count].weight <= Limits.Store.writesPerCommit
        {
            weight += entries[count].weight
            count += 1
        }
        waitingWrites -= weight
        lazyEnd = .distantFuture
        guard count < entries.count else {
            durable = 0
            defer { entries = [] }
            return entries
        }
        let taken = Array(entries[..<count])
        entries.removeFirst(count)
        for entry in taken where entry.batch.isDurable { durable -= 1 }
        // What is left behind has waited long enough.
        lazyEnd = .distantPast
        return taken
    }
}
