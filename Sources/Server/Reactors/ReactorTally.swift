import Basics
import Delivery

/// Counts what happens on one reactor, in its own shard of the metrics.
struct ReactorTally {
    private let shard: MetricShard

    /// Counts in this shard.
    init(shard: MetricShard) { self.shard = shard }

    /// Adds the milestones that messages passed in a turn.
    func add(downstream: MilestoneCounts, upstream: MilestoneCounts) {
        if downstream != MilestoneCounts() { add(downstream, direction: 0) }
        if upstream != MilestoneCounts() { add(upstream, direction: 1) }
    }

    private func add(_ counts: MilestoneCounts, direction: Int) {
        for (position, milestone) in Milestone.allCases.enumerated() {
            let count = counts[milestone]
            if count != 0 { shard.add(count, to: .messages, direction, position) }
        }
    }

    /// A connection was accepted.
    func opened(_ kind: Link.Kind) {
        shard.add(to: .connectionsAccepted, kind.position)
        shard.add(to: .connectionsOpen, kind.position)
    }

    /// A connection ended.
    func closed(_ kind: Link.Kind, _ reason: CloseReason) {
        shard.add(-1, to: .connectionsOpen, kind.position)
        shard.add(to: .connectionsClosed, reason.position)
    }

    /// A peer logged in, or failed to.
    func login(_ kind: Link.Kind, succeeded: Bool) {
        let session = kind == .device ? 1 : 0
        shard.add(to: .logins, session, succeeded ? 0 : 1)
        if succeeded { shard.add(to: .sessionsOpen, session) }
    }

    /// A peer that was logged in is gone.
    func logout(_ kind: Link.Kind) { shard.add(-1, to: .sessionsOpen, kind == .device ? 1 : 0) }

    /// A downstream message was refused.
    func refused(_ refusal: Refusal) { shard.add(to: .refusals, refusal.position) }

    /// A turn ended.
    func turn() { shard.add(to: .reactorTurns) }

    /// Bytes came from a peer.
    func received(_ count: Int, _ kind: Link.Kind) { shard.add(count, to: .receivedBytes, kind.position) }
}
