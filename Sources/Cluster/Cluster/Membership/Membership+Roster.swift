public import Basics
import ClusterLog

/// Which nodes belong to the cluster, by what this node has seen and what operators have decided on any node.
extension Membership {
    /// Whether operators have removed this node: it claims nothing, and the others ignore it.
    public var isExpelled: Bool { roster.isRemoved(settings.node) }

    /// Forgets a node that will not return, at the operator's request. All nodes learn of it by heartbeats, and refuse the node until it
    /// is admitted again. Returns whether it was silent, and is removed.
    public mutating func remove(
        _ node: NodeNumber, now: Now, effects: inout [MembershipEffect]
    ) -> Bool {
        if let index = peer(node), peers[index].status == .alive { return false }
        guard node != settings.node, roster.set(node, isRemoved: true) else { return false }
        decided(on: node, now.monotonic, &effects)
        return true
    }

    /// Admits a removed node again. Returns whether it was removed.
    public mutating func admit(_ node: NodeNumber, now: Now, effects: inout [MembershipEffect]) -> Bool {
        guard roster.set(node, isRemoved: false) else { return false }
        decided(on: node, now.monotonic, &effects)
        return true
    }

    /// Takes over what operators have decided on other nodes.
    mutating func learn(
        _ changes: [RosterChange], _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        for change in changes where roster.learn(change) { decided(on: change.node, now, &effects) }
    }

    /// A node was removed or admitted again.
    private mutating func decided(
        on node: NodeNumber, _ now: Instant, _ effects: inout [MembershipEffect]
    ) {
        isUrgent = true
        effects.append(.roster)
        if roster.isRemoved(node) {
            if let index = peer(node) { peers.remove(at: index) }
            alarms.clear(.silentNode(node), &effects)
        } else {
            alarms.clear(.removedNode(node), &effects)
        }
        changed = now
        effects.append(.member(node))
        findFrameVersion(now, &effects)
        findOwners(now, &effects)
    }

    // MARK: Frames

    /// The highest version of frames that all nodes read which were not removed: one that is away will read them later.
    var commonFrameVersion: UInt8? {
        let others = roster.entries.filter { !$0.isRemoved && $0.node != settings.node }
        let all = others.compactMap(\.frameVersions) + [settings.frameVersions]
        let highest = all.map(\.upperBound).min() ?? settings.frameVersions.upperBound
        return all.allSatisfy { $0.contains(highest) } ? highest : nil
    }

    /// The version of the frames that this node writes. Where no version is read by all, the lowest that it can write: whichever node
    /// cannot read it halts by name.
    public var writtenFrameVersion: UInt8 { frameVersion ?? settings.frameVersions.lowerBound }

    mutating func findFrameVersion(_ now: Instant, _ effects: inout [MembershipEffect]) {
        let version = commonFrameVersion
        guard version != frameVersion else { return }
        frameVersion = version
        effects.append(.frameVersion(version))
        if version != nil { alarms.clear(.noFrameVersion, &effects) }
        alertFrameVersion(&effects)
    }

    /// Raises the alarm where no version can be read by all.
    mutating func alertFrameVersion(_ effects: inout [MembershipEffect]) {
        guard frameVersion == nil, !alarms.contains(.noFrameVersion) else { return }
        alarms.raise(.noFrameVersion, .distantFuture, &effects)
    }
}
