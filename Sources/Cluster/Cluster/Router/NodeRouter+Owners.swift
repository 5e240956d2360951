import Basics
import Delivery
import NodeProtocol

/// Links to other nodes, and who owns what.
extension NodeRouter {
    /// There is a link to a node again. What has gone there by way of others meanwhile is given up: the answer may have been sent on the link
    /// before, of which that node noticed later that it was lost.
    mutating func link(_ other: NodeNumber, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        links.insert(other)
        answer(table.lost(other.number), .linkLost, now, &effects)
        endFences(now, &effects)
        for partition in partitions.indices where partitions[partition].owner == other {
            flush(partition, now, &effects)
        }
    }

    /// The link to a node is lost: its sessions have ended, and no answers come from it.
    mutating func unlink(_ other: NodeNumber, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        links.remove(other)
        for event in sessions.lose(other) {
            guard let partition = event.key?.partition(of: partitions.count) else { continue }
            effects.append(.deliver(event, partition: partition))
        }
        // The sessions of this node that are logged in there: the node reports them as ended to its partitions.
        for partition in partitions.indices where partitions[partition].owner == other {
            effects.append(.closeSessions(partition: partition))
        }
        answer(table.lost(other.number), .linkLost, now, &effects)
        endFences(now, &effects)
        changes.lose(other, &effects)
    }

    /// The owner of a partition has changed, by the heartbeats that this node has seen.
    mutating func changeOwner(
        of partition: Int, to owner: NodeNumber?, _ now: Instant, _ effects: inout [NodeRouterEffect]
    ) {
        let before = partitions[partition].owner
        guard before != owner else { return }
        partitions[partition].owner = owner
        if let owner, owner != node { effects.append(.moved(partition: partition, to: owner)) }
        fence(partition, now)
        if let before, before != node {
            // The sessions of its devices and senders are unknown to the next owner.
            effects.append(.closeSessions(partition: partition))
        }
        if owner != nil { flush(partition, now, &effects) }
        if fences[partition] == nil { passFences(of: partition, &effects) }
    }

    mutating func serve(_ partition: Int, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        partitions[partition].standing = .serving
        effects.append(.serve(partition: partition))
        fence(partition, now)
        flush(partition, now, &effects)
        if fences[partition] == nil { passFences(of: partition, &effects) }
    }

    /// The successor did not take a partition that this node was to release.
    mutating func resume(_ partition: Int, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        guard partitions[partition].standing != .away else { return }
        effects.append(.resume(partition: partition))
        serve(partition, now, &effects)
    }

    /// Has the reactors leave a partition: for a successor, which gets it once they have, or because it is lost.
    mutating func leave(
        _ partition: Int, for successor: NodeNumber?, _ effects: inout [NodeRouterEffect]
    ) {
        // What is lost may have been lost before, or never served: a claim has failed.
        guard partitions[partition].standing != .away else { return }
        leaves += 1
        if let successor {
            partitions[partition].standing = .leaving(to: successor, leaves)
        } else {
            partitions[partition].standing = .away
            table.left(partition)
            effects.append(.lost(partition: partition))
        }
        effects.append(.leave(partition: partition, leaves))
        closeRemoteSessions(of: partition, &effects)
    }

    /// Closes the sessions of other nodes at a partition that leaves this one: it has forgotten them, even if it comes back.
    mutating func closeRemoteSessions(of partition: Int, _ effects: inout [NodeRouterEffect]) {
        for connection in sessions.leave(partition, of: partitions.count) {
            route(.connection(.close(.ownerChanged)), to: connection, &effects)
        }
    }
}
