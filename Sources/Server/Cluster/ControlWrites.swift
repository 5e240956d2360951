import Basics
import Cluster
import ClusterLog
import Delivery
import Transport

/// Batches of the control plane that other nodes write, until their outcomes come, and those whose partition has no owner at the moment.
struct ControlWrites {
    /// A batch that waits for an owner.
    struct Held {
        var write: ControlWrite
        var partition: Int
        /// Whether another owner may write it: one of another node is never passed on, since two nodes could take each other for the
        /// owner.
        var mayLeave: Bool
        var until: Instant
    }

    private struct Open {
        var node: NodeNumber
        var partition: Int
        var completed: @Sendable (CommitOutcome) -> Void
        var until: Instant
    }

    /// A batch that its owner has written, and that this node has not applied.
    private struct Written {
        var partition: Int
        var position: LogPosition
        var completed: @Sendable (CommitOutcome) -> Void
        var until: Instant
    }

    private var open: [UInt64: Open] = [:]
    /// Begins anywhere: an answer to an earlier process of this node is none to this one.
    private var lastNumber = SecureRandom.number()
    private var written: [Written] = []
    private var held: [Held] = []

    /// Adds a batch that is sent to a node. Returns its number, or `nil` if too many are open.
    mutating func add(
        for node: NodeNumber, of partition: Int, now: Instant,
        _ completed: @escaping @Sendable (CommitOutcome) -> Void
    ) -> UInt64? {
        guard open.count + written.count < Limits.ClusterHost.controlWrites else { return nil }
        lastNumber &+= 1
        open[lastNumber] = Open(
            node: node, partition: partition, completed: completed,
            until: now.advanced(milliseconds: Limits.NodeProtocol.answerMilliseconds))
        return lastNumber
    }

    /// A node has written a batch, which ends at a position of its log: its outcome is reported once this node has applied that.
    /// Returns the partition of the batch.
    @discardableResult
    mutating func written(
        _ number: UInt64, at position: LogPosition, by node: NodeNumber, now: Instant
    ) -> Int? {
        guard let entry = take(number, node) else { return nil }
        written.append(
            Written(
                partition: entry.partition, position: position, completed: entry.completed,
                until: now.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)))
        return entry.partition
    }

    /// This node has applied a log up to a position.
    mutating func applied(_ position: LogPosition, of partition: Int) {
        complete { $0.partition == partition && $0.position <= position }
    }

    /// A node has not written a batch, or cannot get it.
    mutating func fail(_ number: UInt64, at node: NodeNumber) { take(number, node)?.completed(.failed(0)) }

    private mutating func take(_ number: UInt64, _ node: NodeNumber) -> Open? {
        guard open[number]?.node == node else { return nil }
        return open.removeValue(forKey: number)
    }

    private mutating func complete(_ isDone: (Written) -> Bool) {
        guard !written.isEmpty else { return }
        let done = written.filter(isDone)
        written.removeAll(where: isDone)
        for entry in done { entry.completed(CommitOutcome(batchNumber: 0)) }
    }

    /// Reports the batches of a node as failed.
    mutating func lose(_ node: NodeNumber) {
        for (number, entry) in open where entry.node == node { fail(number, at: node) }
    }

    /// Reports all batches without an outcome as failed.
    mutating func endAll() {
        complete { _ in true }
        for (number, entry) in open { fail(number, at: entry.node) }
        for write in held { write.write.completed(.failed(write.write.batch.batchNumber)) }
        held = []
    }

    /// Keeps a batch until its partition has an owner or its time is over. Returns `false` if too many wait.
    mutating func hold(_ write: Held) -> Bool {
        guard held.count < Limits.ClusterHost.controlWrites else { return false }
        held.append(write)
        return true
    }

    /// Removes and returns the batches of a partition that wait, in order.
    mutating func take(_ partition: Int) -> [Held] {
        guard !held.isEmpty else { return [] }
        defer { held.removeAll { $0.partition == partition } }
        return held.filter { $0.partition == partition }
    }

    /// Reports the batches whose time is over: one that is written counts, although this node is behind.
    mutating func endOverdue(_ now: Instant) {
        complete { $0.until <= now }
        for (number, entry) in open where entry.until <= now { fail(number, at: entry.node) }
        let overdue = held.filter { $0.until <= now }
        held.removeAll { $0.until <= now }
        for write in overdue { write.write.completed(.failed(0)) }
    }
}
