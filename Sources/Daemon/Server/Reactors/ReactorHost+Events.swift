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
        events.drain { (event: consuming Event) in
            if isVouched, let sender = link.kind == .https ? event.vouchedSender : event.sessionSender {
                // Asked once for the messages of a session.
                if known?.sender != sender { known = (sender, way(of: sender, link.kind, now)) }
                switch known?.way ?? .waits {
                case .passes: break
                case .waits: return vouchLater(event, of: sender, isSession: link.kind.isAppServer, now)
                case .refused: return perform(event.answerWhenUnreached())
                }
            }
            if !link.isLoggedIn, link.kind == .https { admit(&event, from: link) }
            accept(consume event)
        }
        if mailboxes.count > 1, !link.hasBackpressure, mailboxes.contains(where: { $0.hasBackpressure }) {
            link.hasBackpressure = true
            backpressured.append(link)
        }
    }

    /// Routes an event to its partition, or one without a key to all partitions of this reactor; see `TurnLoop.accept`.
    func accept(_ event: consuming Event) { turns.accept(consume event, now: clock.serverTime(reactor.now)) }

    /// What this turn has let out leaves only while the leases hold: the process may have stood still since.
    func checkLeases(_ validUntil: Instant) {
        guard validUntil <= Now.read().monotonic else { return }
        for link in allLinks where link.connection.outboundCount > 0 { link.connection.abort(.ownerChanged) }
    }
}
