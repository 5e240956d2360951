import Basics
import Delivery
import Sessions
import Store

/// A server process: its reactors with their turns, the queues between threads, its connections.
///
/// It is the shell of a `TurnLoop` for each reactor, as `ReactorHost` in the daemon is, and differs in what surrounds the loop only: a turn is
/// planned after the input of a session instead of following it, and faults are planted between the loop and what is outside.
final class SimulatedServer {
    /// A reactor, and what other threads have posted to it.
    private final class Reactor {
        let turns: TurnLoop
        /// Reports of the store.
        var reports: [(partition: Int, event: Event)] = []
        /// What other reactors pass on, in order.
        var crossings: [Crossing] = []
        /// Whether a turn is planned or is running.
        var isTurnPlanned = false

        init(_ turns: TurnLoop) { self.turns = turns }
    }

    /// A strong reference, broken when the world ends: checking an unowned one costs more than all checkers.
    let world: World
    let map: PartitionMap
    private var reactors: [Reactor] = []
    private(set) var connections: [ConnectionID: ServerEnd] = [:]
    private(set) var isAlive = true
    /// Topic messages that are open, as the partitions have counted them.
    private(set) var openTopics = 0

    init(_ world: World) {
        self.world = world
        map = PartitionMap(partitions: world.settings.partitions, reactors: world.settings.reactors)
    }

    /// Begins the first turns. The world has the server by then: the disk may answer at once.
    func start() {
        world.checkers.core = CoreChecker(world.settings)
        var settings = world.canaries.settings(world.settings.delivery, world)
        if world.canary != .forgetsSequenceWatermark { settings.sequenceWatermark = world.sequenceWatermark }
        // Failures are reported with the seed.
        settings.trapsAtFailedInvariants = false
        settings.keepsHistory = true
        settings.clockMark = world.disk.state.settings[StoreMark.clock.rawValue].map {
            UnixMilliseconds(clamping: StoreMark.number($0))
        }
        for index in 0..<map.reactors {
            let turns = TurnLoop(reactor: index, of: map) { partition in
                let seed = UInt64(bitPattern: world.random(0...(.max)))
                return Partition(
                    partition: partition, of: map.partitions, seed: seed, hashKey: (seed, ~seed),
                    settings: settings)
            }
            turns.witness = { [self] event, hosted, now in watch(event, hosted, now) }
            reactors.append(Reactor(turns))
            // As at the start of the daemon.
            turns.accept(.senders(SenderDirectory(world.disk.state.senders)), now: world.clock.now)
            turns.accept(.tick, now: world.clock.now)
            tick(index)
        }
    }

    /// Ends the process: nothing that it planned happens.
    func die() {
        isAlive = false
        connections = [:]
        for reactor in reactors { reactor.turns.witness = nil }
    }

    private func tick(_ index: Int) {
        let turns = reactors[index].turns
        let pause = turns.tick(now: world.clock.now) * 1_000_000
        run(index)
        world.after(world.random(pause * 4 / 5...pause)) { [self] in if isAlive { tick(index) } }
    }

    /// What each partition holds in memory.
    var figures: [PartitionFigures] {
        var figures: [PartitionFigures] = []
        for reactor in reactors { reactor.turns.forEach { figures.append($0.figures) } }
        return figures
    }

    /// The time for the sessions on a connection's reactor, from its first partition, or from partition 0 if it has none.
    func sessionTime(of id: ConnectionID) -> Now {
        let leader = reactors[Int(id.reactor)].turns.leader ?? reactors[map.reactor(of: 0)].turns.leader
        return leader?.core.sessionTime(world.clock.now) ?? world.clock.now
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
        let index = map.reactor(of: partition)
        world.after(crossingTime, lane: .store(index)) { [self] in
            guard isAlive else { return }
            reactors[index].reports += events.map { (partition, $0) }
            if !reactors[index].isTurnPlanned { run(index) }
        }
    }

    /// The time that work takes to another thread.
    var crossingTime: Int64 { world.random(0...world.faults.crossingMicroseconds * 1_000) }

    /// Routes events of a connection's session to their partitions, from the connection's reactor.
    func route(_ events: [Event], from reactor: Int) {
        for event in events {
            world.checkers.history.heard(event)
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

    func sendOn(_ event: Event, from index: Int) {
        reactors[index].turns.accept(event, now: world.clock.now)
        planTurn(index)
    }

    /// Has all partitions believe the clock.
    func acceptClock(by witness: ClockWitness) {
        for index in reactors.indices { post(.clockAccepted(by: witness), to: index) }
    }

    /// Posts an event for all partitions of a reactor.
    private func post(_ event: Event, to index: Int) {
        var crossing = Crossing()
        crossing.events.append(event)
        post(crossing, to: index)
    }

    private func post(_ crossing: Crossing, to index: Int) {
        reactors[index].crossings.append(crossing)
        planTurn(index)
    }

    // MARK: Turns

    private func planTurn(_ index: Int) {
        guard !reactors[index].isTurnPlanned else { return }
        reactors[index].isTurnPlanned = true
        world.after(world.random(0...50_000)) { [self] in
            if isAlive { run(index) }
        }
    }

    /// Runs a turn of a reactor.
    private func run(_ index: Int) {
        let reactor = reactors[index]
        let turns = reactor.turns
        reactor.isTurnPlanned = true
        let now = world.clock.now
        for report in take(&reactor.reports) {
            turns.handle(report: report.event, of: report.partition, now: now)
        }
        for var crossing in take(&reactor.crossings) {
            for event in crossing.events { turns.accept(event, now: now) }
            perform(&crossing.commands, turns)
        }
        var commands: [(ConnectionID, SessionCommand)] = []
        while turns.next(&commands, now: now) {
            commands = world.canaries.tamper(commands, world)
            perform(&commands, turns)
            turns.giveBack(&commands, now: now)
        }
        apply(turns.takeEffects())
        let active = turns.active
        turns.endTurn()
        for hosted in active {
            reportFailures(of: hosted)
            // The figures for metrics.
            openTopics += hosted.effects.topicJobsOpen
            hosted.effects.removeAll()
        }
        for peer in turns.outgoing.indices where !turns.outgoing[peer].isEmpty {
            let crossing = turns.outgoing[peer].take()
            world.after(crossingTime, lane: .crossing(from: index, to: peer)) { [self] in
                if isAlive { post(crossing, to: peer) }
            }
        }
        reactor.isTurnPlanned = false
        if !reactor.reports.isEmpty || !reactor.crossings.isEmpty { planTurn(index) }
    }

    private func take<Item>(_ items: inout [Item]) -> [Item] {
        defer { items = [] }
        return items
    }

    /// Passes commands to the sessions of a reactor, and the others to what crosses. Empties the array.
    private func perform(_ commands: inout [(ConnectionID, SessionCommand)], _ turns: TurnLoop) {
        var round = CommandRound(&commands)
        while let id = turns.nextSession(&round), let command = round.take(for: id) {
            // A closed connection gets no commands; its end was reported to the core.
            guard let end = connections[id] else { continue }
            world.trace("\(id.generation)< \(Describe.command(command))")
            end.perform(command)
        }
        commands = round.storage()
    }

    private func apply(_ effects: TurnEffects) {
        for entry in effects.batches {
            world.checkers.fanOuts.log.submitted(entry.batch, entry.partition)
            world.checkers.history.submitted(entry.batch, entry.partition)
            world.canaries.topics.submitted(entry.batch, entry.partition)
            world.disk.submit(entry.batch, partition: entry.partition)
            if world.canary == .recordsDecisions { recordDecisions(entry.batch, entry.partition) }
            if world.canary == .expiresEarly { expireEarly(entry.batch, entry.partition) }
        }
        for delivery in effects.deliveries { deliver(delivery) }
        for entry in effects.loads { world.disk.load([entry.query], partition: entry.partition) }
        if effects.confirmsClock {
            world.trace("a device confirms the clock")
            world.reached(.clockConfirmed)
            acceptClock(by: .device)
        }
    }

    /// Has a partition handle an event, and checks what comes of it.
    private func watch(_ given: Event, _ hosted: HostedPartition, _ now: Now) {
        var event = given
        if case .topicLog(let partition, let topics) = given {
            guard let arrived = passOn(topics, to: partition) else { return }
            event = .topicLog(partition, arrived)
        }
        if case .partition(.committed(let outcome)) = event {
            world.canaries.topics.committed(outcome.batchNumber, hosted.number)
        }
        world.trace("\(hosted.number): \(Describe.event(event))")
        let commands = hosted.effects.commands.count
        let batchNumber = hosted.core.batchNumber
        var mutations = hosted.effects.mutations.count
        let forwards = hosted.effects.forwards.count
        let loads = hosted.effects.loads.count
        let deliveries = hosted.effects.deliveries.count
        let steps = hosted.effects.history.steps.count
        hosted.core.handle(event, now: now)
        // The failure of a batch ends the one that is being made.
        if hosted.core.batchNumber != batchNumber { mutations = 0 }
        // A planted fault may break the core's state.
        if world.canary == nil, let words = hosted.core.violation(of: event.key) {
            world.fail("invariants", words)
        }
        reportFailures(of: hosted)
        if case .partition(.tick) = event, commands == hosted.effects.commands.count,
            mutations == hosted.effects.mutations.count, loads == hosted.effects.loads.count,
            forwards == hosted.effects.forwards.count, deliveries == hosted.effects.deliveries.count,
            steps == hosted.effects.history.steps.count
        {
            return
        }
        let step = CoreStep(
            event: event, partition: hosted.number, now: now,
            commands: hosted.effects.commands[commands...],
            mutations: hosted.effects.mutations[mutations...],
            forwards: hosted.effects.forwards[forwards...], loads: hosted.effects.loads[loads...],
            deliveries: hosted.effects.deliveries[deliveries...],
            steps: world.canaries.alter(hosted.effects.history.steps[steps...], world))
        if hosted.core.clockDoubt != nil { world.lastDoubt = world.clock.nanoseconds }
        world.checkers.core?.check(step, world)
    }

    /// Reports the broken invariants that the core found.
    private func reportFailures(of hosted: HostedPartition) {
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
                receive([.loaded(.expired([end]))], partition)
            }
        }
    }

    /// A planted fault: records the ends of messages before they are on disk.
    private func recordDecisions(_ batch: WriteBatch, _ partition: Int) {
        var steps: [HistoryStep] = []
        for case .removeMessage(let device, let sequence, _, let reason) in batch.mutations
        where reason != .delivered && reason != .forwarded {
            var step = HistoryStep(
                .downstream, TraceRecord.Step(reason), sequence: sequence.number, at: world.clock.now.wall)
            step.device = device.number
            steps.append(step)
        }
        let step = CoreStep(
            event: .tick, partition: partition, now: world.clock.now, commands: [], mutations: [],
            forwards: [], loads: [], deliveries: [], steps: steps[...])
        world.checkers.history.check(step, world)
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
}
