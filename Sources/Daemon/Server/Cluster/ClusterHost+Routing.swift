import Basics
import Cluster
import ClusterLog
import Delivery
import NodeLinks
import NodeProtocol
import Transport

/// The links to other nodes, and what the router has sent over them.
extension ClusterHost {
    func handle(_ report: LinkReport) {
        let now = reactor.now
        switch report {
        case .up(let node, _):
            log.notice("cluster_link_up", ["node": LogValue(Int(node.number))])
            route(.linked(node), now)
        case .down(let node, let failure):
            log.warning(
                "cluster_link_down", ["node": LogValue(Int(node.number)), "problem": .text(failure.words)])
            outgoing[node] = nil
            loseCopy(from: node, now)
            loseGiving(to: node)
            route(.unlinked(node), now)
            inquire { $0.lose(node, effects: &$1) }
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

    /// Writes an item into the parcel of a node; a full one is sent first.
    func write(to node: NodeNumber, _ append: (inout ParcelWriter) -> Bool) -> Bool {
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
                case .event(let event):
                    tally.forwarded(.event, .received)
                    route(.received(event), now)
                case .command(let connection, let command):
                    tally.forwarded(.command, .received)
                    route(.receivedCommand(command, to: connection, from: node), now)
                case .write(let number, let batch):
                    route(
                        .receivedChange(
                            ControlChange(batch, of: partition(of: batch)), number: number, from: node), now)
                case .written(let number, let position):
                    route(
                        .receivedOutcome(number: number, at: position.map { LogPosition($0) }, from: node),
                        now)
                case .returned(let number): route(.returnedChange(number: number, from: node), now)
                case .asked(let number, let question): answer(question, number: number, to: node)
                case .answered(let number, let reply):
                    inquire { $0.receive(reply, to: number, from: node, effects: &$1) }
                }
            }
        } catch {
            log.error(
                "cluster_parcel_invalid",
                ["node": LogValue(Int(node.number)), "problem": .text(error.description)])
            // The same parcel would come again: what waits for it is answered by its deadline.
        }
    }

    // MARK: What the router wants

    /// Passes an event to the router, and does what it wants.
    func route(_ event: consuming NodeRouterEvent, _ now: Now) {
        router.handle(event, now: now.monotonic, effects: &routed)
        var made: [NodeRouterEffect] = []
        swap(&made, &routed)
        for effect in made { perform(effect, now) }
        // The storage is reused.
        made.removeAll(keepingCapacity: true)
        if routed.isEmpty { swap(&made, &routed) }
    }

    private func perform(_ effect: NodeRouterEffect, _ now: Now) {
        switch effect {
        case .serve(let partition): serve(replicas[partition])
        case .lost(let partition): lost(replicas[partition])
        case .leave(let partition, let number): leave(partition, number)
        case .release(let partition, let node): handle(.release(to: node), of: replicas[partition], now)
        case .resume(let partition):
            endHandover(of: partition, owner: nil)
            handle(.resume, of: replicas[partition], now)
        case .moved(let partition, let owner): endHandover(of: partition, owner: owner)
        case .deliver(let event, let partition):
            owned[map.reactor(of: partition)].append(event)
        case .passFence(let partition):
            postIncoming()
            reactors[map.reactor(of: partition)].post { $0.turns.fencePassed(partition) }
        case .send(let event, let owner, let mayWait): send(event, to: owner, mayWait: mayWait, now)
        case .command(let command, let connection):
            guard Int(connection.reactor) < incoming.count else { return }
            incoming[Int(connection.reactor)].commands.append((connection, command))
        case .sendCommand(let command, let connection, let node):
            if write(to: node, { $0.append(command, to: connection, now: now.monotonic) }) {
                tally.forwarded(.command, .sent)
            }
        case .closeSessions(let partition):
            // Sessions that were let in come first, so that they are closed as well.
            postIncoming()
            for mailbox in reactors { mailbox.post { host in host.closeSessions(of: partition) } }
        case .submit(let change, let origin, let partition):
            submit(change.batch, of: partition, .change(origin), now)
        case .store(let change, let number):
            let mailbox = mailbox
            store.submit(change.batch) { outcome in mailbox.post { $0.complete(number, outcome) } }
        case .sendChange(let change, let number, let owner):
            let isWritten = write(to: owner) {
                $0.append(change.batch, number: number, now: now.monotonic)
            }
            if !isWritten { route(.unsentChange(number: number, to: owner), now) }
        case .sendOutcome(let number, let position, let node):
            _ = write(to: node) { $0.append(written: number, at: position?.number, now: now.monotonic) }
        case .returnChange(let number, let node):
            _ = write(to: node) { $0.append(returned: number, now: now.monotonic) }
        case .changed(let number, let isWritten):
            complete(number, isWritten ? CommitOutcome(batchNumber: 0) : .failed(0))
        case .unreached(let count, let reason): tally.unreached(count, reason)
        }
    }

    private func send(_ event: Event, to owner: NodeNumber, mayWait: Bool, _ now: Now) {
        guard mayWait || hasRoom(for: owner),
            write(to: owner, { $0.append(event, now: now.monotonic) })
        else { return route(.unsent(event), now) }
        tally.forwarded(.event, .sent)
    }

    /// Whether the link to a node has room for what may not wait for a node that reads too slowly.
    func hasRoom(for owner: NodeNumber) -> Bool {
        let gathered = outgoing[owner]?.parcel.byteCount ?? 0
        return gathered + (links?.queuedBytes(for: owner) ?? 0) <= Limits.NodeLinks.requestQueueBytes
    }

    /// Reports the outcome of a change by an operator of this node.
    private func complete(_ number: ChangeOrigin.Number, _ outcome: CommitOutcome) {
        changes.removeValue(forKey: number)?(outcome)
    }
}

/// What goes to a node in this turn.
final class OutgoingParcel {
    let node: NodeNumber
    var parcel = ParcelWriter()

    init(_ node: NodeNumber) { self.node = node }
}
