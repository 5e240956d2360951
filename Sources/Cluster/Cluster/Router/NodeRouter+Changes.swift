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
        submit(HeldChange(change, .node(source, number: number), partition, now: now), now, &effects)
    }

    /// Writes a change here or at the owner. If there is none, it waits a while.
    mutating func submit(_ held: HeldChange, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        let state = partitions[held.partition]
        if state.standing == .serving {
            return effects.append(.submit(held.change, held.origin, partition: held.partition))
        }
        // One of another node is never passed on: two nodes could take each other for the owner.
        guard case .here(let number) = held.origin, let owner = state.owner, owner != node,
            links.contains(owner)
        else {
            if !changes.hold(held) { complete(held.origin, nil, &effects) }
            return
        }
        guard let sent = changes.open(number, for: owner, of: held.partition, now: now) else {
            return effects.append(.changed(number, isWritten: false))
        }
        effects.append(.sendChange(held.change, number: sent, to: owner))
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
