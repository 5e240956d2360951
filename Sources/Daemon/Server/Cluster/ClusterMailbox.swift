import Basics
import Delivery
import Transport

/// What reactors pass to the thread of the cluster in one turn.
struct ClusterParcel: ThreadParcel {
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

/// The mailbox of the thread of the cluster. Windows limit what sessions have in flight, and the store limits its writes.
typealias ClusterMailbox = ThreadMailbox<ClusterParcel>
