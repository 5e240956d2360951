import Basics
import Delivery

/// The sessions of other nodes that are logged in to this node's partitions.
///
/// If the node of a session goes, no other event reports its end. If a partition leaves this node, its sessions must log in again, also
/// where this node gets it back at once: the partition has forgotten them then.
struct RemoteSessions {
    private let node: UInt16
    private var byNode: [UInt16: [ConnectionID: PartitionKey]] = [:]

    /// Creates the sessions at a node, none yet.
    init(at node: UInt16) { self.node = node }

    /// Notes logins and ends among the events that a partition of this node gets. One that is held or passed on must not be noted: its
    /// session belongs to another node's partition.
    mutating func note(_ event: borrowing Event) {
        switch event {
        case .device(let device, .login(let login)): add(login.connection, .device(device))
        case .sender(let sender, .login(let connection, _)), .sender(let sender, .bound(let connection)):
            add(connection, .sender(sender))
        case .device(_, .closed(let connection)), .sender(_, .closed(let connection)):
            byNode[connection.node]?[connection] = nil
        default: break
        }
    }

    private mutating func add(_ connection: ConnectionID, _ key: PartitionKey) {
        guard connection.node != node else { return }
        byNode[connection.node, default: [:]][connection] = key
    }

    /// Notes refused logins among the commands to other nodes.
    mutating func note(_ command: SessionCommand, to connection: ConnectionID) {
        switch command {
        case .appServer(.loginRefused), .device(.loginRefused): byNode[connection.node]?[connection] = nil
        default: break
        }
    }

    /// Removes the sessions of a node. Returns the events that report their ends.
    mutating func lose(_ node: NodeNumber) -> [Event] {
        (byNode.removeValue(forKey: node.number) ?? [:]).compactMap { connection, key in
            switch key {
            case .device(let device): .device(device, .closed(connection))
            case .sender(let sender): .sender(sender, .closed(connection))
            default: nil
            }
        }
    }

    /// Removes the sessions of a partition, of `count` in the store, that leaves this node. Returns their connections, which are to be
    /// closed.
    mutating func leave(_ partition: Int, of count: Int) -> [ConnectionID] {
        var left: [ConnectionID] = []
        for (node, sessions) in byNode {
            let gone = sessions.filter { $0.value.partition(of: count) == partition }.keys
            for connection in gone { byNode[node]?[connection] = nil }
            left += gone
        }
        return left
    }
}
