import Basics
import Cluster
import ClusterSetup
import NodeLinks
import Transport

/// What an operator orders.
extension ClusterHost {
    /// The result of a handover.
    enum HandoverOutcome: Sendable {
        case refused(HandoverRefusal)
        case unknownPartition(partitions: Int)
        case took(NodeNumber, milliseconds: Int)
        /// The successor did not take it, and this node goes on.
        case resumed
    }

    /// A handover that an operator waits for.
    struct OrderedHandover {
        var since: Instant
        var then: @Sendable (HandoverOutcome) -> Void
    }

    /// Hands a partition over, to a node or to the best one; `then` is called when that is done or refused.
    func handOver(
        _ partition: Int, to target: NodeNumber?, then: @escaping @Sendable (HandoverOutcome) -> Void
    ) {
        guard replicas.indices.contains(partition) else {
            return then(.unknownPartition(partitions: replicas.count))
        }
        let now = reactor.now
        var made: [MembershipEffect] = []
        if let refusal = membership.handOver(partition, to: target, now: now, effects: &made) {
            return then(.refused(refusal))
        }
        ordered[partition] = OrderedHandover(since: now.monotonic, then: then)
        perform(made, now)
    }

    /// The handover of a partition has ended: another node owns it, or it was undone.
    func endHandover(of partition: Int, owner: NodeNumber?) {
        guard let handover = ordered.removeValue(forKey: partition) else { return }
        guard let owner else { return handover.then(.resumed) }
        let span = reactor.now.monotonic.milliseconds(since: handover.since)
        handover.then(.took(owner, milliseconds: Int(clamping: span)))
    }

    /// The result of a removal.
    enum RemovalOutcome: Sendable {
        case removed(name: String)
        /// The disk has failed: the node is removed, but another process of this one may not know.
        case unstored
        case unknown
        case alive(name: String)
        case ownNode
        case already
    }

    /// The result of an admission.
    enum AdmissionOutcome: Sendable {
        case admitted(name: String)
        /// As for a removal.
        case unstored
        case notRemoved
        case ownNode
    }

    /// Removes a node that is gone for good, on all nodes. Calls `outcome` when that is on disk, or at once if nothing changes.
    func remove(_ number: NodeNumber, outcome: @escaping @Sendable (RemovalOutcome) -> Void) {
        guard number != node else { return outcome(.ownNode) }
        guard !membership.roster.isRemoved(number) else { return outcome(.already) }
        let isListed = settings.file.nodes.contains { $0.number == number }
        guard isListed || membership.roster.contains(number) else { return outcome(.unknown) }
        let name = name(of: number)
        var made: [MembershipEffect] = []
        guard membership.remove(number, now: reactor.now, effects: &made) else {
            return outcome(.alive(name: name))
        }
        perform(made, reactor.now)
        rosterState.change { isStored in outcome(isStored ? .removed(name: name) : .unstored) }
        storeRoster()
    }

    /// Admits a removed node again, on all nodes. Calls `outcome` when that is on disk, with its name, or at once if nothing changes.
    func admit(_ number: NodeNumber, outcome: @escaping @Sendable (AdmissionOutcome) -> Void) {
        guard number != node else { return outcome(.ownNode) }
        var made: [MembershipEffect] = []
        guard membership.admit(number, now: reactor.now, effects: &made) else { return outcome(.notRemoved) }
        perform(made, reactor.now)
        let name = name(of: number)
        log.notice("cluster_node_admitted", ["node": LogValue(Int(number.number)), "name": .text(name)])
        rosterState.change { isStored in outcome(isStored ? .admitted(name: name) : .unstored) }
        storeRoster()
    }
}
