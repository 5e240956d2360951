import Basics
import Cluster
import ClusterLog
import Delivery

/// A change of the registrations or messages of a partition, as its log has it.
struct WorldChange: Hashable {
    enum Kind: UInt64 {
        case register, unregister, message
    }

    var kind: Kind
    var device: UInt64
    var connection: ConnectionID
    var request: UInt32
}

/// What the store of a node has of a partition.
struct WorldStore {
    var registered: Set<UInt64> = []
    var messages: [WorldChange] = []
    var reader = LogReader()
    var batches: UInt64 = 0

    mutating func apply(_ change: WorldChange) {
        switch change.kind {
        case .register: registered.insert(change.device)
        case .unregister: registered.remove(change.device)
        case .message: messages.append(change)
        }
    }
}

/// The end of a lease, which both threads of a node see.
final class WorldLease {
    var until = Instant.distantPast
    var isAwaited = false
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
    var lease: WorldLease?

    init(_ partition: Int, _ key: LogKey) {
        self.partition = partition
        replica = Replica(log: key, at: LogReader(), now: .distantPast)
    }
}

/// A batch of a partition on a reactor.
struct WorldBatch {
    var number: UInt64
    var changes: [WorldChange]
}

/// What waits for a reactor: parcels are merged, and their parts handled in this order.
struct ReactorInbox {
    var reports: [(partition: Int, batch: UInt64, hasFailed: Bool)] = []
    /// Devices that the store has read, with the core that has asked.
    var loads: [(core: WorldCore, device: UInt64, isRegistered: Bool)] = []
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

    // The reactor.
    var doors: [PartitionDoor]
    var cores: [WorldCore?]
    var awaited: [Int: WorldLease] = [:]
    var reactorInbox = ReactorInbox()
    var isReactorAwake = false
    var toCluster = ClusterInbox()
    var connections: [WorldConnection] = []

    var number: NodeNumber { NodeNumber(UInt16(index + 1)) }

    init(_ index: Int, _ partitions: Int) {
        self.index = index
        router = NodeRouter(node: NodeNumber(UInt16(index + 1)), partitions: partitions, seed: 1)
        replicas = (0..<partitions).map { WorldReplica($0, NodeWorld.key($0)) }
        doors = Array(repeating: PartitionDoor(), count: partitions)
        cores = Array(repeating: nil, count: partitions)
    }
}

/// A stand-in for the core of a partition: registrations, ordered messages and sessions of devices. Answers wait for what they depend on.
final class WorldCore {
    let partition: Int
    let lease: WorldLease
    var gate: OutputGate
    var effects = Effects()
    var isLeaving = false
    var hasSurrendered = false
    /// Whether each device that is in memory is registered.
    var devices: [UInt64: Bool] = [:]
    /// What waits for devices that the store reads.
    private var waiting: [UInt64: [Event]] = [:]
    /// The devices to be read from the store.
    var wanted: [UInt64] = []
    var sessions: [UInt64: ConnectionID] = [:]
    var events: [Event] = []
    /// Whether it is looked at in this turn.
    var isActive = false
    private var changes: [WorldChange] = []
    private var answers: [(ConnectionID, SessionCommand)] = []
    private var open: [(number: UInt64, answers: [(ConnectionID, SessionCommand)])] = []

    init(_ partition: Int, _ lease: WorldLease) {
        (self.partition, self.lease) = (partition, lease)
        gate = OutputGate(partition: partition, of: NodeWorld.partitions)
    }

    /// Whether the store owes it nothing.
    var isFree: Bool { open.isEmpty && waiting.isEmpty }

    /// Handles an event at once, or once its device is in memory.
    func handle(_ event: Event) {
        guard case .device(let device, _) = event else { return }
        guard devices[device.number] == nil else { return handle(event, of: device) }
        if waiting[device.number] == nil { wanted.append(device.number) }
        waiting[device.number, default: []].append(event)
    }

    func loaded(_ device: UInt64, isRegistered: Bool) {
        devices[device] = isRegistered
        for event in waiting.removeValue(forKey: device) ?? [] { handle(event) }
    }

    private func handle(_ event: Event, of device: DeviceID) {
        switch event {
        case .device(_, .submitted(let submission)):
            guard case .session(let requester) = submission.replyTo else { return }
            let isKnown = devices[device.number] == true
            if isKnown { change(.message, device, requester) }
            answer(
                requester.connection,
                .submission(
                    requestID: requester.requestID,
                    isKnown ? .accepted(id: nil, canonical: nil) : .refused(.notRegistered)))
        case .device(_, .register(let request)):
            devices[device.number] = true
            change(.register, device, request.requester)
            done(request.requester)
        case .device(_, .forget(let requester)):
            devices[device.number] = false
            change(.unregister, device, requester)
            done(requester)
        case .device(_, .login(let login)):
            // The session before ends.
            if let old = sessions.updateValue(login.connection, forKey: device.number) {
                answer(old, .connection(.close(.ownerChanged)))
            }
            answer(login.connection, .device(.loginAccepted))
        case .device(_, .closed(let connection)):
            if sessions[device.number] == connection { sessions[device.number] = nil }
        default: break
        }
    }

    private func change(_ kind: WorldChange.Kind, _ device: DeviceID, _ requester: Requester) {
        changes.append(
            WorldChange(
                kind: kind, device: device.number, connection: requester.connection,
                request: requester.requestID))
    }

    private func done(_ requester: Requester) {
        answer(requester.connection, .reply(requestID: requester.requestID, .unregistered))
    }

    /// What is answered may depend on what is not yet confirmed.
    private func answer(_ connection: ConnectionID, _ command: SessionCommand) {
        answers.append((connection, command))
    }

    /// Ends a turn: its changes become a batch.
    func endTurn(_ number: UInt64) -> WorldBatch? {
        defer { (changes, answers) = ([], []) }
        guard !changes.isEmpty else {
            if open.isEmpty {
                effects.commands += answers
            } else {
                open[open.count - 1].answers += answers
            }
            return nil
        }
        open.append((number, answers))
        return WorldBatch(number: number, changes: changes)
    }

    func committed(_ number: UInt64) {
        guard let at = open.firstIndex(where: { $0.number == number }) else { return }
        effects.commands += open.remove(at: at).answers
    }

    /// A batch has failed: the devices are read again, and nothing that depends on it holds.
    func failed(_ number: UInt64, _ stored: Set<UInt64>) {
        guard let at = open.firstIndex(where: { $0.number == number }) else { return }
        for device in devices.keys { devices[device] = stored.contains(device) }
        for (connection, command) in open.remove(at: at).answers {
            switch command {
            case .submission(let request, _):
                effects.commands.append((connection, .submission(requestID: request, .refused(.unavailable))))
            case .reply(let request, _):
                effects.commands.append(
                    (
                        connection,
                        .reply(requestID: request, .registrationRefused(.serviceNotAvailable))
                    ))
            default: effects.commands.append((connection, command))
            }
        }
    }
}
