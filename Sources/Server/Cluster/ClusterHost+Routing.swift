import Basics
import Cluster
import Delivery
import NodeLinks
import NodeProtocol
import Transport

/// Events for partitions of other nodes, and commands for their sessions.
extension ClusterHost {
    func makeLinks() -> NodeLinkHost {
        NodeLinkHost(settings: settings.links, reactor: reactor) { [unowned self] in handle($0) }
    }

    private func handle(_ event: NodeLinkEvent) {
        let now = reactor.now
        switch event {
        case .up(let node, _):
            log.notice("cluster_link_up", ["node": LogValue(Int(node.number))])
            for partition in owners.indices where owners[partition] == node { flush(partition, now) }
        case .down(let node, let reason):
            log.warning(
                "cluster_link_down", ["node": LogValue(Int(node.number)), "reason": .text("\(reason)")])
            lose(node, now)
        case .refused(let peer, let reason):
            log.repeating(
                .warning, "cluster_link_refused", by: "\(peer) \(reason)",
                ["peer": .text("\(peer)"), "reason": .text("\(reason)")])
        case .received(let node, let bytes): received(bytes, from: node, now)
        }
    }

    /// The link to a node is lost: its sessions have ended, and no answers come from it.
    private func lose(_ node: NodeNumber, _ now: Now) {
        outgoing[node] = nil
        for event in sessions.lose(node) { deliver(event) }
        answer(table.lose(node), now)
    }

    // MARK: From this node

    /// Passes an event to the node that owns its partition.
    func forward(_ event: Event, _ now: Now) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        let hosted = replicas[partition]
        if hosted.isServed, hosted.releasesTo == nil { return deliver(event) }
        guard let owner = owners[partition], owner != node, links.isUp(owner) else {
            if !held.add(event, of: partition, now: now.monotonic) { answer(event.answerWhenUnreached(), now) }
            return
        }
        send(event, to: owner, now)
    }

    private func send(_ event: Event, to owner: NodeNumber, _ now: Now) {
        guard table.add(event, to: owner, now: now.monotonic) else {
            return answer(event.answerWhenUnreached(), now)
        }
        let isWritten = write(to: owner) { $0.append(event, now: now.monotonic) }
        if !isWritten { answer(table.drop(event), now) }
    }

    /// Passes a command to the node of its session. A node without a link has no sessions.
    func forward(_ command: SessionCommand, to connection: ConnectionID, _ now: Now) {
        let owner = NodeNumber(connection.node)
        sessions.note(command, to: connection)
        guard owner != node else { return deliver(command, to: connection) }
        guard links.isUp(owner) else { return }
        _ = write(to: owner) { $0.append(command, to: connection, now: now.monotonic) }
    }

    /// Writes an item into the parcel of a node; a full one is sent first.
    private func write(to node: NodeNumber, _ append: (inout ParcelWriter) -> Bool) -> Bool {
        var parcel = outgoing.removeValue(forKey: node) ?? ParcelWriter()
        defer { outgoing[node] = parcel }
        if append(&parcel) { return true }
        guard parcel.count > 0 else { return false }
        links.send([UInt8](copying: parcel.bytes), to: node)
        parcel.removeAll()
        return append(&parcel)
    }

    /// Sends what this turn has for other nodes.
    func sendParcels() {
        for (node, parcel) in outgoing where parcel.count > 0 {
            links.send([UInt8](copying: parcel.bytes), to: node)
            outgoing[node]?.removeAll()
        }
    }

    // MARK: From other nodes

    private func received(_ bytes: [UInt8], from node: NodeNumber, _ now: Now) {
        do throws(NodeProtocolFault) {
            for item in try NodeProtocol.items(bytes.raw, now: now.monotonic) {
                switch item {
                case .event(let event): accept(event, now)
                case .command(let connection, let command):
                    guard table.isOpen(command, to: connection) else { continue }
                    deliver(command, to: connection)
                }
            }
        } catch {
            log.error(
                "cluster_parcel_invalid",
                ["node": LogValue(Int(node.number)), "problem": .text(error.description)])
            links.close(node, reason: .protocolFault)
        }
    }

    /// An event of another node, for a partition that this node should own.
    private func accept(_ event: Event, _ now: Now) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        guard table.isOpen(event) else { return }
        sessions.note(event)
        let hosted = replicas[partition]
        if hosted.isServed, hosted.releasesTo == nil { return deliver(event) }
        // The sender knows of a change before this node does, or the other way round.
        if !held.add(event, of: partition, now: now.monotonic) { answer(event.answerWhenUnreached(), now) }
    }

    private func deliver(_ event: Event) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        incoming[map.reactor(of: partition)].events.append(event)
    }

    private func deliver(_ command: SessionCommand, to connection: ConnectionID) {
        guard Int(connection.reactor) < incoming.count else { return }
        incoming[Int(connection.reactor)].commands.append((connection, command))
    }

    // MARK: Owners

    /// The owner of a partition has changed, as far as this node knows.
    func ownerChanged(of partition: Int, to owner: NodeNumber?, _ now: Now) {
        let before = owners[partition]
        guard before != owner else { return }
        owners[partition] = owner
        if let before, before != node {
            answer(table.lose(before, partition: partition), now)
            // The sessions of its devices and senders are unknown to the next owner.
            for mailbox in reactors { mailbox.post { host in host.closeSessions(of: partition) } }
        }
        if owner != nil { flush(partition, now) }
    }

    /// Passes on the events that wait for the owner of a partition.
    func flush(_ partition: Int, _ now: Now) {
        for event in held.take(partition) { forward(event, now) }
    }

    /// Answers the requests whose time is over.
    func releaseOverdue(_ now: Now) {
        for event in held.takeOverdue(now.monotonic) { answer(event.answerWhenUnreached(), now) }
        answer(table.takeOverdue(now.monotonic), now)
    }

    /// Gives requesters the answers that their owners did not.
    private func answer(_ answers: [UnreachedAnswer], _ now: Now) {
        for answer in answers {
            switch answer {
            case .command(let connection, let command): forward(command, to: connection, now)
            case .event(let event): forward(event, now)
            }
        }
    }
}
