import Basics
import ClusterLog

/// Who owns the partitions, and which of them this node claims.
extension Membership {
    mutating func findOwners(_ now: Instant, _ effects: inout [MembershipEffect]) {
        for partition in partitions.indices { findOwner(of: partition, now, &effects) }
    }

    /// Looks for the owner of a partition: the node that owns it in the highest epoch that was ever reported. An earlier owner does
    /// not count, even if the later one is silent.
    mutating func findOwner(of partition: Int, _ now: Instant, _ effects: inout [MembershipEffect]) {
        var state = partitions[partition]
        let highest = peers.reduce(own[partition].epoch) { max($0, $1.heartbeat.partitions[partition].epoch) }
        if highest > state.highest { (state.highest, state.rose) = (highest, now) }
        var owner: NodeNumber?
        var isClaimed = false
        for peer in peers where peer.status == .alive {
            let report = peer.heartbeat.partitions[partition]
            if report.role == .claiming { isClaimed = true }
            if report.role.isOwner, report.epoch == state.highest { owner = owner ?? peer.node }
        }
        if own[partition].role.isOwner, own[partition].epoch == state.highest { owner = settings.node }
        state.claimedSince = isClaimed ? state.claimedSince ?? now : nil
        if owner != nil {
            state.unownedSince = nil
            state.pauses = nil
        } else {
            state.unownedSince = state.unownedSince ?? now
        }
        let old = state.owner
        state.owner = owner
        partitions[partition] = state
        guard owner != old else { return }
        effects.append(.owner(partition: partition, owner))
        if owner != nil, unowned.contains(partition) { alertUnowned(now, &effects) }
    }

    /// Raises one alarm for all partitions that have been without an owner for long.
    mutating func alertUnowned(_ now: Instant, _ effects: inout [MembershipEffect]) {
        let before = unowned
        unowned = partitions.indices.filter {
            guard partitions[$0].owner == nil else { return false }
            let since = max(partitions[$0].unownedSince ?? now, settled)
            return now.milliseconds(since: since) > Limits.Cluster.unownedMilliseconds
        }
        if before.isEmpty, !unowned.isEmpty { effects.append(.raised(.unowned(unowned))) }
        if unowned.isEmpty, !before.isEmpty { effects.append(.cleared(.unowned(before))) }
    }

    /// Claims the partitions without an owner whose candidate this node is.
    mutating func claimPartitions(_ now: Instant, _ effects: inout [MembershipEffect]) {
        var claims = own.count { $0.role == .claiming }
        for partition in partitions.indices where partitions[partition].owner == nil {
            let since = max(partitions[partition].unownedSince ?? now, settled)
            guard claims < Limits.Cluster.claimsAtOnce, isClaimable(partition, now),
                let rank = rank(for: partition),
                since.advanced(milliseconds: Int64(rank) * Limits.Cluster.rankMilliseconds) <= now
            else { continue }
            claim(partition, released: nil, now, &effects)
            claims += 1
        }
    }

    /// Whether nothing but the order of the candidates forbids a claim.
    private func isClaimable(_ partition: Int, _ now: Instant) -> Bool {
        let state = partitions[partition]
        guard drain == .off, own[partition].role == .following, state.retry <= now,
            !alarms.contains(.duplicateNode(settings.node)), !isExpelled, hasLastEpoch(of: partition),
            now.milliseconds(since: state.rose) >= Limits.Cluster.rankMilliseconds
        else { return false }
        guard let claimed = state.claimedSince else { return true }
        return now.milliseconds(since: claimed) >= Limits.Cluster.claimMilliseconds
    }

    /// Returns how many nodes are better candidates than this one, all of them judged by their heartbeats. Returns `nil` if this node
    /// is none.
    ///
    /// The best has applied most of the log: if the log has lost records, it has them.
    private mutating func rank(for partition: Int) -> Int? {
        guard sent[partition].role == .following else { return nil }
        let places = rendezvous.places(on: fitNodes)
        func isBetter(_ node: NodeNumber, _ applied: LogPosition) -> Bool {
            let mine = sent[partition].applied
            guard applied == mine else { return applied > mine }
            guard places[partition] != settings.node else { return false }
            return places[partition] == node
                || rendezvous.fit(node, partition) > rendezvous.fit(settings.node, partition)
        }
        return peers.count { peer in
            let report = peer.heartbeat.partitions[partition]
            let isCandidate = report.role == .following || report.role == .claiming
            return peer.isFit && isCandidate && isBetter(peer.node, report.applied)
        }
    }

    /// The nodes that can take partitions, by number.
    private var fitNodes: [NodeNumber] {
        var nodes = peers.filter(\.isFit).map(\.node)
        if drain == .off { nodes.append(settings.node) }
        return nodes.sorted()
    }

    private mutating func claim(
        _ partition: Int, released: LogPosition?, _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        var pauses =
            partitions[partition].pauses
            ?? Backoff(
                minimumMilliseconds: Limits.Cluster.retryMilliseconds,
                maximumMilliseconds: Limits.Cluster.longestRetryMilliseconds, seed: random.next())
        partitions[partition].retry = now.advanced(milliseconds: pauses.next())
        partitions[partition].pauses = pauses
        partitions[partition].tried = now
        own[partition].role = .claiming
        isUrgent = true
        effects.append(.claim(partition: partition, released: released))
    }

    /// Claims what a peer has released to this node. After a pause, the heartbeat may be an old one.
    mutating func takeReleased(from index: Int, _ now: Instant, _ effects: inout [MembershipEffect]) {
        guard settled <= now else { return }
        let peer = peers[index]
        for partition in partitions.indices {
            guard peer.heartbeat.partitions[partition].role == .releasing(to: settings.node),
                partitions[partition].owner == peer.node, own[partition].role == .following, drain == .off,
                !isExpelled,
                now.milliseconds(since: partitions[partition].tried) >= Limits.Cluster.rankMilliseconds
            else { continue }
            claim(partition, released: peer.heartbeat.partitions[partition].applied, now, &effects)
        }
    }

    /// Gives up claims of partitions that have an owner after all, or that this node made before it was cut off: otherwise it would
    /// take them all once it is back.
    mutating func abandonClaims(_ now: Instant, _ effects: inout [MembershipEffect]) {
        for partition in partitions.indices where own[partition].role == .claiming {
            guard now.milliseconds(since: partitions[partition].tried) >= Limits.Cluster.abandonMilliseconds,
                isDeaf || isOwned(partition)
            else { continue }
            own[partition].role = .following
            isUrgent = true
            effects.append(.abandon(partition: partition))
        }
    }

    /// Whether a peer owns a partition and does not release it.
    private func isOwned(_ partition: Int) -> Bool {
        guard let index = partitions[partition].owner.flatMap(peer) else { return false }
        return peers[index].heartbeat.partitions[partition].role == .owning
    }
}
