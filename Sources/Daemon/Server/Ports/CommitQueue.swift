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

        /// The partition that gets the outcome; `nil` if its batches need no order: others than a partition have one at a time, and a log
        /// has theirs.
        var partition: Int? { if case .partition(let partition) = self { partition } else { nil } }
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
    /// The order of the partitions with failed batches.
    private var orders: [Int: BatchOrder] = [:]
    private var waitingWrites = 0
    private var prompt = 0
    /// When lazy batches stop waiting for a durable one and are committed.
    private var lazyEnd = Instant.distantFuture
    /// The time of the next attempt after a failure.
    var pausedUntil: Instant?
    /// Whether the queue is stopping: waiting batches are committed at once, and new ones are refused.
    var isStopping = false

    /// Adds a batch. Returns its outcome if it is refused.
    mutating func add(_ entry: Entry) -> CommitOutcome? {
        if let partition = entry.listener.partition,
            !orders[partition, default: BatchOrder()].allows(entry.batch)
        {
            return .failed(entry.batch.batchNumber)
        }
        guard !isStopping, entry.isConfirmed || waitingWrites + entry.weight <= Limits.Store.waitingWrites
        else { return fail(entry.batch.batchNumber, entry.listener) }
        entries.append(entry)
        waitingWrites += entry.weight
        if entry.isPrompt {
            prompt += 1
        } else if lazyEnd == .distantFuture {
            lazyEnd = Now.read().monotonic.advanced(milliseconds: Int64(Limits.Store.lazyCommitMilliseconds))
        }
        return nil
    }

    /// Returns the outcome of a batch that has failed by itself.
    private mutating func fail(_ batchNumber: UInt64, _ listener: Listener) -> CommitOutcome {
        guard let partition = listener.partition else { return .failed(batchNumber) }
        return orders[partition, default: BatchOrder()].fail(batchNumber)
    }

    /// Completes the outcomes of the failed batches of a commit, and removes and appends the waiting batches that fail with them.
    mutating func fail(_ listeners: inout [Listener], _ outcomes: inout [CommitOutcome]) {
        var partitions: Set<Int> = []
        for (index, listener) in listeners.enumerated() where outcomes[index].hasFailed {
            outcomes[index] = fail(outcomes[index].batchNumber, listener)
            if let partition = listener.partition { partitions.insert(partition) }
        }
        entries.removeAll { entry in
            guard let partition = entry.listener.partition, partitions.contains(partition) else {
                return false
            }
            waitingWrites -= entry.weight
            if entry.isPrompt { prompt -= 1 }
            listeners.append(entry.listener)
            outcomes.append(.failed(entry.batch.batchNumber))
            return true
        }
    }

    /// Adds an empty batch if none waits, so that a commit is retried after a failure. Returns whether one was added.
    ///
    /// An orchestrator sends no traffic to a daemon that is not ready, so nothing else would detect the recovery.
    mutating func ensureNext() -> Bool {
        guard entries.isEmpty else { return false }
        let nothing = WriteBatch(batchNumber: 0, mutations: [], isDurable: true)
        return add(Entry(batch: nothing, listener: .caller { _ in })) == nil
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
