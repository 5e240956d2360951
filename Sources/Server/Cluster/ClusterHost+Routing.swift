import Basics
import Cluster
import ClusterLog
import Delivery
import NodeLinks
import NodeProtocol
import Transport

/// Events for partitions of other nodes, and commands for their sessions.
extension ClusterHost {
    func handle(_ report: LinkReport) {
        let now = reactor.now
        switch report {
        case .up(let node, _):
            log.notice("cluster_link_up", ["node": LogValue(Int(node.number))])
            for partition in owners.indices where owners[partition] == node { flush(partition, now) }
        case .down(let node, let failure):
            log.warning(
                "cluster_link_down", ["node": LogValue(Int(node.number)), "problem": .text(failure.words)])
            lose(node, now)
        case .unlinked(let node, let failure):
            log.repeating(
                .warning, "cluster_link_failed", by: "\(node.number) \(failure.words)",
                ["node": LogValue(Int(node.number)), "problem": .text(failure.words)])
        case .refused(let peer, let failure):
            log.repeating(
                .warning, "cluster_link_refused", by: "\(peer.host) \(failure.words)",
                ["peer": .text("\(peer)"), "problem": .text(failure.words)])
        case .received(let node, let parcels):
            for parcel in parcels { received(parcel, from: node, now) }
        case .stream(let node, let event): handle(event, of: node, now)
        }
    }

    /// The link to a node is lost: its sessions have ended, and no answers come from it.
    private func lose(_ node: NodeNumber, _ now: Now) {
        outgoing[node] = nil
        loseCopy(from: node, now)
        loseGiving(to: node)
        for event in sessions.lose(node) { deliver(event) }
        // The sessions of this node that are logged in there: the node reports them as ended to its partitions.
        for partition in owners.indices where owners[partition] == node { closeSessions(of: partition) }
        answer(table.lost(node.number), .linkLost, now)
        controlWrites.lose(node)
    }

    // MARK: From this node

    /// Passes an event to the node that owns its partition. It waits if there is none, and behind those that wait.
    func forward(_ event: Event, _ now: Now, until: Instant? = nil) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        if held.isHolding(partition) { return hold(event, of: partition, until: until, now) }
        let hosted = replicas[partition]
        if hosted.isServed, hosted.releasesTo == nil { return deliver(event) }
        guard let owner = owners[partition], owner != node, isLinked(owner) else {
            return hold(event, of: partition, until: until, now)
        }
        send(event, to: owner, now)
    }

    /// Keeps an event until its partition has an owner that can be reached.
    private func hold(_ event: Event, of partition: Int, until: Instant?, _ now: Now) {
        let until = until ?? now.monotonic.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
        guard !held.add(event, of: partition, until: until) else { return }
        answer([event.answerWhenUnreached()], .tooManyHeld, now)
    }

    private func send(_ event: Event, to owner: NodeNumber, _ now: Now) {
        let onward = ownerOfSender(of: event)
        guard hasRoom(for: event, to: owner),
            table.open(event, to: owner.number, onward: onward?.number, now: now.monotonic)
        else { return answer([event.answerWhenUnreached()], .notSent, now) }
        guard write(to: owner, { $0.append(event, now: now.monotonic) }) else {
            // It fits into no parcel.
            table.withdraw(event, to: owner.number)
            return answer([event.answerWhenUnreached()], .notSent, now)
        }
        tally.forwarded(.event, .sent)
    }

    /// Whether an event may wait for a node that reads too slowly: one that is answered may not.
    private func hasRoom(for event: borrowing Event, to owner: NodeNumber) -> Bool {
        let gathered = outgoing[owner]?.parcel.byteCount ?? 0
        let waiting = gathered + (links?.queuedBytes(for: owner) ?? 0)
        return waiting <= Limits.NodeLinks.requestQueueBytes || event.openRequests.isEmpty
    }

    /// The node that an upstream message reaches from that of its device: that of its sender. `nil` for other events.
    private func ownerOfSender(of event: Event) -> NodeNumber? {
        guard case .device(_, .upstreamReceived(let upstream)) = event else { return nil }
        return owners[PartitionKey.sender(upstream.sender).partition(of: map.partitions)]
    }

    /// Has the owner of a partition write a batch of the control plane.
    func write(_ write: ControlWrite, of partition: Int, to owner: NodeNumber, _ now: Now) {
        guard isLinked(owner),
            let number = controlWrites.add(
                for: owner, of: partition, now: now.monotonic, write.completed)
        else { return write.completed(.failed(0)) }
        let isWritten = self.write(to: owner) {
            $0.append(write.batch, number: number, now: now.monotonic)
        }
        if !isWritten { controlWrites.fail(number, at: owner) }
    }

    /// Another node asks for a batch of the control plane.
    private func accept(_ batch: WriteBatch, number: UInt64, from node: NodeNumber, _ now: Now) {
        guard let partition = controlPartition(of: batch) else { return answer(number, nil, to: node) }
        let (mailbox, sendersChanged) = (mailbox, sendersChanged)
        let write = ControlWrite(batch: batch) { outcome in
            // No request of this node waits for it.
            if !outcome.hasFailed { sendersChanged() }
            mailbox.post { host in
                // The batch is in this frame or an earlier one.
                let position = host.replicas[partition].replica.passed
                host.answer(number, outcome.hasFailed ? nil : position, to: node)
            }
        }
        submit(
            ControlWrites.Held(
                write: write, partition: partition, mayLeave: false,
                until: now.monotonic.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)), now)
    }

    private func answer(_ number: UInt64, _ position: LogPosition?, to node: NodeNumber) {
        guard isLinked(node) else { return }
        let now = reactor.now.monotonic
        _ = write(to: node) { $0.append(written: number, at: position?.number, now: now) }
    }

    /// The owner has answered for a batch of the control plane. Its operator sees it once the store of this node has it: the next change
    /// begins with what that has.
    private func written(_ number: UInt64, at position: UInt64?, by node: NodeNumber, _ now: Now) {
        guard let position else { return controlWrites.fail(number, at: node) }
        let partition = controlWrites.written(
            number, at: LogPosition(position), by: node, now: now.monotonic)
        if let partition { controlWrites.applied(replicas[partition].replica.stored, of: partition) }
    }

    func isLinked(_ node: NodeNumber) -> Bool { links?.isUp(node) ?? false }

    /// Passes a command to the node of its session. A node without a link has no sessions.
    func forward(_ command: SessionCommand, to connection: ConnectionID, _ now: Now) {
        let owner = NodeNumber(connection.node)
        sessions.note(command, to: connection)
        guard owner != node else { return deliver(command, to: connection) }
        guard isLinked(owner) else { return }
        if write(to: owner, { $0.append(command, to: connection, now: now.monotonic) }) {
            tally.forwarded(.command, .sent)
        }
    }

    /// Writes an item into the parcel of a node; a full one is sent first.
    private func write(to node: NodeNumber, _ append: (inout ParcelWriter) -> Bool) -> Bool {
        let outgoing = outgoing[node] ?? OutgoingParcel(node)
        self.outgoing[node] = outgoing
        if append(&outgoing.parcel) { return true }
        guard outgoing.parcel.count > 0 else { return false }
        send(outgoing)
        return append(&outgoing.parcel)
    }

    private func send(_ outgoing: OutgoingParcel) {
        tally.parcel(outgoing.parcel.byteCount, .sent)
        links?.send(outgoing.parcel.bytes, to: outgoing.node)
        outgoing.parcel.removeAll()
    }

    /// Sends what this turn has for other nodes.
    func sendParcels() {
        for outgoing in outgoing.values where outgoing.parcel.count > 0 { send(outgoing) }
    }

    // MARK: From other nodes

    private func received(_ bytes: [UInt8], from node: NodeNumber, _ now: Now) {
        tally.parcel(bytes.count, .received)
        do throws(NodeProtocolFault) {
            for item in try NodeProtocol.items(bytes.raw, now: now.monotonic) {
                switch item {
                case .event(let event): accept(event, from: node, now)
                case .command(let connection, let command):
                    guard table.receives(command, for: connection, from: node.number) else { continue }
                    tally.forwarded(.command, .received)
                    deliver(command, to: connection)
                case .write(let number, let batch): accept(batch, number: number, from: node, now)
                case .written(let number, let position): written(number, at: position, by: node, now)
                }
            }
        } catch {
            log.error(
                "cluster_parcel_invalid",
                ["node": LogValue(Int(node.number)), "problem": .text(error.description)])
            // The same parcel would come again: what waits for it is answered by its deadline.
        }
    }

    /// An event of another node, for a partition that this node should own.
    private func accept(_ event: Event, from source: NodeNumber, _ now: Now) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        guard table.receives(event, from: source.number) else { return }
        tally.forwarded(.event, .received)
        let hosted = replicas[partition]
        if hosted.isServed, hosted.releasesTo == nil, !held.isHolding(partition) { return deliver(event) }
        // The news of a change has reached the other node earlier than this one, or later.
        hold(event, of: partition, until: nil, now)
    }

    private func deliver(_ event: Event) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        sessions.note(event)
        incoming[map.reactor(of: partition)].owned.append(event)
    }

    private func deliver(_ command: SessionCommand, to connection: ConnectionID) {
        guard Int(connection.reactor) < incoming.count else { return }
        incoming[Int(connection.reactor)].commands.append((connection, command))
    }

    // MARK: Owners

    /// The owner of a partition has changed, by the heartbeats that this node has seen.
    func ownerChanged(of partition: Int, to owner: NodeNumber?, _ now: Now) {
        let before = owners[partition]
        guard before != owner else { return }
        owners[partition] = owner
        if let owner, owner != node { endHandover(of: partition, owner: owner) }
        if let before, before != node {
            // The sessions of its devices and senders are unknown to the next owner.
            closeSessions(of: partition)
        }
        if owner != nil { flush(partition, now) }
    }

    /// Closes the sessions of other nodes at a partition that leaves this one: it has forgotten them, even if it comes back.
    func closeRemoteSessions(of partition: Int, _ now: Now) {
        for connection in sessions.leave(partition, of: map.partitions) {
            forward(.connection(.close(.ownerChanged)), to: connection, now)
        }
    }

    private func closeSessions(of partition: Int) {
        // Sessions that were let in come first, so that they are closed as well.
        postIncoming()
        for mailbox in reactors { mailbox.post { host in host.closeSessions(of: partition) } }
    }

    /// Passes on the events and the changes by operators that wait for the owner of a partition.
    func flush(_ partition: Int, _ now: Now) {
        for write in controlWrites.take(partition) { submit(write, now) }
        let waiting = held.take(partition)
        for (event, until) in waiting { forward(event, now, until: until) }
    }

    /// Answers the requests whose time is over.
    func releaseOverdue(_ now: Now) {
        let overdue = held.takeOverdue(now.monotonic)
        answer(overdue.map { $0.answerWhenUnreached() }, .noOwner, now)
        controlWrites.endOverdue(now.monotonic)
        answer(table.overdue(now: now.monotonic), .noAnswer, now)
    }

    /// Gives requesters the answers that their owners did not.
    private func answer(
        _ answers: [UnreachedAnswer], _ reason: Metric.UnreachedReason, _ now: Now
    ) {
        guard !answers.isEmpty else { return }
        tally.unreached(answers.count, reason)
        for answer in answers {
            answer.forEach(
                command: { forward($1, to: $0, now) }, event: { forward($0, now) })
        }
    }
}

/// What goes to a node in this turn.
final class OutgoingParcel {
    let node: NodeNumber
    var parcel = ParcelWriter()

    init(_ node: NodeNumber) { self.node = node }
}
