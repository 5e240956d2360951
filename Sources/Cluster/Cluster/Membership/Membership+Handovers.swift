public import Basics
import ClusterLog

/// Planned changes of owners: a node that stops gives up its partitions, and one that comes gets some.
extension Membership {
    /// Hands a partition of this node over at the operator's request, to a node or to the best one. Returns `nil`, or why not.
    ///
    /// The cluster moves partitions for balance: if the target has two more than another node, one of them leaves it soon.
    public mutating func handOver(
        _ partition: Int, to target: NodeNumber?, now: Now, effects: inout [MembershipEffect]
    ) -> HandoverRefusal? {
        guard own[partition].role.isOwner else { return .notOwner(partitions[partition].owner) }
        if let handover = handovers.first(where: { $0.partition == partition }) {
            return .underway(to: handover.successor)
        }
        guard let node = target ?? successors(of: partition).first?.node else { return .noTarget }
        guard let index = peer(node), isFit(index, for: partition) else { return .unfit(node) }
        let lag = lag(of: index, in: partition)
        guard lag <= Limits.Cluster.successorLag else { return .behind(node, records: lag) }
        release(partition, to: node, now.monotonic, &effects)
        return nil
    }

    private func isFit(_ index: Int, for partition: Int) -> Bool {
        peers[index].isFit && peers[index].heartbeat.partitions[partition].role == .following
    }

    /// How many records a peer is behind this node.
    private func lag(of index: Int, in partition: Int) -> UInt64 {
        let (mine, theirs) = (own[partition].applied, peers[index].heartbeat.partitions[partition].applied)
        return mine > theirs ? mine.number - theirs.number : 0
    }

    /// How many partitions a peer has, with those that this node is handing over to it.
    private func load(of index: Int) -> Int {
        let node = peers[index].node
        let coming = handovers.count { $0.successor == node }
        return peers[index].heartbeat.partitions.count { $0.role.isOwner || $0.role == .claiming } + coming
    }

    /// Returns the nodes that can take a partition of this node at once, best first: with the fewest partitions.
    private func successors(of partition: Int) -> [(node: NodeNumber, load: Int)] {
        peers.indices.filter {
            isFit($0, for: partition) && lag(of: $0, in: partition) <= Limits.Cluster.successorLag
        }
        .map { (node: peers[$0].node, load: load(of: $0)) }
        .sorted { a, b in
            a.load != b.load
                ? a.load < b.load : rendezvous.fit(a.node, partition) > rendezvous.fit(b.node, partition)
        }
    }

    private mutating func release(
        _ partition: Int, to node: NodeNumber, _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        handovers.append(Handover(partition: partition, successor: node, since: now))
        effects.append(.release(partition: partition, to: node))
    }

    /// Hands over what a draining node owns, or what another node has too few of.
    mutating func handOverPartitions(_ now: Instant, _ effects: inout [MembershipEffect]) {
        guard drain != .off else { return rebalance(now, &effects) }
        for partition in partitions.indices where handovers.count < Limits.Cluster.drainHandovers {
            guard own[partition].role == .owning, isFree(partition, now),
                let successor = successors(of: partition).first
            else { continue }
            release(partition, to: successor.node, now, &effects)
        }
        guard drain == .underway, load == 0 else { return }
        drain = .reported
        effects.append(.drained)
    }

    private func isFree(_ partition: Int, _ now: Instant) -> Bool {
        partitions[partition].handoverRetry <= now && !handovers.contains { $0.partition == partition }
    }

    /// Moves one partition to the node with the fewest, if this is the node with the most. So one partition moves at a time.
    private mutating func rebalance(_ now: Instant, _ effects: inout [MembershipEffect]) {
        guard now.milliseconds(since: changed) >= Limits.Cluster.rebalanceMilliseconds, handovers.isEmpty,
            isQuiet
        else { return }
        let mine = load
        let isLargest = peers.indices.allSatisfy { index in
            guard peers[index].isFit else { return true }
            let load = load(of: index)
            return load < mine || load == mine && peers[index].node > settings.node
        }
        guard isLargest else { return }
        var best: (partition: Int, node: NodeNumber, load: Int, fit: UInt64)?
        for partition in partitions.indices where own[partition].role == .owning && isFree(partition, now) {
            guard let successor = successors(of: partition).first, successor.load + 2 <= mine else {
                continue
            }
            let fit = rendezvous.fit(successor.node, partition)
            if best.map({ ($0.load, fit) > (successor.load, $0.fit) }) ?? true {
                best = (partition, successor.node, successor.load, fit)
            }
        }
        if let best { release(best.partition, to: best.node, now, &effects) }
    }

    /// Whether each partition has an owner, and no ownership is about to change.
    private var isQuiet: Bool {
        partitions.allSatisfy { $0.owner != nil && $0.claimedSince == nil }
            && peers.allSatisfy { peer in
                peer.status != .alive
                    || peer.heartbeat.partitions.allSatisfy {
                        if case .releasing = $0.role { false } else { true }
                    }
            }
    }

    /// Ends the handovers whose successor is gone or takes too long.
    mutating func undoHandovers(_ now: Instant, _ effects: inout [MembershipEffect]) {
        for handover in handovers {
            let isFit = peer(handover.successor).map { peers[$0].isFit } ?? false
            let isLate = now.milliseconds(since: handover.since) > Limits.Cluster.handoverMilliseconds
            guard !isFit || isLate else { continue }
            // A successor that owns it has taken it, although this node has not read that.
            guard partitions[handover.partition].owner ?? settings.node == settings.node else { continue }
            handovers.removeAll { $0.partition == handover.partition }
            partitions[handover.partition].handoverRetry = now.advanced(
                milliseconds: Limits.Cluster.handoverRetryMilliseconds)
            if own[handover.partition].role != .owning {
                own[handover.partition].role = .owning
                isUrgent = true
            }
            effects.append(.resume(partition: handover.partition))
        }
    }
}
