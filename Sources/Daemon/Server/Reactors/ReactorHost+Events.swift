import Basics
import Cluster
import Delivery
import Transport

/// The way of events to their partitions.
extension ReactorHost {
    /// Handles the events of a link's session in order, and empties the array.
    func accept(_ events: inout [Event], from link: Link, now: Now) {
        guard !events.isEmpty else { return }
        if let faults { applyFaults(faults, to: &events, now: now) }
        let isVouched = cluster != nil && (link.kind == .https || link.kind.isAppServer)
        var known: (sender: SenderID, way: Vouching.Way)?
        for at in events.indices {
            // Moved, not copied: a submission has half a dozen reference-counted values.
            var event = Event.tick
            swap(&event, &events[at])
            if isVouched, let sender = link.kind == .https ? event.vouchedSender : event.sessionSender {
                // Asked once for the messages of a session.
                if known?.sender != sender { known = (sender, way(of: sender, link.kind, now)) }
                switch known?.way ?? .waits {
                case .passes: break
                case .waits:
                    vouchLater(consume event, of: sender, isSession: link.kind.isAppServer, now)
                    continue
                case .refused:
                    perform(event.answerWhenUnreached(), now)
                    continue
                }
            }
            if !link.isLoggedIn, link.kind == .https { admit(&event, from: link) }
            accept(consume event, now: now)
        }
        events.removeAll(keepingCapacity: true)
        if mailboxes.count > 1, !link.hasBackpressure, mailboxes.contains(where: { $0.hasBackpressure }) {
            link.hasBackpressure = true
            backpressured.append(link)
        }
    }

    /// Routes an event to its partition: on this reactor at once, on another one with the parcel of this turn. An event without
    /// a key goes to all partitions of this reactor.
    ///
    /// The reactor of a partition passes on its events if another node owns it: all of them come by that way, so that none overtakes.
    func accept(_ event: consuming Event, now: Now) {
        guard let key = event.key else { return partitions.handleInAll(event, now: reactor.now) }
        let partition = key.partition(of: map.partitions)
        let owner = map.reactor(of: partition)
        if owner != index {
            outgoing[owner].events.append(consume event)
        } else if cluster == nil {
            partitions.queue(consume event, of: partition)
        } else {
            pass(consume event, of: partition, isPassedBack: false)
        }
    }

    /// Has an event go the way of the door of its partition.
    private func pass(_ event: consuming Event, of partition: Int, isPassedBack: Bool) {
        switch doors[partition].way(isPassedBack: isPassedBack) {
        case .serve: partitions.queue(consume event, of: partition)
        case .keep: doors[partition].keep(consume event)
        case .passOn: toCluster.events.append(consume event)
        }
    }

    /// Takes an event that the thread of the cluster has for a partition that this node owns.
    func acceptOwned(_ event: consuming Event) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        pass(consume event, of: partition, isPassedBack: true)
    }

    /// What this turn has let out leaves only while the leases hold: the process may have stood still since.
    func checkLeases() {
        // What goes to other threads is looked at there.
        for peer in outgoing.indices { outgoing[peer].validUntil = letOutUntil }
        toCluster.validUntil = letOutUntil
        guard letOutUntil <= Now.read().monotonic else { return }
        for link in allLinks where link.connection.outboundCount > 0 { link.connection.abort(.ownerChanged) }
    }
}
