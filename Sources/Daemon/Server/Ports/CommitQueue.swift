import Basics
import Delivery

/// The batches that wait for the next commit.
struct CommitQueue {
    /// The receiver of a batch's outcome.
    enum Listener {
        /// A partition, which gets an event.
        case partition(Int)
        /// A caller that waits for this batch only.
        case caller(@Sendable (CommitOutcome) -> Void)
        /// The log of a partition, from which the batch comes.
        case log(LogBatch)
    }

    /// What a batch of a log is to its replica.
    struct LogBatch {
        var partition: Int
        /// Whether this node has submitted it, so that its partition gets the outcome.
        var isOwn: Bool
        /// The position of the frame that it completes. `nil` if others of its frame follow.
        var completes: UInt64?
        /// A further receiver of the outcome.
        var completed: (@Sendable (CommitOutcome) -> Void)?
    }

    /// A batch with the receiver of its outcome.
    struct Entry {
        var batch: WriteBatch
        var listener: Listener
        /// The number of writes that count against the limits; an empty batch counts as one.
        var weight: Int { max(1, batch.mutations.count) }
        /// Whether the batch is confirmed by a log: it must be written, and waits for nothing.
        var isConfirmed: Bool { if case .log = listener { true } else { false } }
        /// Whether its commit must not wait for others.
        var isPrompt: Bool { batch.isDurable || isConfirmed }
    }

    private(set) var entries: [Entry] = []
    private var waitingWrites = 0
    private var prompt = 0
    /// When lazy batches stop waiting for a durable one and are committed.
    private var lazyEnd = Instant.distantFuture
    /// The time of the next attempt after a failure.
    var pausedUntil: Instant?
    /// Whether the queue is stopping: waiting batches are committed at once, and new ones are refused.
    var isStopping = false

    /// Adds a batch. Returns `false` if it is refused.
    mutating func add(_ entry: Entry) -> Bool {
        guard !isStopping, entry.isConfirmed || waitingWrites + entry.weight <= Limits.Store.waitingWrites
        else { return false }
        entries.append(entry)
        waitingWrites += entry.weight
        if entry.isPrompt {
            prompt += 1
        } else if lazyEnd == .distantFuture {
            lazyEnd = Now.read().monotonic.advanced(milliseconds: Int64(Limits.Store.lazyCommitMilliseconds))
        }
        return true
    }

    /// Adds an empty batch if none waits, so that a commit is retried after a failure. Returns whether one was added.
    ///
    /// An orchestrator sends no traffic to a daemon that is not ready, so nothing else would detect the recovery.
    mutating func ensureNext() -> Bool {
        guard entries.isEmpty else { return false }
        let nothing = WriteBatch(batchNumber: 0, mutations: [], isDurable: true)
        return add(Entry(batch: nothing, listener: .caller { _ in }))
    }

    /// Returns the next step of the committing thread: the entries of the next commit, no entries at the end, or waiting.
    mutating func next() -> Monitor<CommitQueue>.Step<[Entry]> {
        if entries.isEmpty { return isStopping ? .done([]) : .wait(until: .distantFuture) }
        if isStopping { return .done(popCommit()) }
        if let end = pausedUntil {
            if Now.read().monotonic < end { return .wait(until: end) }
            pausedUntil = nil
        }
        let isWaiting = prompt == 0 && waitingWrites < Limits.Store.writesPerCommit
        if isWaiting, Now.read().monotonic < lazyEnd { return .wait(until: lazyEnd) }
        return .done(popCommit())
    }

    /// Removes and returns the entries of the next commit.
    private mutating func popCommit() -> [Entry] {
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
            prompt = 0
            defer { entries = [] }
            return entries
        }
        let taken = Array(entries[..<count])
        entries.removeFirst(count)
        for entry in taken where entry.isPrompt { prompt -= 1 }
        // The remaining batches have waited long enough.
        lazyEnd = .distantPast
        return taken
    }
}
