import Basics
import Delivery

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
        var completed: @Sendable (CommitOutcome) -> Void
    }

    private var open: [UInt64: Open] = [:]
    private var lastNumber: UInt64 = 0
    private var held: [Held] = []

    /// Adds a batch that is sent to a node. Returns its number, or `nil` if too many are open.
    mutating func add(
        for node: NodeNumber, _ completed: @escaping @Sendable (CommitOutcome) -> Void
    ) -> UInt64? {
        guard open.count < Limits.ClusterHost.controlWrites else { return nil }
        lastNumber += 1
        open[lastNumber] = Open(node: node, completed: completed)
        return lastNumber
    }

    /// Reports the outcome of a batch, once.
    mutating func end(_ number: UInt64, hasFailed: Bool) {
        let outcome = CommitOutcome(batchNumber: 0, hasFailed: hasFailed)
        open.removeValue(forKey: number)?.completed(outcome)
    }

    /// Reports the batches of a node as failed.
    mutating func lose(_ node: NodeNumber) {
        for (number, entry) in open where entry.node == node { end(number, hasFailed: true) }
    }

    /// Reports all batches as failed.
    mutating func endAll() {
        for number in Array(open.keys) { end(number, hasFailed: true) }
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

    /// Removes and returns the batches whose time is over.
    mutating func takeOverdue(_ now: Instant) -> [ControlWrite] {
        guard !held.isEmpty else { return [] }
        defer { held.removeAll { $0.until <= now } }
        return held.filter { $0.until <= now }.map(\.write)
    }
}
