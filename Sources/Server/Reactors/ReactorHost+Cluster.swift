import Basics
import Delivery
import Transport

/// A partition that is served as soon as its place is free, with the events that it will get.
struct AwaitedPartition {
    var make: @Sendable () -> Partition
    var events: [Event] = []
}

/// Partitions that come from other nodes of a cluster, and leave to them.
extension ReactorHost {
    /// Serves a partition from now on. Called on every reactor; the one that the partition is assigned to gets `make`.
    func take(_ partition: Int, make: @escaping @Sendable () -> Partition) {
        isOurs[partition] = true
        guard map.reactor(of: partition) == index else { return }
        if partitions.isFree(partition) {
            partitions.take(partition, of: map.partitions, make())
        } else if !partitions.isServing(partition) {
            awaited[partition, default: AwaitedPartition(make: make)].make = make
        }
    }

    /// Serves the partitions whose places have become free, from the next turn on.
    func takeAwaited() {
        for (partition, next) in awaited where partitions.isFree(partition) {
            awaited[partition] = nil
            partitions.take(partition, of: map.partitions, next.make())
            for event in next.events { partitions.queue(event, of: partition) }
            // They are handled in the next turn.
            mailboxes[index].post { _ in }
        }
    }

    /// Stops serving a partition, and closes the sessions of its devices and senders. Called on every reactor.
    func leave(_ partition: Int) {
        isOurs[partition] = false
        // It goes at once: its events wait for the next owner.
        if let next = awaited.removeValue(forKey: partition) { toCluster.events += next.events }
        if map.reactor(of: partition) == index {
            var orders = partitions.leave(partition)
            webhooks.order(&orders)
        }
        closeSessions(of: partition)
    }

    /// Answers a request of HTTP as if its owner could not be reached: this node does not learn of revoked keys at the moment. Returns
    /// `false` if nothing waits for the event.
    func refuseUnreached(_ event: borrowing Event, _ now: Now) -> Bool {
        let answer = event.answerWhenUnreached()
        if case .none = answer { return false }
        perform(answer, now)
        return true
    }

    private func perform(_ unreached: UnreachedAnswer, _ now: Now) {
        switch unreached {
        case .none: break
        case .command(let connection, let command): answer(command, to: connection)
        case .event(let event): accept(event, now: now)
        case .several(let all): for one in all { perform(one, now) }
        }
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
