import Basics
import Cluster
import ClusterLog

@testable import Delivery

/// A change of the registrations, messages or senders of a partition, as its log has it.
struct WorldChange: Hashable {
    enum Kind: UInt64 {
        case register, unregister, message
        /// Of a device to a sender, in the log of the sender's partition.
        case upstream
        /// A message to a topic, in the log of a partition for its devices.
        case topic
        /// An operator lets a sender in, or suspends it.
        case allow, suspend
        /// No change: an app server logs in.
        case signIn
        /// No change: a message that is delivered at once or dropped.
        case nowOrNever

        /// Whether the log has it once it is accepted.
        var isLogged: Bool { self != .signIn && self != .nowOrNever }
        /// Whether an operator makes it.
        var isOperators: Bool { self == .allow || self == .suspend }
    }

    var kind: Kind
    /// The device, or the sender, or the partition.
    var device: UInt64
    var connection: ConnectionID
    var request: UInt32
}

/// What the store of a node has of a partition.
struct WorldStore {
    var registered: Set<UInt64> = []
    var suspended: Set<UInt64> = []
    var messages: [WorldChange] = []
    var reader = LogReader()
    var batches: UInt64 = 0

    mutating func apply(_ change: WorldChange) {
        switch change.kind {
        case .register: registered.insert(change.device)
        case .unregister: registered.remove(change.device)
        case .message, .upstream, .topic: messages.append(change)
        case .allow: suspended.remove(change.device)
        case .suspend: suspended.insert(change.device)
        case .signIn, .nowOrNever: break
        }
    }
}

/// The end of a lease, which both threads of a node see.
final class WorldLease: DecisionLease, @unchecked Sendable {
    var until = Instant.distantPast
    var isAwaited = false
    func wait() { isAwaited = true }
}

/// A replica of a node, with the batches that have no outcome.
final class WorldReplica {
    let partition: Int
    var replica: Replica
    var store = WorldStore()
    var synced = WorldStore()
    var frames: [AppliedFrame] = []
    var open: [UInt64: WorldBatch] = [:]
    var follows: LogPosition?
    /// Whether its follower asks for no more, and how many records in a row it was given although the store was behind.
    var isPaused = false
    var excess = 0
    /// Whether its stream is unfit.
    var isUnfit = false
    var lease: WorldLease?
    var order = BatchOrder()

    init(_ partition: Int, _ key: LogKey) {
        self.partition = partition
        replica = Replica(log: key, at: LogReader(), now: .distantPast)
    }
}

/// A batch of a partition on a reactor.
struct WorldBatch {
    var number: UInt64
    var changes: [WorldChange]
    /// The batch that the partition itself has made.
    var core = WriteBatch(batchNumber: 0, mutations: [], isDurable: true)
    /// Who has asked for it, if it is a change by an operator.
    var origin: ChangeOrigin?
}

/// What waits for a reactor: parcels are merged, and their parts handled in this order.
struct ReactorInbox {
    var reports: [(partition: Int, event: Event)] = []
    var commands: [(ConnectionID, SessionCommand)] = []
    var jobs: [(NodeWorld) -> Void] = []
}

/// What waits for the thread of the cluster, in the same way.
struct ClusterInbox {
    var batches: [(partition: Int, WorldBatch)] = []
    var events: [Event] = []
    var commands: [(ConnectionID, SessionCommand)] = []
    var validUntil = Instant.distantFuture
    var jobs: [(NodeWorld) -> Void] = []

    var isEmpty: Bool { batches.isEmpty && events.isEmpty && commands.isEmpty && jobs.isEmpty }

    mutating func add(_ crossing: Crossing) {
        guard !crossing.isEmpty else { return }
        events += crossing.events
        validUntil = commands.isEmpty ? crossing.validUntil : min(validUntil, crossing.validUntil)
        commands += crossing.commands
    }

    mutating func add(_ other: ClusterInbox) {
        batches += other.batches
        events += other.events
        validUntil = commands.isEmpty ? other.validUntil : min(validUntil, other.validUntil)
        commands += other.commands
        jobs += other.jobs
    }
}

/// A node of the world: the machines of its two threads, and what its process keeps on disk.
final class WorldNode {
    let index: Int
    var process = 0
    var isRunning = false
    var pausedUntil: Int64 = 0
    /// What it is to do when it does not stand still any more.
    var deferred: [(NodeWorld) -> Void] = []
    /// Until when nothing goes to the log, and nothing comes from it.
    var upCutUntil: Int64 = 0
    var downCutUntil: Int64 = 0
    /// Until when the others do not get its heartbeats.
    var quietUntil: Int64 = 0
    /// Until when its store applies nothing.
    var slowUntil: Int64 = 0
    /// Until when its server of the log is without the others.
    var aloneUntil: Int64 = 0

    // The thread of the cluster.
    var membership: Membership?
    var router: NodeRouter
    var replicas: [WorldReplica]
    var clusterInbox = ClusterInbox()
    var isClusterAwake = false
    /// What this turn has for the reactor.
    var owned: [Event] = []
    var owedCommands: [(ConnectionID, SessionCommand)] = []
    /// The changes of operators without an outcome, and whether they still wait for it.
    var changes: [ChangeOrigin.Number: Bool] = [:]
    /// Until when it counts as having all that is confirmed of each partition; both threads see it, and the senders that it has.
    var known: [KnownSpan]
    var directory = SenderDirectory()

    // The reactor.
    var vouching = Vouching()
    var turns: TurnLoop
    var cores: [WorldCore?]
    var reactorInbox = ReactorInbox()
    var isReactorAwake = false
    var toCluster = ClusterInbox()
    var connections: [WorldConnection] = []

    var number: NodeNumber { NodeNumber(UInt16(index + 1)) }
    /// Stands for the connections of the operators of this process.
    var operators: ConnectionID {
        ConnectionID(node: number.number, reactor: 0, slot: 99, generation: UInt32(process))
    }

    /// Whether nothing waits at a partition.
    func isQuiet(_ core: WorldCore) -> Bool {
        core.isQuiet && turns.all[core.partition]?.leased?.gate.isHolding != true
    }

    init(_ index: Int, _ partitions: Int) {
        self.index = index
        router = NodeRouter(node: NodeNumber(UInt16(index + 1)), partitions: partitions, seed: 1)
        replicas = (0..<partitions).map { WorldReplica($0, NodeWorld.key($0)) }
        turns = TurnLoop(reactor: 0, of: PartitionMap(partitions: partitions, reactors: 1)) { _ in nil }
        cores = Array(repeating: nil, count: partitions)
        known = Array(repeating: KnownSpan(), count: partitions)
    }
}
