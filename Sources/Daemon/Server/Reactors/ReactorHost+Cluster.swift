import Basics
import Cluster
import Delivery
import Transport

/// Partitions that come from other nodes of a cluster, and leave to them.
extension ReactorHost {
    /// Serves a partition of this reactor from now on, or as soon as its place is free.
    func take(_ partition: Int, _ lease: PartitionLease, make: @escaping @Sendable () -> Partition) {
        toCluster.jobs.append { host in host.route(.fence(partition: partition), host.reactor.now) }
        turns.take(partition, lease, make: make)
    }

    /// Stops serving a partition, and closes the sessions of its devices and senders. Called on every reactor.
    func leave(_ partition: Int, _ number: UInt64) {
        if map.reactor(of: partition) == index {
            var orders = turns.leave(partition, number)
            webhooks.order(&orders)
        }
        closeSessions(of: partition)
    }

    /// Reports the partitions that have left, after their batches.
    func removeLeft() {
        let departures = turns.removeLeft { tally.collect(&$0) }
        // Those that have come back are served in the next turn.
        if departures.needsTurn { mailboxes[index].post { _ in } }
        for (partition, number) in departures.left {
            toCluster.jobs.append { $0.route(.left(partition: partition, number), $0.reactor.now) }
        }
    }

    /// Returns which way a request of a sender goes.
    func way(of sender: SenderID, _ kind: Link.Kind, _ now: Now) -> Vouching.Way {
        guard let contact = cluster?.contact else { return .passes }
        let moment = Now.read().monotonic
        let isCurrent =
            kind.isAppServer
            ? contact.coversSessions(of: sender, moment)
            : contact.isCurrent(sender, from: now.monotonic, to: moment)
        return vouching.way(
            of: sender, readSenders[sender], isSession: kind.isAppServer, isCurrent: isCurrent)
    }

    /// Keeps a request until this node has all changes of its sender: those of a key that was revoked are refused then.
    func vouchLater(_ event: consuming Event, of sender: SenderID, isSession: Bool, _ now: Now) {
        let answer = vouching.keep(
            event, of: sender, readSenders[sender], isSession: isSession, now: now.monotonic)
        if let answer { perform(answer) }
    }

    /// Lets the requests go on whose sender is as it was, and answers the others and those whose time is over.
    func vouch(_ now: Now) {
        guard !vouching.isEmpty, let contact = cluster?.contact else { return }
        // The records are read after this.
        let start = Now.read().monotonic
        let outcomes = vouching.review(
            now: now.monotonic, isCurrent: { contact.isCurrent($0, from: start, to: start) },
            record: { [senders = senders()] in senders[$0] })
        for outcome in outcomes {
            switch outcome {
            case .goesOn(let event): accept(event)
            case .refused(let answer): perform(answer)
            }
        }
        // What goes on is handled in the next turn.
        if !outcomes.isEmpty { mailboxes[index].post { _ in } }
    }

    func perform(_ unreached: UnreachedAnswer) {
        unreached.forEach(command: { answer($1, to: $0) }, event: { accept($0) })
    }

    /// Notifies other nodes of the end of a session that had begun to log in, after the event that reports it.
    func ended(_ link: Link) {
        guard cluster != nil, link.kind == .device || link.kind.isAppServer, link.peerNumber != nil else {
            return
        }
        let connection = link.connection.id
        toCluster.jobs.append { $0.route(.ended(connection), $0.reactor.now) }
    }

    /// Closes the sessions of the devices and senders of a partition: its new owner does not know them.
    func closeSessions(of partition: Int) {
        for link in allLinks where link.key?.partition(of: map.partitions) == partition {
            answer(.connection(.close(.ownerChanged)), to: link.connection.id)
        }
    }
}

extension Link {
    /// The device or sender that has logged in.
    var key: PartitionKey? {
        guard isLoggedIn, let peerNumber else { return nil }
        if kind == .device { return .device(DeviceID(peerNumber)) }
        return kind.isAppServer ? .sender(SenderID(peerNumber)) : nil
    }
}
