import Basics
import Delivery

/// The sessions of other nodes that are logged in to this node's partitions.
///
/// If the node of a session goes, no other event reports its end. If a partition leaves this node, its sessions must log in again, also
/// where this node gets it back at once: the partition has forgotten them then.
struct RemoteSessions: Sendable {
    private let node: UInt16
    private(set) var byNode: [UInt16: [ConnectionID: PartitionKey]] = [:]

    var count: Int { byNode.values.reduce(0) { $0 + $1.count } }

    /// Creates the sessions at a node, none yet.
    init(at node: UInt16) { self.node = node }

    /// Notes logins and ends among the events that a partition of this node gets. One that is held or passed on must not be noted: its
    /// session belongs to another node's partition.
    mutating func note(_ event: borrowing Event) {
        if let (connection, key) = Self.begun(by: event) {
            guard connection.node != node else { return }
            byNode[connection.node, default: [:]][connection] = key
        } else {
            switch event {
            case .device(_, .closed(let connection)), .sender(_, .closed(let connection)):
                byNode[connection.node]?[connection] = nil
            default: break
            }
        }
    }

    /// The session that an event begins at its partition.
    static func begun(by event: borrowing Event) -> (ConnectionID, PartitionKey)? {
        switch event {
        case .device(let device, .login(let login)): (login.connection, .device(device))
        case .sender(let sender, .login(let connection, _)), .sender(let sender, .bound(let connection)):
            (connection, .sender(sender))
        default: nil
        }
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
        Self.sorted(byNode.removeValue(forKey: node.number) ?? [:]).compactMap { Self.end(of: $0, $1) }
    }

    /// Removes a session. Returns the event that reports its end; `nil` if there is none.
    mutating func end(_ connection: ConnectionID) -> Event? {
        guard let key = byNode[connection.node]?.removeValue(forKey: connection) else { return nil }
        return Self.end(of: connection, key)
    }

    private static func end(of connection: ConnectionID, _ key: PartitionKey) -> Event? {
        switch key {
        case .device(let device): .device(device, .closed(connection))
        case .sender(let sender): .sender(sender, .closed(connection))
        default: nil
        }
    }

    /// Removes the sessions of a partition, of `count` in the store, that leaves this node. Returns their connections, which are to be
    /// closed.
    mutating func leave(_ partition: Int, of count: Int) -> [ConnectionID] {
        var left: [ConnectionID] = []
        for (node, sessions) in byNode.sorted(by: { $0.key < $1.key }) {
            let gone = sessions.filter { $0.value.partition(of: count) == partition }
            for connection in gone.keys { byNode[node]?[connection] = nil }
            left += Self.sorted(gone).map(\.key)
        }
        return left
    }

    /// In an order that a seed repeats.
    private static func sorted(
        _ sessions: [ConnectionID: PartitionKey]
    ) -> [(key: ConnectionID, value: PartitionKey)] {
        sessions.sorted { ($0.key.reactor, $0.key.slot) < ($1.key.reactor, $1.key.slot) }
    }
}
