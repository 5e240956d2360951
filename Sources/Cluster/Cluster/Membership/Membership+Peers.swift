import Basics
import ClusterLog

/// Another node.
struct Peer: Sendable {
    var heartbeat: Heartbeat
    /// When its last heartbeat arrived.
    var heard: Instant
    /// The same, or later while this node received nothing: from then on its silence counts.
    var arrived: Instant
    var status = NodeStatus.alive
    /// The processes before this one, the last one first, and when this one replaced them.
    var earlier: [Incarnation] = []
    var replaced: Instant
    /// Whether there is no link to it: it would own what clients of this node cannot reach.
    var isUnlinked = false
    /// Since when all its heartbeats have had a wrong clock.
    var wrongClockSince: Instant?

    var node: NodeNumber { heartbeat.node }
    /// Whether it can take partitions.
    var isFit: Bool { status == .alive && !heartbeat.isDraining && !isUnlinked }
}

/// Which nodes there are.
extension Membership {
    func peer(_ node: NodeNumber) -> Int? { peers.firstIndex { $0.node == node } }

    /// A heartbeat has arrived.
    mutating func receive(_ heartbeat: Heartbeat, _ now: Now, _ effects: inout [MembershipEffect]) {
        let time = now.monotonic
        guard heartbeat.cluster == settings.cluster else {
            return alarms.raise(.foreignCluster(heartbeat.cluster), time, &effects)
        }
        guard heartbeat.node != settings.node else { return receiveOwn(heartbeat, time, &effects) }
        guard heartbeat.partitions.count == settings.partitions else {
            return alarms.raise(.partitions(heartbeat.node), time, &effects)
        }
        // What a removed node reports counts for nothing, nor does what it has learned.
        if !roster.isRemoved(heartbeat.node) { learn(heartbeat.rosterChanges, time, &effects) }
        guard !roster.isRemoved(heartbeat.node) else {
            return alarms.raise(.removedNode(heartbeat.node), time, &effects)
        }
        guard let index = peer(heartbeat.node) else { return add(heartbeat, now, &effects) }
        let old = peers[index].heartbeat
        if old.incarnation == heartbeat.incarnation {
            guard heartbeat.count > old.count else { return }
        } else {
            guard replace(index, by: heartbeat, time, &effects) else { return }
        }
        accept(heartbeat, index, now, &effects)
    }

    /// A heartbeat of this node's own number.
    private mutating func receiveOwn(
        _ heartbeat: Heartbeat, _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        if heartbeat.incarnation == settings.incarnation {
            echoed = now
        } else if settled < now {
            // Before, it may be a late one of the process before this one.
            alarms.raise(.duplicateNode(settings.node), now, &effects)
        }
    }

    private mutating func add(_ heartbeat: Heartbeat, _ now: Now, _ effects: inout [MembershipEffect]) {
        // This node is one of them.
        guard peers.count < Limits.Cluster.nodes - 1 else {
            return alarms.raise(.tooManyNodes, now.monotonic, &effects)
        }
        let index = peers.firstIndex { $0.node > heartbeat.node } ?? peers.count
        peers.insert(
            Peer(
                heartbeat: heartbeat, heard: now.monotonic, arrived: now.monotonic,
                replaced: now.monotonic), at: index)
        changed = now.monotonic
        effects.append(.member(heartbeat.node))
        checkClock(index, now, &effects)
        learn(from: heartbeat)
        note(heartbeat, now.monotonic, &effects)
        findOwners(now.monotonic, &effects)
        takeReleased(from: index, now.monotonic, &effects)
    }

    /// A process with the number of a peer that is not the last one. Returns whether it takes its place.
    private mutating func replace(
        _ index: Int, by heartbeat: Heartbeat, _ now: Instant, _ effects: inout [MembershipEffect]
    ) -> Bool {
        if let earlier = peers[index].earlier.firstIndex(of: heartbeat.incarnation) {
            // Its last heartbeats may arrive late; later ones mean that it still runs.
            guard now.milliseconds(since: peers[index].replaced) > Limits.Cluster.suspicionMilliseconds else {
                return false
            }
            guard now.milliseconds(since: peers[index].arrived) > Limits.Cluster.suspicionMilliseconds else {
                alarms.raise(.duplicateNode(heartbeat.node), now, &effects)
                return false
            }
            // The one that took its place is silent: that was the earlier one, whose last heartbeat came late.
            peers[index].earlier.remove(at: earlier)
        }
        peers[index].earlier.insert(peers[index].heartbeat.incarnation, at: 0)
        if peers[index].earlier.count > Limits.Cluster.incarnations { peers[index].earlier.removeLast() }
        peers[index].replaced = now
        return true
    }

    /// Takes over what a heartbeat reports.
    private mutating func accept(
        _ heartbeat: Heartbeat, _ index: Int, _ now: Now, _ effects: inout [MembershipEffect]
    ) {
        let (old, status) = (peers[index].heartbeat, peers[index].status)
        peers[index].heartbeat = heartbeat
        peers[index].heard = now.monotonic
        peers[index].arrived = now.monotonic
        peers[index].status = .alive
        let isNew = old.incarnation != heartbeat.incarnation || status != .alive
        if isNew || old.isDraining != heartbeat.isDraining { changed = now.monotonic }
        if isNew || old.isDraining != heartbeat.isDraining || old.linkAddress != heartbeat.linkAddress {
            effects.append(.member(heartbeat.node))
        }
        checkClock(index, now, &effects)
        learn(from: heartbeat)
        note(heartbeat, now.monotonic, &effects)
        for partition in partitions.indices {
            let (before, after) = (old.partitions[partition], heartbeat.partitions[partition])
            if isNew || before.role != after.role || before.epoch != after.epoch {
                findOwner(of: partition, now.monotonic, &effects)
            }
        }
        takeReleased(from: index, now.monotonic, &effects)
    }

    /// Notes the versions of frames that a node reads.
    private mutating func note(
        _ heartbeat: Heartbeat, _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        guard roster.note(heartbeat.frameVersions, of: heartbeat.node) else { return }
        effects.append(.roster)
        findFrameVersion(now, &effects)
    }

    /// Suspects the peers that are silent. While this node is cut off, all are.
    mutating func judgePeers(_ now: Instant, _ effects: inout [MembershipEffect]) {
        guard !isDeaf else { return }
        var isChanged = false
        for index in peers.indices {
            let silence = now.milliseconds(since: peers[index].arrived)
            let status: NodeStatus =
                switch peers[index].status {
                case .alive: silence > Limits.Cluster.suspicionMilliseconds ? .suspected : .alive
                case .suspected, .gone: silence > Limits.Cluster.goneMilliseconds ? .gone : .suspected
                }
            guard status != peers[index].status else { continue }
            peers[index].status = status
            effects.append(.member(peers[index].node))
            isChanged = true
        }
        guard isChanged else { return }
        changed = now
        findOwners(now, &effects)
    }

    private mutating func checkClock(_ index: Int, _ now: Now, _ effects: inout [MembershipEffect]) {
        // After this node stood still, heartbeats are handled late.
        guard settled <= now.monotonic else { return }
        let (difference, isOver) = peers[index].heartbeat.wall.subtractingReportingOverflow(now.wall)
        let isWrong = isOver || difference.magnitude > UInt64(Limits.Cluster.clockMilliseconds)
        guard isWrong else {
            peers[index].wrongClockSince = nil
            return alarms.clear(.clock(peers[index].node), &effects)
        }
        let since = peers[index].wrongClockSince ?? now.monotonic
        peers[index].wrongClockSince = since
        if now.monotonic.milliseconds(since: since) >= Limits.Cluster.clockPatienceMilliseconds {
            alarms.raise(.clock(peers[index].node), now.monotonic, &effects)
        }
    }

    /// Raises an alarm for each node that is silent for long, also for those that only the process before this one has seen.
    mutating func alertSilentNodes(_ now: Instant, _ effects: inout [MembershipEffect]) {
        for entry in roster.entries where entry.node != settings.node && !entry.isRemoved {
            let heard = peer(entry.node).map { peers[$0].arrived } ?? began
            if now.milliseconds(since: heard) >= Limits.Cluster.silentMilliseconds {
                alarms.raise(.silentNode(entry.node), now, &effects)
            } else {
                alarms.clear(.silentNode(entry.node), &effects)
            }
        }
    }
}
