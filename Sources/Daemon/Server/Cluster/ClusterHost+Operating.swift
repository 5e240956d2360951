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
        case unknown
        case alive(name: String)
        case ownNode
        case already
    }

    /// Removes a node that is gone for good, on all nodes.
    func remove(_ number: NodeNumber) -> RemovalOutcome {
        guard number != node else { return .ownNode }
        guard !membership.roster.isRemoved(number) else { return .already }
        let isListed = settings.file.nodes.contains { $0.number == number }
        guard isListed || membership.roster.contains(number) else { return .unknown }
        let name = name(of: number)
        var made: [MembershipEffect] = []
        guard membership.remove(number, now: reactor.now, effects: &made) else { return .alive(name: name) }
        perform(made, reactor.now)
        storeRoster()
        return .removed(name: name)
    }

    /// Admits a removed node again, on all nodes. Returns its name, or `nil` if it is not removed.
    func admit(_ number: NodeNumber) -> String? {
        var made: [MembershipEffect] = []
        guard membership.admit(number, now: reactor.now, effects: &made) else { return nil }
        perform(made, reactor.now)
        storeRoster()
        log.notice(
            "cluster_node_admitted", ["node": LogValue(Int(number.number)), "name": .text(name(of: number))])
        return name(of: number)
    }
}
