import Basics
import Delivery
import NodeProtocol

/// Events for partitions, and commands for sessions.
extension NodeRouter {
    /// Passes an event to the node that owns its partition. It waits if there is none, and behind those that wait.
    mutating func route(
        _ event: Event, until: Instant? = nil, isBack: Bool = false, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        guard let partition = event.key?.partition(of: partitions.count) else { return }
        let isDelayed = held.isHolding(partition) || !isFree(partition)
        if !isDelayed, partitions[partition].standing == .serving {
            return deliver(event, partition, &effects)
        }
        guard !beginsElsewhere(event) else { return refuse(event, now, &effects) }
        guard !isDelayed, let owner = partitions[partition].owner, owner != node, links.contains(owner) else {
            return hold(event, of: partition, until, isBack: isBack, now, &effects)
        }
        // What has waited here may be of another node.
        guard until == nil || passedOn.pass(event, of: partition, from: node, now) else {
            return answer([event.answerWhenUnreached()], .tooManyHeld, now, &effects)
        }
        send(event, of: partition, to: owner, now, &effects)
    }

    /// Accepts an event of another node, for a partition that this node should own.
    mutating func accept(_ event: Event, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        guard let partition = event.key?.partition(of: partitions.count), event.isWithin(partitions.count),
            table.receives(event)
        else { return }
        let way = passedOn.receive(event, of: partition)
        if case .overtaken = way {
            refuse(event, now, &effects)
        } else if partitions[partition].standing == .serving, !held.isHolding(partition) {
            deliver(event, partition, &effects)
        } else if beginsElsewhere(event) {
            refuse(event, now, &effects)
        } else {
            // The news of a change has reached the other node earlier than this one, or later.
            let isOwn = event.openRequests.contains { $0.key.session?.node == node.number }
            hold(event, of: partition, nil, isBack: isOwn || way == .inOrder, now, &effects)
        }
    }

    /// Whether an event begins a session of another node. It never waits here and is not passed on: the end of the session may go another way,
    /// and arrive before it.
    private func beginsElsewhere(_ event: borrowing Event) -> Bool {
        RemoteSessions.begun(by: event).map { $0.0.node != node.number } ?? false
    }

    private mutating func refuse(_ event: Event, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        answer([event.answerWhenUnreached()], .noOwner, now, &effects)
    }

    private mutating func deliver(_ event: Event, _ partition: Int, _ effects: inout [NodeRouterEffect]) {
        sessions.note(event)
        passedOn.deliver(event, of: partition)
        effects.append(.deliver(event, partition: partition))
    }

    /// Keeps an event until its partition has an owner that can be reached.
    private mutating func hold(
        _ event: Event, of partition: Int, _ until: Instant?, isBack: Bool = false, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        let until = until ?? now.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
        guard !held.add(event, of: partition, until: until, isBack: isBack) else { return }
        answer([event.answerWhenUnreached()], .tooManyHeld, now, &effects)
    }

    private mutating func send(
        _ event: Event, of partition: Int, to owner: NodeNumber, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        guard
            table.open(
                event, to: owner.number, onward: ownerOfSender(of: event)?.number, of: partition, now: now,
                has: { partitions[$0].standing != .away })
        else {
            return answer([event.answerWhenUnreached()], .notSent, now, &effects)
        }
        let mayWait = event.openRequests.isEmpty
        effects.append(.send(event, to: owner, mayWait: mayWait))
    }

    /// The node that an upstream message reaches from that of its device: that of its sender. `nil` for other events.
    private func ownerOfSender(of event: Event) -> NodeNumber? {
        guard case .device(_, .upstreamReceived(let upstream)) = event else { return nil }
        return partitions[PartitionKey.sender(upstream.sender).partition(of: partitions.count)].owner
    }

    /// Passes a command to the node of its session.
    ///
    /// A node without a link has no sessions here, but may wait for an answer all the same: a request that came by way of another node. Its
    /// answer goes back that way, by all nodes, of which one has a link there; the first to arrive counts.
    mutating func route(
        _ command: SessionCommand, to connection: ConnectionID, _ effects: inout [NodeRouterEffect]
    ) {
        let target = NodeNumber(connection.node)
        sessions.note(command, to: connection)
        if target == node {
            effects.append(.command(command, to: connection))
        } else if links.contains(target) {
            effects.append(.sendCommand(command, to: connection, node: target))
        } else if command.answeredKey(of: connection) != nil {
            for relay in links.sorted() {
                effects.append(.sendCommand(command, to: connection, node: relay))
            }
        }
    }

    /// Accepts a command of another node: for a session of this one, or an answer that is to go on to a node to which there is a link.
    mutating func accept(
        _ command: SessionCommand, for connection: ConnectionID, from source: NodeNumber, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        let target = NodeNumber(connection.node)
        if target == source { return end(connection, &effects) }
        guard target == node else {
            if links.contains(target) {
                effects.append(.sendCommand(command, to: connection, node: target))
            }
            return
        }
        guard table.receives(command, for: connection) else { return }
        effects.append(.command(command, to: connection))
        endFences(now, &effects)
    }

    /// A session of this node has ended. The event that reports it goes to whom this node takes for the owner at that moment. Another node may
    /// have let the session in: it stood still, and goes on as the owner; or this node took itself for the owner for a while. So all are
    /// notified, behind the login where that is still on the way; who does not have the session ignores it.
    mutating func end(
        ownSession connection: ConnectionID, _ now: Instant, _ effects: inout [NodeRouterEffect]
    ) {
        table.ended(connection)
        endFences(now, &effects)
        for other in links.sorted() {
            effects.append(
                .sendCommand(.connection(.close(.peerClosed)), to: connection, node: other))
        }
    }

    /// The node of a session reports that it has ended.
    private mutating func end(_ connection: ConnectionID, _ effects: inout [NodeRouterEffect]) {
        guard let event = sessions.end(connection), let key = event.key else { return }
        effects.append(.deliver(event, partition: key.partition(of: partitions.count)))
    }

    /// Passes on the events and the changes that wait for the owner of a partition.
    mutating func flush(_ partition: Int, _ now: Instant, _ effects: inout [NodeRouterEffect]) {
        submitHeldChanges(of: partition, now, &effects)
        for entry in held.take(partition) {
            route(entry.event, until: entry.until, isBack: entry.isBack, now, &effects)
        }
    }

    /// Passes on what other nodes have sent here although this one is not the owner. It waits for a tick: two nodes that take each other
    /// for the owner must not pass it to and fro without a pause.
    private mutating func passOnHeld(_ now: Instant, _ effects: inout [NodeRouterEffect]) {
        guard held.count > 0 else { return }
        for partition in held.partitions where isFree(partition) {
            guard let owner = partitions[partition].owner, owner != node, links.contains(owner) else {
                continue
            }
            flush(partition, now, &effects)
        }
    }

    /// Answers the requests whose time is over.
    mutating func endOverdue(_ now: Instant, _ effects: inout [NodeRouterEffect]) {
        let overdue = held.takeOverdue(now)
        answer(overdue.map { $0.answerWhenUnreached() }, .noOwner, now, &effects)
        endOverdueChanges(now, &effects)
        answer(table.overdue(now: now), .noAnswer, now, &effects)
        endFences(now, &effects)
        passedOn.expire(now)
        passOnHeld(now, &effects)
        returnHeldChanges(now, &effects)
    }

    /// Whether no earlier event of this node is still with the owner before.
    private func isFree(_ partition: Int) -> Bool {
        fences.isEmpty || fences[partition] == nil || !table.isWaiting(for: partition)
    }

    /// Has events of a partition wait whose owner has changed, if the one before has some that are not answered: until its lease is over,
    /// and it answers nothing any more.
    mutating func fence(_ partition: Int, _ now: Instant) {
        fences[partition] =
            table.isWaiting(for: partition)
            ? now.advanced(milliseconds: Limits.ClusterLog.leaseWaitMilliseconds) : nil
    }

    /// Passes on what has waited for answers of the owners before. Those that are late are given up: what comes of them is not known, and
    /// nothing that was acknowledged gets out of order.
    mutating func endFences(_ now: Instant, _ effects: inout [NodeRouterEffect]) {
        guard !fences.isEmpty else { return }
        for (partition, until) in fences.sorted(by: { $0.key < $1.key })
        where until <= now || !table.isWaiting(for: partition) {
            fences[partition] = nil
            answer(table.abandoned(partition), .noAnswer, now, &effects)
            // The owner before may have let in sessions meanwhile.
            effects.append(.closeSessions(partition: partition))
            flush(partition, now, &effects)
            passFences(of: partition, &effects)
        }
    }

    /// Reports to the reactor of a partition that it has what it had passed on.
    mutating func passFences(of partition: Int, _ effects: inout [NodeRouterEffect]) {
        guard let count = awaited.removeValue(forKey: partition) else { return }
        for _ in 0..<count { effects.append(.passFence(partition: partition)) }
    }

    /// Gives requesters the answers that their owners did not.
    mutating func answer(
        _ answers: [UnreachedAnswer], _ reason: Metric.UnreachedReason, _ now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) {
        guard !answers.isEmpty else { return }
        effects.append(.unreached(answers.count, reason))
        var (commands, events): ([(ConnectionID, SessionCommand)], [Event]) = ([], [])
        for answer in answers {
            answer.forEach(command: { commands.append(($0, $1)) }, event: { events.append($0) })
        }
        for (connection, command) in commands { route(command, to: connection, &effects) }
        for event in events { route(event, now, &effects) }
    }
}

extension Event {
    /// Whether a cluster with that many partitions has those that the event names by number.
    fileprivate func isWithin(_ count: Int) -> Bool {
        guard case .topicLog(let partition, let event) = self else { return true }
        let other =
            switch event {
            case .published(_, let source): source
            case .copied(let copier, _): copier
            case .nowOrNever: partition
            }
        return max(partition, other) < count
    }
}
