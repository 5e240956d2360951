import Basics
import Delivery
import Sessions
import Store

/// A server process: its partitions on their reactors, the queues between threads, its connections.
final class SimulatedServer {
    private final class Hosted {
        let number: Int
        var core: Partition
        var effects: Effects {
            _read { yield core.effects }
            _modify { yield &core.effects }
        }
        /// Whether it had an event in this turn.
        var isActive = false

        init(_ number: Int, _ core: consuming Partition) {
            self.number = number
            self.core = core
        }
    }

    /// A reactor with its partitions.
    private final class Reactor {
        /// Partitions with an event in this turn, in order of their first one.
        var active: [Hosted] = []
        var inbox: [(partition: Int, event: Event)] = []
        var isTurnPlanned = false
    }

    /// A strong reference, broken when the world ends: checking an unowned one costs more than all checkers.
    private let world: World
    private let map: PartitionMap
    private let reactors: [Reactor]
    private var partitions: [Hosted] = []
    private(set) var connections: [ConnectionID: ServerEnd] = [:]
    private(set) var isAlive = true
    /// Whether events that a partition forwards to itself are handled in the same turn.
    private let isEager: Bool

    init(_ world: World) {
        self.world = world
        isEager = world.chance(1, in: 2)
        map = PartitionMap(partitions: world.settings.partitions, reactors: world.settings.reactors)
        reactors = (0..<map.reactors).map { _ in Reactor() }
        world.checkers.core = CoreChecker(world.settings)
        var settings = world.canaries.settings(world.settings.delivery, world)
        if world.canary != .forgetsSequenceWatermark { settings.sequenceWatermark = world.sequenceWatermark }
        // Failures are reported with the seed.
        settings.trapsAtFailedInvariants = false
        settings.clockMark = world.disk.state.settings[StoreMark.clock.rawValue].map {
            UnixMilliseconds(clamping: StoreMark.number($0))
        }
        for partition in 0..<world.settings.partitions {
            let seed = UInt64(bitPattern: world.random(0...(.max)))
            let core = Partition(
                partition: partition, of: world.settings.partitions, seed: seed,
                hashKey: (seed, ~seed), settings: settings)
            partitions.append(Hosted(partition, core))
        }
        for partition in partitions.indices {
            post(.senders(SenderDirectory(world.disk.state.senders)), to: partition)
            planTick(partition)
        }
    }

    /// Ends the process: nothing that it planned happens.
    func die() {
        isAlive = false
        connections = [:]
    }

    private func planTick(_ partition: Int) {
        world.after(world.random(400_000_000...500_000_000)) { [self] in
            guard isAlive else { return }
            wake(partition, with: [.tick])
            planTick(partition)
        }
    }

    /// What each partition holds in memory.
    var figures: [PartitionFigures] { partitions.map { $0.core.figures } }

    /// The time for the sessions on a connection's reactor, from its first partition, or from partition 0 if it has none.
    func sessionTime(of id: ConnectionID) -> Now {
        let own = map.partitions(of: Int(id.reactor)).first ?? 0
        return partitions[own].core.sessionTime(world.clock.now)
    }

    // MARK: Connections

    /// Accepts a connection on a random reactor.
    func accept(_ make: (ConnectionID) -> ServerEnd) -> ServerEnd {
        let generation = world.nextGeneration()
        let id = ConnectionID(
            reactor: UInt16(world.random(0...Int64(reactors.count - 1))), slot: generation % 16,
            generation: generation)
        let end = make(id)
        connections[id] = end
        return end
    }

    /// Removes a closed connection.
    func remove(_ id: ConnectionID) { connections[id] = nil }

    // MARK: Events

    /// Delivers events of the store's threads to a partition.
    func receive(_ events: [Event], _ partition: Int) {
        let lane = World.Lane.store(map.reactor(of: partition))
        world.after(world.random(0...world.faults.crossingMicroseconds * 1_000), lane: lane) { [self] in
            if isAlive { wake(partition, with: events) }
        }
    }

    /// Delivers events to a partition and wakes its reactor.
    private func wake(_ partition: Int, with events: [Event]) {
        let number = map.reactor(of: partition)
        for event in events { reactors[number].inbox.append((partition, event)) }
        if !reactors[number].isTurnPlanned { turn(number) }
    }

    /// Routes events of a connection's session to their partitions, from the connection's reactor.
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
        send(event, to: key.partition(of: map.partitions), from: reactor)
    }

    private func send(_ event: Event, to partition: Int, from reactor: Int) {
        let target = map.reactor(of: partition)
        guard target != reactor else { return post(event, to: partition) }
        cross(from: reactor, to: target) { [self] in post(event, to: partition) }
    }

    /// Delivers work to another reactor in order.
    private func cross(from: Int, to: Int, _ work: @escaping () -> Void) {
        let wait = world.random(0...world.faults.crossingMicroseconds * 1_000)
        world.after(wait, lane: .crossing(from: from, to: to)) { [self] in
            if isAlive { work() }
        }
    }

    /// Has all partitions believe the clock.
    func acceptClock(by witness: ClockWitness) {
        for partition in partitions.indices { post(.clockAccepted(by: witness), to: partition) }
    }

    private func post(_ event: Event, to partition: Int) {
        let number = map.reactor(of: partition)
        reactors[number].inbox.append((partition, event))
        guard !reactors[number].isTurnPlanned else { return }
        reactors[number].isTurnPlanned = true
        world.after(world.random(0...50_000)) { [self] in
            if isAlive { turn(number) }
        }
    }

    private func turn(_ number: Int) {
        let reactor = reactors[number]
        reactor.isTurnPlanned = false
        let now = world.clock.now
        var rounds = 0
        while !reactor.inbox.isEmpty, rounds < (isEager ? 4 : 1) {
            rounds += 1
            let events = reactor.inbox
            reactor.inbox = []
            for (partition, event) in events {
                world.trace("\(partition): \(Describe.event(event))")
                handle(event, partitions[partition], reactor, now)
            }
            for hosted in reactor.active { forwardEvents(hosted, from: number, reactor) }
        }
        let active = reactor.active
        reactor.active = []
        for hosted in active {
            hosted.isActive = false
            finish(hosted, on: number)
        }
        if !reactor.inbox.isEmpty, !reactor.isTurnPlanned {
            reactor.isTurnPlanned = true
            world.after(1_000) { [self] in
                if isAlive { turn(number) }
            }
        }
    }

    /// Forwards a partition's events to others; those for a partition of the same reactor are handled in its next round.
    private func forwardEvents(_ hosted: Hosted, from number: Int, _ reactor: Reactor) {
        if hosted.effects.confirmsClock {
            hosted.effects.confirmsClock = false
            world.trace("a device confirms the clock")
            world.reached(.clockConfirmed)
            acceptClock(by: .device)
        }
        let forwards = hosted.effects.forwards
        hosted.effects.forwards = []
        for event in forwards {
            guard let key = event.key else { continue }
            let target = key.partition(of: map.partitions)
            if map.reactor(of: target) == number {
                reactor.inbox.append((target, event))
            } else {
                send(event, to: target, from: number)
            }
        }
    }

    private func handle(_ event: Event, _ hosted: Hosted, _ reactor: Reactor, _ now: Now) {
        if !hosted.isActive {
            hosted.isActive = true
            reactor.active.append(hosted)
        }
        let commands = hosted.effects.commands.count
        let mutations = hosted.effects.mutations.count
        let forwards = hosted.effects.forwards.count
        let loads = hosted.effects.loads.count
        hosted.core.handle(event, now: now)
        // A planted fault may break the core's state.
        if world.canary == nil, let words = hosted.core.violation(of: event.key) {
            world.fail("invariants", words)
        }
        reportFailures(of: hosted)
        if case .partition(.tick) = event, commands == hosted.effects.commands.count,
            mutations == hosted.effects.mutations.count, loads == hosted.effects.loads.count,
            forwards == hosted.effects.forwards.count
        {
            return
        }
        let step = CoreStep(
            event: event, partition: hosted.number, now: now,
            commands: hosted.effects.commands[commands...],
            mutations: hosted.effects.mutations[mutations...],
            forwards: hosted.effects.forwards[forwards...], loads: hosted.effects.loads[loads...])
        if hosted.core.clockDoubt != nil { world.lastDoubt = world.clock.nanoseconds }
        world.checkers.core?.check(step, world)
    }

    private func finish(_ hosted: Hosted, on number: Int) {
        guard
            !hosted.effects.commands.isEmpty || !hosted.effects.mutations.isEmpty
                || !hosted.effects.loads.isEmpty
        else { return }
        let batch = hosted.core.endTurn()
        reportFailures(of: hosted)
        var effects = Effects()
        swap(&effects, &hosted.effects)
        let commands = effects.commands
        if !effects.loads.isEmpty { world.disk.load(effects.loads, partition: hosted.number) }
        if let batch { world.disk.submit(batch, partition: hosted.number) }
        if world.canary == .expiresEarly, let batch { expireEarly(batch, hosted.number) }
        for (id, command) in world.canaries.tamper(commands, world) {
            if Int(id.reactor) == number {
                perform(command, id)
            } else {
                cross(from: number, to: Int(id.reactor)) { [self] in perform(command, id) }
            }
        }
    }

    /// Reports the broken invariants that the core found.
    private func reportFailures(of hosted: Hosted) {
        guard !hosted.effects.invariantFailures.isEmpty else { return }
        if world.canary == nil {
            for failure in hosted.effects.invariantFailures {
                world.fail("invariants", "\(failure.what): \(failure.owner.map { "\($0)" } ?? "partition")")
            }
        }
        hosted.effects.invariantFailures.removeAll()
    }

    /// A planted fault: reports messages as expired too early.
    private func expireEarly(_ batch: WriteBatch, _ partition: Int) {
        for case .putMessage(let message) in batch.mutations where world.chance(1, in: 10) {
            world.after(50_000_000) { [self] in
                guard isAlive else { return }
                let end = ExpiredEntry.message(
                    message.device, message.sequence, expiresAt: message.expiresAt)
                post(.loaded(.expired([end])), to: partition)
            }
        }
    }

    // MARK: Draining

    /// Announces a drain to connections and closes each after a while.
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
        // A closed connection gets no commands; its end was reported to the core.
        guard let end = connections[id] else { return }
        world.trace("\(id.generation)< \(Describe.command(command))")
        end.perform(command)
    }
}
