import Basics
import Delivery
import Synchronization
import Transport

/// What reactors pass to the thread of the cluster in one turn.
struct ClusterParcel: Sendable {
    /// Events for partitions that this node does not own.
    var events: [Event] = []
    /// Commands for sessions of other nodes, and until when they may be performed.
    var commands: [(ConnectionID, SessionCommand)] = []
    var validUntil = Instant.distantFuture
    /// Batches of this node's partitions.
    var batches: [PartitionBatch] = []
    /// Batches of the control plane.
    var writes: [ControlWrite] = []
    /// What the store has applied.
    var applied: [AppliedReport] = []
    /// Control-plane work that must run on the thread of the cluster.
    var jobs: [@Sendable (ClusterHost) -> Void] = []

    var isEmpty: Bool {
        events.isEmpty && commands.isEmpty && batches.isEmpty && writes.isEmpty && applied.isEmpty
            && jobs.isEmpty
    }

    /// Adds what a reactor passes on.
    mutating func add(_ crossing: consuming Crossing) {
        guard !crossing.isEmpty else { return }
        events.append(contentsOf: crossing.events)
        commands.append(contentsOf: crossing.commands)
        validUntil = min(validUntil, crossing.validUntil)
    }

    /// Appends the items of another parcel.
    mutating func append(_ other: consuming ClusterParcel) {
        if isEmpty {
            self = other
            return
        }
        events.append(contentsOf: other.events)
        commands.append(contentsOf: other.commands)
        validUntil = min(validUntil, other.validUntil)
        batches.append(contentsOf: other.batches)
        writes.append(contentsOf: other.writes)
        applied.append(contentsOf: other.applied)
        jobs.append(contentsOf: other.jobs)
    }
}

/// A batch of the control plane.
struct ControlWrite: Sendable {
    var batch: WriteBatch
    var completed: @Sendable (CommitOutcome) -> Void
}

/// The queue through which other threads pass work to the thread of the cluster.
///
/// It is not bounded here: windows limit what sessions have in flight, and the store limits its writes.
final class ClusterMailbox: Sendable {
    private struct Inbox {
        var parcel = ClusterParcel()
        var isAwake = false
        /// Whether the thread has ended.
        var isClosed = false
    }

    private let inbox = Mutex(Inbox())
    private let handle: ReactorHandle

    /// Creates a mailbox that wakes this reactor.
    init(handle: ReactorHandle) { self.handle = handle }

    /// Adds a parcel; can be called on any thread. Returns `false` if the thread of the cluster has ended.
    @discardableResult
    func post(_ parcel: ClusterParcel) -> Bool {
        let (isTaken, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false) }
            inbox.parcel.append(parcel)
            defer { inbox.isAwake = true }
            return (true, !inbox.isAwake)
        }
        if mustWake { handle.wake() }
        return isTaken
    }

    /// Runs a job on the thread of the cluster; can be called on any thread.
    func post(_ job: @escaping @Sendable (ClusterHost) -> Void) {
        post(ClusterParcel(jobs: [job]))
    }

    /// Runs a query on the thread of the cluster. Returns the latch of its answer.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (ClusterHost) -> Answer) -> Latch<Answer> {
        let latch = Latch<Answer>()
        post { host in latch.fulfil(question(host)) }
        return latch
    }

    /// Takes no more work. Returns what is queued; only on the thread of the cluster.
    func close() -> ClusterParcel {
        inbox.withLock { $0.isClosed = true }
        return takeAll()
    }

    /// Removes and returns all queued work; only on the thread of the cluster.
    func takeAll() -> ClusterParcel {
        inbox.withLock { inbox in
            var taken = ClusterParcel()
            swap(&taken, &inbox.parcel)
            inbox.isAwake = false
            return taken
        }
    }
}
