import Basics
import Delivery
import Transport

/// A partition that is served as soon as its place is free, with the events that it will get.
struct AwaitedPartition {
    var make: @Sendable () -> Partition
    var lease: PartitionLease
    var events: [Event] = []
}

/// A request whose credentials were checked by what this node has of its sender, which may be out of date.
struct UnvouchedEvent {
    var event: Event
    var sender: SenderID
    /// What this node had of the sender.
    var record: SenderRecord?
    /// When it is refused.
    var until: Instant
}

/// Partitions that come from other nodes of a cluster, and leave to them.
extension ReactorHost {
    /// Serves a partition of this reactor from now on.
    func take(_ partition: Int, _ lease: PartitionLease, make: @escaping @Sendable () -> Partition) {
        // Earlier events of the partition are with the thread of the cluster: later ones follow them until it has passed them back.
        fences[partition, default: 0] += 1
        toCluster.jobs.append { host in host.fence(partition) }
        if partitions.isFree(partition) {
            partitions.take(partition, of: map.partitions, make(), lease)
        } else if !partitions.isServing(partition) {
            let events = awaited[partition]?.events ?? []
            awaited[partition] = AwaitedPartition(make: make, lease: lease, events: events)
        }
    }

    /// All events are here that had been passed to the thread of the cluster when a partition was taken.
    func fencePassed(_ partition: Int) {
        guard let count = fences[partition] else { return }
        fences[partition] = count > 1 ? count - 1 : nil
    }

    /// Serves the partitions whose places have become free, from the next turn on.
    func takeAwaited() {
        for (partition, next) in awaited where partitions.isFree(partition) {
            awaited[partition] = nil
            partitions.take(partition, of: map.partitions, next.make(), next.lease)
            for event in next.events { partitions.queue(event, of: partition) }
            // They are handled in the next turn.
            mailboxes[index].post { _ in }
        }
    }

    /// Stops serving a partition, and closes the sessions of its devices and senders. Called on every reactor.
    func leave(_ partition: Int) {
        // It goes at once: its events wait for the next owner.
        if let next = awaited.removeValue(forKey: partition) { toCluster.events += next.events }
        if map.reactor(of: partition) == index {
            var orders = partitions.leave(partition)
            webhooks.order(&orders)
        }
        closeSessions(of: partition)
    }

    /// Keeps a request until this node has all changes of its sender: those of a key that was revoked are refused then.
    func vouchLater(_ event: consuming Event, of sender: SenderID, _ now: Now) {
        guard unvouched.count < Limits.ClusterHost.heldEvents else {
            return perform(event.answerWhenUnreached(), now)
        }
        let until = now.monotonic.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
        unvouched.append(
            UnvouchedEvent(event: event, sender: sender, record: senderRecord(sender), until: until))
    }

    /// Lets the requests go on whose sender is as it was, and answers those whose time is over.
    func vouch(_ now: Now) {
        guard !unvouched.isEmpty, let contact = cluster?.contact else { return }
        var waiting: [UnvouchedEvent] = []
        for entry in unvouched {
            let isCurrent = contact.isCurrent(entry.sender, now.monotonic)
            guard isCurrent || entry.until <= now.monotonic else {
                waiting.append(entry)
                continue
            }
            if isCurrent, senderRecord(entry.sender) == entry.record {
                accept(entry.event, now: now)
            } else {
                // The client sends it again, and is answered by what has changed.
                perform(entry.event.answerWhenUnreached(), now)
            }
        }
        // What goes on is handled in the next turn.
        if waiting.count < unvouched.count { mailboxes[index].post { _ in } }
        unvouched = waiting
    }

    private func perform(_ unreached: UnreachedAnswer, _ now: Now) {
        unreached.forEach(command: { answer($1, to: $0) }, event: { accept($0, now: now) })
    }

    /// Has the sessions log in elsewhere that a leaving partition would let in: it had their logins before it left, and its next owner
    /// does not have them.
    static func refuseLogins(in commands: inout [(ConnectionID, SessionCommand)]) {
        for at in commands.indices where commands[at].1.letsIn {
            commands[at].1 = .connection(.close(.ownerChanged))
        }
    }

    /// Closes the sessions of the devices and senders of a partition: its new owner does not know them.
    func closeSessions(of partition: Int) {
        for link in allLinks where link.key?.partition(of: map.partitions) == partition {
            answer(.connection(.close(.ownerChanged)), to: link.connection.id)
        }
    }
}

extension SessionCommand {
    /// Whether its session is logged in from then on.
    fileprivate var letsIn: Bool {
        switch self {
        case .device(.loginAccepted), .appServer(.loginAccepted), .appServer(.streamResumed): true
        default: false
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
