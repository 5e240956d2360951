public import Basics
import ClusterLog

/// Up to when a node has everything that counts of a partition of another node.
struct Knowledge: Sendable {
    /// The time.
    private(set) var since = Instant.distantPast
    /// What the owner had at later times, by position; this node has not applied it. Two: the first is reached soonest, the last is the
    /// best.
    private var awaited: [(position: LogPosition, since: Instant)] = []

    /// The owner had everything up to a position at a time, by its lease; this node has applied the log up to another one.
    mutating func owned(_ position: LogPosition, since: Instant, applied: LogPosition) {
        guard since > self.since else { return }
        if awaited.count == 2 { awaited.removeLast() }
        awaited.append((position, since))
        reached(applied)
    }

    /// This node has applied the log up to a position.
    mutating func reached(_ applied: LogPosition) {
        guard !awaited.isEmpty else { return }
        for entry in awaited where entry.position <= applied { since = max(since, entry.since) }
        let since = since
        awaited.removeAll { $0.since <= since || $0.position <= applied }
    }
}

/// What this node has of the partitions of others, and up to when.
///
/// An owner by a lease reports where it is in the log, and the last heartbeat that it has had from this node. All that was confirmed before
/// that was sent is up to that position, since no other node confirms anything. No clock is compared with another.
extension Membership {
    /// Up to when this node has everything that counts of a partition that another node owns: what was acknowledged since then, it may not
    /// have. In the distant past if it has never known.
    public func known(of partition: Int) -> Instant { partitions[partition].knowledge.since }

    /// Until when this node counts as having all that is confirmed of a partition. An owner has it while its lease lasts (`Replica.leaseEnd`).
    public func currentUntil(_ partition: Int, leaseEnd: Instant) -> Instant {
        let known = known(of: partition)
        guard known > .distantPast else { return leaseEnd }
        return max(known.advanced(milliseconds: Limits.ClusterLog.leaseMilliseconds), leaseEnd)
    }

    /// The last heartbeats of the others.
    var echoes: [HeartbeatEcho] {
        peers.map { peer in
            HeartbeatEcho(
                node: peer.node, incarnation: peer.heartbeat.incarnation, count: peer.heartbeat.count)
        }
    }

    mutating func learn(from heartbeat: Heartbeat) {
        let own = heartbeat.echoes.first { $0.node == settings.node }
        guard let own, own.incarnation == settings.incarnation,
            let sent = sentTimes.last(where: { $0.count == own.count })?.at
        else { return }
        for (partition, report) in heartbeat.partitions.enumerated() where report.isLeased {
            partitions[partition].knowledge.owned(
                report.applied, since: sent, applied: self.own[partition].applied)
        }
    }
}
