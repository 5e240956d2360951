import Basics
import ClusterLog
import Delivery

@testable import Cluster

/// What must hold in the end.
extension NodeCheckers {
    /// What keeps its order.
    private struct Stream: Hashable {
        var device: UInt64
        var connection: ConnectionID
        /// What waited until its credentials were checked is overtaken by what needs no check, or that of another sender.
        var sender: SenderID?
        /// A connection of the world is one by HTTP and one by XMPP at a time.
        var isSession: Bool
    }

    /// Whether nothing waits for anything.
    func isQuiet(_ world: NodeWorld) -> Bool {
        openCount == 0
            && world.nodes.allSatisfy { node in
                node.router.heldCount + node.router.openCount == 0
                    && node.router.changeCount + node.changes.count == 0 && node.vouching.isEmpty
                    && node.cores.allSatisfy { $0.map(node.isQuiet) ?? true }
            }
    }

    mutating func finish(_ world: NodeWorld) {
        let open = all.filter { $0.outcome == .open }
        if let first = open.min(by: { $0.asked < $1.asked }) {
            fail("waits: \(open.count) requests have no answer, the first of \(first.asked): \(first)")
        }
        checkStores(world)
        checkSenders(world)
        checkTopics(world)
        for node in world.nodes {
            let router = node.router
            if router.heldCount > 0 || router.openCount > 0 {
                fail("counts: node \(node.index) holds \(router.heldCount), waits for \(router.openCount)")
            }
            if router.changeCount + node.changes.count > 0 || !node.vouching.isEmpty {
                fail(
                    "counts: node \(node.index) has \(router.changeCount) of \(node.changes.count) changes without an outcome"
                )
            }
            for case let core? in node.cores where !node.isQuiet(core) {
                fail("counts: partition \(core.partition) of node \(node.index) waits: \(core.elsewhere)")
            }
        }
        checkSessions(world)
    }

    private mutating func checkTopics(_ world: NodeWorld) {
        for hosted in world.nodes.first?.replicas ?? [] {
            let stored = Set(hosted.store.messages.filter { $0.kind == .topic }.map(\.request))
            let lost = copied.filter { !stored.contains($0) }
            if !lost.isEmpty { fail("stores: partition \(hosted.partition) has not topic messages \(lost)") }
        }
    }

    private mutating func checkStores(_ world: NodeWorld) {
        for partition in 0..<NodeWorld.partitions {
            let stores = world.nodes.map(\.replicas[partition].store)
            for store in stores where store.messages != stores[0].messages {
                fail("stores: \(partition) differs: \(stores.map(\.messages.count))")
            }
            var last: [Stream: UInt32] = [:]
            for message in stores[0].messages where message.kind == .message {
                // What was passed on by several owners, and is not acknowledged, has no order.
                guard let request = self[message.request], request.outcome == .accepted else { continue }
                let stream = Stream(
                    device: message.device, connection: message.connection, sender: request.vouchedBy,
                    isSession: request.isSession)
                let before = last.updateValue(message.request, forKey: stream)
                if let before, before > message.request {
                    fail("order: \(message.request) is stored after \(before) of \(stream)")
                }
            }
        }
    }

    /// All nodes have the same senders, and know them.
    private mutating func checkSenders(_ world: NodeWorld) {
        for partition in 0..<NodeWorld.partitions {
            let suspended = world.nodes.map(\.replicas[partition].store.suspended)
            if Set(suspended).count > 1 { fail("senders: \(partition) differs: \(suspended)") }
        }
        for node in world.nodes where node.directory.suspended != world.directory(of: node).suspended {
            fail("senders: node \(node.index) has \(node.directory.suspended)")
        }
    }

    /// Each session that is let in is known to the owner of its partition, and the owner has no others.
    private mutating func checkSessions(_ world: NodeWorld) {
        var remote = Array(repeating: 0, count: world.nodes.count)
        for partition in 0..<NodeWorld.partitions {
            guard
                let owner = world.nodes.first(where: {
                    $0.router.standing(of: partition) == .serving
                }), let core = owner.cores[partition]
            else {
                fail("progress: partition \(partition) is not served")
                continue
            }
            for node in world.nodes {
                for connection in node.connections {
                    guard case .loggedIn(let key) = connection.login,
                        key.partition(of: NodeWorld.partitions) == partition
                    else { continue }
                    if node !== owner { remote[owner.index] += 1 }
                    if !core.has(connection.id(node), of: key) {
                        fail("sessions: \(key) at node \(node.index) is unknown to its owner")
                    }
                    if case .sender(let sender) = key, owner.directory.suspended.contains(sender) {
                        fail("sessions: \(sender) at node \(node.index) is suspended")
                    }
                }
            }
            for session in Array(core.sessions.values) + core.appServers.keys
            where !world.nodes.contains(where: { node in
                node.connections.contains { $0.id(node) == session }
            }) {
                fail("sessions: \(session) has ended")
            }
        }
        for node in world.nodes where node.router.sessionCount > remote[node.index] {
            fail(
                "counts: node \(node.index) has \(node.router.sessionCount) sessions, not \(remote[node.index]): \(node.router.sessions.byNode)"
            )
        }
        for node in world.nodes {
            for connection in node.connections {
                if case .asked = connection.login {
                    fail("waits: a login of node \(node.index) has no answer")
                }
            }
        }
    }
}
