public import Basics
import ClusterLog
import Delivery
import NodeProtocol

/// Who gets, holds, refuses or answers each event, command and change that comes to the thread of the cluster of a node.
///
/// An event goes to the node that owns its partition. While none is known, or no link leads there, it waits, in order; after
/// `Limits.ClusterHost.heldMilliseconds` its requester is answered that the owner cannot be reached. Whether a decision of the
/// owner counts, its lease decides (`OutputGate`), not this machine.
public struct NodeRouter: Sendable {
    /// What the reactors of this node do with a partition.
    public enum Standing: Hashable, Sendable {
        /// They do not serve it.
        case away
        case serving
        /// They leave it, by this number: another node is to take it.
        case leaving(to: NodeNumber, UInt64)
    }

    /// A partition, as this node routes it.
    struct Partition: Sendable {
        /// The node that owns it, by the heartbeats.
        var owner: NodeNumber?
        var standing = Standing.away
        /// What the store of this node has of its log.
        var applied = LogPosition.start
    }

    let node: NodeNumber
    var partitions: [Partition]
    /// How often the reactors were to leave a partition.
    var leaves: UInt64 = 0
    /// The nodes to which there are links.
    var links: Set<NodeNumber> = []
    var held = HeldEvents()
    var passedOn = PassedOn()
    /// The partitions whose owner has changed while the one before had events of this node that are not answered. It may pass them on, and
    /// later ones must not overtake them: they wait up to these times.
    var fences: [Int: Instant] = [:]
    /// The partitions whose reactors wait for what they had passed on; how many times over.
    var awaited: [Int: Int] = [:]
    var sessions: RemoteSessions
    var table: ForwardTable
    var changes: ControlChanges

    /// Creates the router of a node: no partition has an owner. The seed decides the numbers of changes; it must differ between processes.
    public init(node: NodeNumber, partitions: Int, seed: UInt64) {
        self.node = node
        self.partitions = Array(repeating: Partition(), count: partitions)
        sessions = RemoteSessions(at: node.number)
        table = ForwardTable(node: node.number, partitions: partitions)
        changes = ControlChanges(after: seed)
    }

    /// The owner of a partition, by the heartbeats that this node has seen. `nil` while it is unknown.
    public func owner(of partition: Int) -> NodeNumber? { partitions[partition].owner }

    /// What the reactors of this node do with a partition.
    public func standing(of partition: Int) -> Standing { partitions[partition].standing }

    /// Whether there is a link to a node.
    public func isLinked(_ node: NodeNumber) -> Bool { links.contains(node) }

    /// The events that wait for an owner.
    public var heldCount: Int { held.count }

    /// The answers that other nodes owe to this one.
    public var openCount: Int { table.count }

    /// The sessions of other nodes that are logged in to partitions of this one.
    public var sessionCount: Int { sessions.count }

    /// The changes without an outcome.
    public var changeCount: Int { changes.count }

    /// Handles an event.
    public mutating func handle(
        _ event: consuming NodeRouterEvent, now: Instant, effects: inout [NodeRouterEffect]
    ) {
        switch event {
        case .event(let event): route(event, now, &effects)
        case .commands(var commands, let validUntil):
            for (connection, command) in commands { sessions.note(command, to: connection) }
            commands.close(from: validUntil, now: now)
            for (connection, command) in commands { route(command, to: connection, &effects) }
        case .change(let change, let number): route(change, number, now, &effects)
        case .received(let event): accept(event, now, &effects)
        case .receivedCommand(let command, let connection, let source):
            accept(command, for: connection, from: source, now, &effects)
        case .ended(let connection): end(ownSession: connection, now, &effects)
        case .receivedChange(let change, let number, let source):
            accept(change, number: number, from: source, now, &effects)
        case .receivedOutcome(let number, let position, let source):
            guard let partition = changes.written(number, at: position, by: source, now: now, &effects)
            else { return }
            changes.applied(partitions[partition].applied, of: partition, &effects)
        case .returnedChange(let number, let source): reroute(number, from: source, now, &effects)
        case .linked(let other): link(other, now, &effects)
        case .unlinked(let other): unlink(other, now, &effects)
        case .unsent(let event):
            table.withdraw(event)
            answer([event.answerWhenUnreached()], .notSent, now, &effects)
            endFences(now, &effects)
        case .unsentChange(let number, let owner): changes.fail(number, at: owner, &effects)
        case .owner(let partition, let owner): changeOwner(of: partition, to: owner, now, &effects)
        case .took(let partition): serve(partition, now, &effects)
        case .resumed(let partition): resume(partition, now, &effects)
        case .fence(let partition):
            awaited[partition, default: 0] += 1
            if fences[partition] == nil { passFences(of: partition, &effects) }
        case .leaves(let partition, let successor): leave(partition, for: successor, &effects)
        case .left(let partition, let number):
            guard case .leaving(let successor, number) = partitions[partition].standing else { return }
            table.left(partition)
            effects.append(.release(partition: partition, to: successor))
        case .lost(let partition): leave(partition, for: nil, &effects)
        case .completed(let origin, let position): complete(origin, position, &effects)
        case .applied(let position, let partition):
            partitions[partition].applied = max(partitions[partition].applied, position)
            changes.applied(position, of: partition, &effects)
        case .tick: endOverdue(now, &effects)
        case .stop: endChanges(&effects)
        }
    }
}
