import Basics
import ClusterLog
import Delivery

/// Changes of the control plane.
extension NodeRouter {
    /// A change of this node.
    mutating func route(
        _ change: ControlChange, _ number: ChangeOrigin.Number, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        guard let partition = change.partition else {
            return effects.append(.store(change, number))
        }
        submit(HeldChange(change, .here(number), partition, now: now), now, &effects)
    }

    /// Another node asks for a change.
    mutating func accept(
        _ change: ControlChange, number: UInt64, from source: NodeNumber, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        guard let partition = change.partition else {
            return complete(.node(source, number: number), nil, &effects)
        }
        let held = HeldChange(change, .node(source, number: number), partition, now: now)
        // The other node may have the news of a change of the owner earlier than this one.
        guard partitions[partition].standing != .serving else { return submit(held, now, &effects) }
        hold(held, &effects)
    }

    /// Another node has returned a change of this one: it goes to the next owner.
    mutating func reroute(
        _ number: UInt64, from source: NodeNumber, _ now: Instant, _ effects: inout [NodeRouterEffect]
    ) {
        guard let held = changes.takeBack(number, from: source) else { return }
        // Two nodes that take each other for the owner do not pass it to and fro for ever.
        guard held.until > now else { return complete(held.origin, nil, &effects) }
        submit(held, now, &effects)
    }

    /// Submits the changes that wait for the owner of a partition.
    mutating func submitHeldChanges(
        of partition: Int, _ now: Instant, _ effects: inout [NodeRouterEffect]
    ) {
        for change in changes.take(partition) { submit(change, now, &effects) }
    }

    /// Returns what other nodes have asked here although this one is not the owner. It waits for a tick: the news of a change of the owner may
    /// have reached the other node earlier than this one.
    mutating func returnHeldChanges(_ now: Instant, _ effects: inout [NodeRouterEffect]) {
        for partition in changes.heldPartitions {
            if let owner = partitions[partition].owner, owner != node {
                submitHeldChanges(of: partition, now, &effects)
            }
        }
    }

    private mutating func hold(_ held: HeldChange, _ effects: inout [NodeRouterEffect]) {
        if !changes.hold(held) { complete(held.origin, nil, &effects) }
    }

    /// Writes a change here or at the owner. If there is none, it waits a while.
    mutating func submit(_ held: HeldChange, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        let state = partitions[held.partition]
        if state.standing == .serving {
            return effects.append(.submit(held.change, held.origin, partition: held.partition))
        }
        guard let owner = state.owner, owner != node else { return hold(held, &effects) }
        switch held.origin {
        case .here(let number):
            guard links.contains(owner) else { return hold(held, &effects) }
            guard let sent = changes.open(held, number, for: owner, now: now) else {
                return effects.append(.changed(number, isWritten: false))
            }
            effects.append(.sendChange(held.change, number: sent, to: owner))
        // Its own node finds the owner: here it would come back as one of this node.
        case .node(let source, let number):
            if links.contains(source) { effects.append(.returnChange(number: number, to: source)) }
        }
    }

    /// A change has its outcome.
    mutating func complete(
        _ origin: ChangeOrigin, _ position: LogPosition?, _ effects: inout [NodeRouterEffect]
    ) {
        switch origin {
        case .here(let number): effects.append(.changed(number, isWritten: position != nil))
        case .node(let node, let number):
            guard links.contains(node) else { return }
            effects.append(.sendOutcome(number: number, at: position, to: node))
        }
    }

    /// Ends the changes whose time is over.
    mutating func endOverdueChanges(_ now: Instant, _ effects: inout [NodeRouterEffect]) {
        for change in changes.endOverdue(now, &effects) { complete(change.origin, nil, &effects) }
    }

    /// Ends all changes: nothing of them is known any more.
    mutating func endChanges(_ effects: inout [NodeRouterEffect]) {
        for change in changes.endAll(&effects) { complete(change.origin, nil, &effects) }
    }
}
