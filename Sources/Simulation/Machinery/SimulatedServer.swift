import Basics
import Delivery
import Sessions
import Store

/// A server process: its partitions, its queues between threads, its connections.
final class SimulatedServer {
    /// One reactor with its partition.
    private final class Reactor {
        var core: Partition
        var effects = Effects()
        var inbox: [Event] = []
        var isTurnPlanned = false

        init(_ core: consuming Partition) { self.core = core }
    }

    /// Held until the world ends, like all that does so: asking whether it still lives costs more than all checkers.
    private let world: World
    private var reactors: [Reactor] = []
    private(set) var connections: [ConnectionID: ServerEnd] = [:]
    private(set) var isAlive = true
    /// Whether events that a partition sends itself are handled in the same turn.
    private let isEager: Bool

    init(_ world: World) {
        self.world = world
        isEager = world.chance(1, in: 2)
        world.checkers.core = CoreChecker(world.settings)
        var settings = world.canaries.settings(world.settings.delivery, world)
        if world.canary != .forgetsSequenceFloor { settings.sequenceFloor = world.sequenceFloor }
        // They are reported with the seed.
        settings.trapsAtFailedInvariants = false
        settings.clockMark = world.disk.state.settings[StoreMark.clock.rawValue].map {
            UnixMilliseconds(clamping: StoreMark.number($0))
        }
        for partition in 0..<world.settings.partitions {
            let seed = UInt64(bitPattern: world.random(0...(.max)))
            reactors.append(
                Reactor(
                    Partition(
                        partition: partition, of: world.settings.partitions, seed: seed,
                        hashKey: (seed, ~seed), settings: settings)))
        }
        for partition in reactors.indices {
            post(.senders(SenderDirectory(world.disk.state.senders)), to: partition)
            planTick(partition)
        }
    }

    /// It is no more: nothing it planned happens.
    func die() {
        isAlive = false
        connections = [:]
    }

    private func planTick(_ partition: Int) {
        world.after(world.random(400_000_000...500_000_000)) { [self] in
            guard isAlive else { return }
            reactors[partition].inbox.append(.tick)
            if !reactors[partition].isTurnPlanned { turn(partition) }
            planTick(partition)
        }
    }

    /// What each partition holds in memory.
    var figures: [PartitionFigures] { reactors.map { $0.core.figures } }

    /// The time by which the sessions of a connection's reactor go.
    func sessionTime(of id: ConnectionID) -> Now {
        reactors[Int(id.reactor)].core.sessionTime(world.clock.now)
    }

    // MARK: Connections

    /// A client has connected: some reactor takes it.
    func accept(_ make: (ConnectionID) -> ServerEnd) -> ServerEnd {
        let generation = world.nextGeneration()
        let id = ConnectionID(
            reactor: UInt16(world.random(0...Int64(reactors.count - 1))), slot: generation % 16,
            generation: generation)
        let end = make(id)
        connections[id] = end
        return end
    }

    /// A connection is gone.
    func remove(_ id: ConnectionID) { connections[id] = nil }

    // MARK: Events

    /// The store's threads speak to a partition.
    func hear(_ events: [Event], _ partition: Int) {
        world.after(world.random(0...world.faults.crossingMicroseconds * 1_000), lane: .store(partition)) {
            [self] in
            guard isAlive else { return }
            let reactor = reactors[partition]
            reactor.inbox.append(contentsOf: events)
            if !reactor.isTurnPlanned { turn(partition) }
        }
    }

    /// What a connection's session tells the core, from the connection's reactor.
    func route(_ events: [Event], from reactor: Int) {
        for event in events {
            switch event {
            case .sender(_, .draining(let id)): world.checkers.core?.draining(id, world)
            case .sender(_, .congested(let id)): world.checkers.core?.reading(id, false, world)
            case .sender(_, .writable(let id)): world.checkers.core?.reading(id, true, world)
            case .device(_, .idleChanged(let id, let isIdle)):
                world.checkers.core?.idle(id, isIdle, world)
            default: break
            }
            if world.canary == nil {
                sendOn(event, from: reactor)
            } else {
                for event in world.canaries.alter(event, world) { sendOn(event, from: reactor) }
            }
        }
    }

    private func sendOn(_ event: Event, from reactor: Int) {
        guard let key = event.key else { return }
        send(event, to: key.partition(of: reactors.count), from: reactor)
    }

    private func send(_ event: Event, to partition: Int, from reactor: Int) {
        guard partition != reactor else { return post(event, to: partition) }
        cross(from: reactor, to: partition) { [self] in post(event, to: partition) }
    }

    /// Threads pass things on in order.
    private func cross(from: Int, to: Int, _ work: @escaping () -> Void) {
        let wait = world.random(0...world.faults.crossingMicroseconds * 1_000)
        world.after(wait, lane: .crossing(from: from, to: to)) { [self] in
            if isAlive { work() }
        }
    }

    private func post(_ event: Event, to partition: Int) {
        let reactor = reactors[partition]
        reactor.inbox.append(event)
        guard !reactor.isTurnPlanned else { return }
        reactor.isTurnPlanned = true
        world.after(world.random(0...50_000)) { [self] in
            if isAlive { turn(partition) }
        }
    }

    private func turn(_ partition: Int) {
        let reactor = reactors[partition]
        reactor.isTurnPlanned = false
        let now = world.clock.now
        var rounds = 0
        while !reactor.inbox.isEmpty, rounds < (isEager ? 4 : 1) {
            rounds += 1
            let events = reactor.inbox
            reactor.inbox = []
            for event in events {
                world.trace("\(partition): \(Describe.event(event))")
                handle(event, partition, now)
            }
            if reactor.effects.confirmsClock {
                reactor.effects.confirmsClock = false
                world.trace("a device confirms the clock")
                world.met(.clockConfirmed)
                for other in reactors.indices { post(.clockAccepted, to: other) }
            }
            let forwards = reactor.effects.forwards
            reactor.effects.forwards = []
            for event in forwards {
                guard let key = event.key else { continue }
                let target = key.partition(of: reactors.count)
                if target == partition {
                    reactor.inbox.append(event)
                } else {
                    send(event, to: target, from: partition)
                }
            }
        }
        finish(partition, reactor)
        if !reactor.inbox.isEmpty, !reactor.isTurnPlanned {
            reactor.isTurnPlanned = true
            world.after(1_000) { [self] in
                if isAlive { turn(partition) }
            }
        }
    }

    private func handle(_ event: Event, _ partition: Int, _ now: Now) {
        let reactor = reactors[partition]
        let commands = reactor.effects.commands.count
        let mutations = reactor.effects.mutations.count
        let forwards = reactor.effects.forwards.count
        let loads = reactor.effects.loads.count
        reactor.core.handle(event, now: now, effects: &reactor.effects)
        // A planted fault may break the core's state by what it is told.
        if world.canary == nil, let words = reactor.core.violation(of: event.key) {
            world.fail("invariants", words)
        }
        reportFailures(of: reactor)
        if case .partition(.tick) = event, commands == reactor.effects.commands.count,
            mutations == reactor.effects.mutations.count, loads == reactor.effects.loads.count,
            forwards == reactor.effects.forwards.count
        {
            return
        }
        let step = CoreStep(
            event: event, partition: partition, now: now, commands: reactor.effects.commands[commands...],
            mutations: reactor.effects.mutations[mutations...],
            forwards: reactor.effects.forwards[forwards...], loads: reactor.effects.loads[loads...])
        if reactor.core.clockDoubt != nil { world.lastDoubt = world.clock.nanoseconds }
        world.checkers.core?.check(step, world)
    }

    private func finish(_ partition: Int, _ reactor: Reactor) {
        guard
            !reactor.effects.commands.isEmpty || !reactor.effects.mutations.isEmpty
                || !reactor.effects.loads.isEmpty
        else { return }
        let batch = reactor.core.endTurn(now: world.clock.now, effects: &reactor.effects)
        reportFailures(of: reactor)
        var effects = Effects()
        swap(&effects, &reactor.effects)
        let commands = effects.commands
        if !effects.loads.isEmpty { world.disk.load(effects.loads, partition: partition) }
        if let batch { world.disk.submit(batch, partition: partition) }
        if world.canary == .expiresEarly, let batch { expireEarly(batch, partition) }
        for (id, command) in world.canaries.tamper(commands, world) {
            if Int(id.reactor) == partition {
                perform(command, id)
            } else {
                cross(from: partition, to: Int(id.reactor)) { [self] in perform(command, id) }
            }
        }
    }

    /// States that the core found and that cannot be.
    private func reportFailures(of reactor: Reactor) {
        guard !reactor.effects.invariantFailures.isEmpty else { return }
        if world.canary == nil {
            for failure in reactor.effects.invariantFailures {
                world.fail("invariants", "\(failure.what): \(failure.owner.map { "\($0)" } ?? "partition")")
            }
        }
        reactor.effects.invariantFailures.removeAll()
    }

    /// A planted fault.
    private func expireEarly(_ batch: WriteBatch, _ partition: Int) {
        for case .putMessage(let message) in batch.mutations where world.chance(1, in: 10) {
            world.after(50_000_000) { [self] in
                guard isAlive else { return }
                post(
                    .expired(
                        .message(message.device, message.sequence, expiresAt: message.expiresAt)),
                    to: partition)
            }
        }
    }

    // MARK: Draining

    /// Gives notice to connections, and closes each after a while.
    func drain(_ ends: [ServerEnd]) {
        for end in ends where connections[end.id] === end {
            end.perform(.connection(.drain))
            let longest: Int64 = world.isCalm ? 10_000_000 : 5_000_000_000
            world.after(world.random(0...longest)) { [self] in
                guard isAlive, connections[end.id] === end else { return }
                if world.canary == .endsWithoutAnswers {
                    end.pipe.closeByServer()
                    end.ended(.connectionDraining)
                } else {
                    end.perform(.connection(.close(.connectionDraining)))
                }
            }
        }
    }

    private func perform(_ command: SessionCommand, _ id: ConnectionID) {
        // To a connection that is gone nothing is said; its end has been told to the core.
        guard let end = connections[id] else { return }
        world.trace("\(id.generation)< \(Describe.command(command))")
        end.perform(command)
    }
}
