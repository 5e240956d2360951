import Basics
import Delivery

/// Batches of the control plane that other nodes write, until their outcomes come.
struct ControlWrites {
    private struct Open {
        var node: NodeNumber
        var completed: @Sendable (CommitOutcome) -> Void
    }

    private var open: [UInt64: Open] = [:]
    private var lastNumber: UInt64 = 0

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
}
