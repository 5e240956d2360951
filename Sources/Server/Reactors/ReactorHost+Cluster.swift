import Basics
import Delivery
import Transport

/// Partitions that come from other nodes of a cluster, and leave to them.
extension ReactorHost {
    /// Serves a partition from now on. Called on every reactor; the one that the partition is assigned to gets `make`.
    func take(_ partition: Int, make: @escaping @Sendable () -> Partition) {
        guard map.reactor(of: partition) == index else {
            isOurs[partition] = true
            return
        }
        guard partitions.take(partition, of: map.partitions, make()) else {
            // The store has not answered all that it was asked before the partition left.
            return repeatNextTurn { $0.take(partition, make: make) }
        }
        isOurs[partition] = true
    }

    /// Stops serving a partition, and closes the sessions of its devices and senders. Called on every reactor.
    func leave(_ partition: Int) {
        isOurs[partition] = false
        if map.reactor(of: partition) == index {
            var orders = partitions.leave(partition)
            webhooks.order(&orders)
        }
        closeSessions(of: partition)
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
