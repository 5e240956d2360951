import Basics
import Delivery

/// The sessions of other nodes that are logged in to this node's partitions. If their node goes, no other event reports their end.
struct RemoteSessions {
    private var byNode: [UInt16: [ConnectionID: PartitionKey]] = [:]

    /// Notes logins and ends among the events from other nodes.
    mutating func note(_ event: Event) {
        switch event {
        case .device(let device, .login(let login)):
            byNode[login.connection.node, default: [:]][login.connection] = .device(device)
        case .sender(let sender, .login(let connection, _)), .sender(let sender, .bound(let connection)):
            byNode[connection.node, default: [:]][connection] = .sender(sender)
        case .device(_, .closed(let connection)), .sender(_, .closed(let connection)):
            byNode[connection.node]?[connection] = nil
        default: break
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
        (byNode.removeValue(forKey: node.number) ?? [:]).compactMap { connection, key in
            switch key {
            case .device(let device): .device(device, .closed(connection))
            case .sender(let sender): .sender(sender, .closed(connection))
            default: nil
            }
        }
    }
}
