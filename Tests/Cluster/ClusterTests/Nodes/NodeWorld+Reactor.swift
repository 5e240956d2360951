import Basics
import Cluster

@testable import Delivery

/// The reactor of a node: the shell of its turns, in which stand-ins handle the events of the partitions.
extension NodeWorld {
    func startReactor(_ node: WorldNode) {
        let map = PartitionMap(partitions: Self.partitions, reactors: 1)
        node.turns = TurnLoop(
            reactor: 0, of: map, node: node.number.number, leaseTime: { [unowned self] in now.monotonic }
        ) { _ in nil }
        node.turns.witness = { [unowned node] event, hosted, now in
            node.cores[hosted.number]?.handle(
                event, hosted, node.replicas[hosted.number].store.registered, now)
        }
    }

    func wakeReactor(_ node: WorldNode) {
        guard node.isRunning, !node.isReactorAwake else { return }
        node.isReactorAwake = true
        after(draw(10...1_000), on: node) { $0.reactorTurn(node) }
    }

    private func reactorTurn(_ node: WorldNode) {
        node.isReactorAwake = false
        var inbox = ReactorInbox()
        swap(&inbox, &node.reactorInbox)
        for report in inbox.reports {
            node.turns.handle(report: report.event, of: report.partition, now: now)
        }
        for (connection, command) in inbox.commands { perform(command, connection, node, of: nil) }
        for job in inbox.jobs { job(self) }
        vouch(node)
        endReactorTurn(node)
    }

    private func endReactorTurn(_ node: WorldNode) {
        let turns = node.turns
        var letOut: [(partition: Int, ConnectionID, SessionCommand)] = []
        whileFaulty(turns) {
            var commands: [(ConnectionID, SessionCommand)] = []
            while next(&commands, turns) {
                let partition = turns.round.source?.number ?? 0
                var round = CommandRound(&commands)
                while let connection = turns.nextSession(&round), let command = round.take(for: connection) {
                    letOut.append((partition, connection, command))
                }
                commands = round.storage()
                turns.giveBack(&commands, now: now)
            }
        }
        let effects = turns.takeEffects()
        for entry in effects.batches {
            guard let core = node.cores[entry.partition] else { continue }
            node.toCluster.batches.append((entry.partition, core.ended(entry.batch)))
        }
        for entry in effects.loads { load(entry, node) }
        for hosted in turns.active {
            guard let core = node.cores[hosted.number] else { continue }
            // Devices are evicted.
            if core.isFree, chance(20) { core.devices = [:] }
            // What is done is a change, which counts for nothing once another node owns the partition.
            checkers.look(at: core, counts: hosted.leased.map { now.monotonic < $0.lease.until } ?? false)
        }
        let until = turns.letOutUntil
        turns.endTurn()
        removeLeft(node)
        node.toCluster.add(turns.elsewhere.take())
        // The process may stand still before what was let out leaves it.
        if !letOut.isEmpty || !node.toCluster.commands.isEmpty { standStill(node) }
        after(0, on: node) { world in
            for (partition, connection, command) in letOut {
                world.leave(command, connection, of: partition, until: until, node)
            }
            world.postToCluster(node)
        }
    }

    /// Moves the next commands out of a turn. A planted fault loses what is answered in place of what has waited at a gate.
    private func next(_ commands: inout [(ConnectionID, SessionCommand)], _ turns: TurnLoop) -> Bool {
        let holding = turns.active.filter { $0.leased?.gate.isHolding == true }
        guard turns.next(&commands, now: now) else { return false }
        if canary == .missesUnsent, let source = turns.round.source,
            holding.contains(where: { $0 === source })
        {
            turns.round.forwards.removeAll {
                $0.answeredKey != nil && $0.key?.partition(of: Self.partitions) == source.number
            }
        }
        return true
    }

    /// Plants the faults of gates while a turn lets out what was decided.
    private func whileFaulty(_ turns: TurnLoop, _ letOut: () -> Void) {
        let hosted = turns.all.compactMap { $0 }
        if canary == .ignoresGate { for partition in hosted { partition.leased = nil } }
        let leaving = hosted.filter { canary == .letsInWhileLeaving && $0.presence == .leaving }
        for partition in leaving { partition.presence = .serving }
        letOut()
        for partition in leaving { partition.presence = .leaving }
    }

    /// Has the store read a device; now and then, that takes a while.
    private func load(_ entry: PartitionQuery, _ node: WorldNode) {
        guard case .device(let device) = entry.query else { return }
        after(isFaulty && chance(25) ? draw(1...500_000) : draw(50...3_000), on: node) { world in
            let isRegistered = node.replicas[entry.partition].store.registered.contains(device.number)
            let record = DeviceRecord(
                device: device, token: Self.secret, createdAt: 0, seenAt: 0, nextRegistration: 2)
            let state = DeviceState(
                device: device, record: isRegistered ? record : nil, registrations: [], mailbox: [])
            node.reactorInbox.reports.append((entry.partition, .loaded(.device(state))))
            world.wakeReactor(node)
        }
    }

    /// What a partition has let out leaves the node: only while the leases of the turn hold.
    private func leave(
        _ command: SessionCommand, _ connection: ConnectionID, of partition: Int, until: Instant,
        _ node: WorldNode
    ) {
        if until <= now.monotonic, canary != .ignoresLateTurns {
            close(connection, node)
        } else {
            checkers.decides(command, partition, node, self)
            perform(command, connection, node, of: partition)
        }
    }

    private func postToCluster(_ node: WorldNode) {
        var parcel = ClusterInbox()
        swap(&parcel, &node.toCluster)
        guard !parcel.isEmpty else { return }
        node.clusterInbox.add(parcel)
        wakeCluster(node)
        if !parcel.commands.isEmpty { standStill(node) }
    }

    /// Has the process of a node stand still, now and then.
    private func standStill(_ node: WorldNode) {
        guard isFaulty, chance(1), chance(40) else { return }
        node.pausedUntil = max(node.pausedUntil, time + draw(500_000...4_000_000))
    }

    // MARK: Ways of events

    /// An event of a session.
    func accept(_ event: Event, _ node: WorldNode) {
        node.turns.accept(event, now: now)
        wakeReactor(node)
    }

    func acceptOwned(_ event: Event, _ node: WorldNode) {
        if canary == .dropsKept, let partition = event.key?.partition(of: Self.partitions),
            node.turns.doors[partition].way(isPassedBack: true) == .keep
        {
            return
        }
        node.turns.acceptOwned(event)
        wakeReactor(node)
    }

    func take(_ partition: Int, _ lease: WorldLease, after failures: UInt64, _ node: WorldNode) {
        node.toCluster.jobs.append { world in
            world.route(.fence(partition: partition), node)
        }
        node.turns.take(partition, lease) { [unowned self, unowned node] in
            node.cores[partition] = WorldCore(
                partition, node.directory, startedAt: time)
            return Partition(
                partition: partition, of: Self.partitions, seed: 1, hashKey: (1, 2), failuresSeen: failures)
        }
        if canary == .ignoresFences { node.turns.fencePassed(partition) }
    }

    private func removeLeft(_ node: WorldNode) {
        let departures = node.turns.removeLeft()
        if departures.needsTurn { wakeReactor(node) }
        for (partition, number) in departures.left {
            node.toCluster.jobs.append { $0.route(.left(partition: partition, number), node) }
        }
        for partition in node.cores.indices where node.turns.all[partition] == nil {
            node.cores[partition] = nil
        }
    }

    func leave(_ partition: Int, _ number: UInt64, _ node: WorldNode) {
        let turns = node.turns
        let waiting = turns.elsewhere.events.count
        _ = turns.leave(partition, number)
        if canary == .dropsAwaited { turns.elsewhere.events.removeSubrange(waiting...) }
        if canary == .leavesGate, let hosted = turns.all[partition] {
            hosted.isActive = false
            turns.active.removeAll { $0 === hosted }
        }
        closeSessions(of: partition, node)
        wakeReactor(node)
    }

    func closeSessions(of partition: Int, _ node: WorldNode) {
        guard canary != .keepsSessions else { return }
        for connection in node.connections {
            guard case .loggedIn(let key) = connection.login, key.partition(of: Self.partitions) == partition
            else { continue }
            close(connection.id(node), node)
        }
    }
}
