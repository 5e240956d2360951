import Basics
import Cluster
import Delivery

/// The reactor of a node.
extension NodeWorld {
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
            guard let core = node.cores[report.partition] else { continue }
            core.isActive = true
            if report.hasFailed {
                core.failed(report.batch, node.replicas[report.partition].store.registered)
            } else {
                core.committed(report.batch)
            }
        }
        for load in inbox.loads {
            load.core.isActive = true
            load.core.loaded(load.device, isRegistered: load.isRegistered)
        }
        for (connection, command) in inbox.commands { perform(command, connection, node, of: nil) }
        for job in inbox.jobs { job(self) }
        vouch(node)
        endReactorTurn(node)
    }

    private func endReactorTurn(_ node: WorldNode) {
        var letOut: [(partition: Int, until: Instant, effects: Effects)] = []
        for case let core? in node.cores where core.isActive {
            core.isActive = false
            for event in core.events { core.handle(event) }
            core.events = []
            load(core, node)
            batches += 1
            if let batch = core.endTurn(batches) { node.toCluster.batches.append((core.partition, batch)) }
            // Devices are evicted.
            if core.isFree, chance(20) { core.devices = [:] }
            let until = passGate(core)
            letOut.append((core.partition, until, core.effects))
            core.effects = Effects()
            checkers.look(at: core)
        }
        removeLeft(node)
        // The process may stand still before what was let out leaves it.
        if letOut.contains(where: { !$0.effects.commands.isEmpty }) { standStill(node) }
        after(0, on: node) { world in
            for (partition, until, effects) in letOut {
                world.leave(effects.commands, of: partition, until: until, node)
                for event in effects.forwards { world.accept(event, node) }
            }
            world.postToCluster(node)
        }
    }

    /// Has the store read the devices that a core asks for; now and then, that takes a while.
    private func load(_ core: WorldCore, _ node: WorldNode) {
        for device in core.wanted {
            after(isFaulty && chance(25) ? draw(1...500_000) : draw(50...3_000), on: node) { world in
                let isRegistered = node.replicas[core.partition].store.registered.contains(device)
                node.reactorInbox.loads.append((core, device, isRegistered))
                world.wakeReactor(node)
            }
        }
        core.wanted = []
    }

    private func passGate(_ core: WorldCore) -> Instant {
        guard canary != .ignoresGate else { return .distantFuture }
        func pass() -> Instant {
            let until = core.lease.until
            let standing: OutputGate.Standing =
                core.hasSurrendered
                ? (canary == .waitsWhenSurrendered ? .owned(until: .distantPast) : .lost)
                : core.isLeaving && canary != .letsInWhileLeaving
                    ? .leaving(until: until) : .owned(until: until)
            let wasHolding = core.gate.isHolding
            defer {
                if canary == .missesUnsent, wasHolding {
                    core.effects.forwards.removeAll {
                        $0.answeredKey != nil && $0.key?.partition(of: Self.partitions) == core.partition
                    }
                }
            }
            return core.gate.pass(&core.effects, standing, now: now.monotonic)
        }
        let until = pass()
        guard core.gate.isHolding else { return until }
        core.lease.isAwaited = true
        return now.monotonic < core.lease.until ? pass() : .distantFuture
    }

    /// What a partition has let out leaves the node: only while the lease holds.
    private func leave(
        _ commands: [(ConnectionID, SessionCommand)], of partition: Int, until: Instant, _ node: WorldNode
    ) {
        let isLate = until <= now.monotonic && canary != .ignoresLateTurns
        for (connection, command) in commands {
            guard connection.node == node.number.number else {
                node.toCluster.commands.append((connection, command))
                node.toCluster.validUntil = min(node.toCluster.validUntil, until)
                continue
            }
            if isLate {
                close(connection, node)
            } else {
                checkers.decides(command, partition, node, self)
                perform(command, connection, node, of: partition)
            }
        }
    }

    private func postToCluster(_ node: WorldNode) {
        var parcel = ClusterInbox()
        swap(&parcel, &node.toCluster)
        guard
            !parcel.batches.isEmpty || !parcel.events.isEmpty || !parcel.commands.isEmpty
                || !parcel.jobs.isEmpty
        else { return }
        node.clusterInbox.batches += parcel.batches
        node.clusterInbox.events += parcel.events
        node.clusterInbox.commands += parcel.commands
        node.clusterInbox.validUntil =
            node.clusterInbox.commands.count == parcel.commands.count
            ? parcel.validUntil : min(node.clusterInbox.validUntil, parcel.validUntil)
        node.clusterInbox.jobs += parcel.jobs
        wakeCluster(node)
        if !parcel.commands.isEmpty { standStill(node) }
    }

    /// Has the process of a node stand still, now and then.
    private func standStill(_ node: WorldNode) {
        guard isFaulty, chance(1), chance(40) else { return }
        node.pausedUntil = max(node.pausedUntil, time + draw(500_000...4_000_000))
    }

    // MARK: Ways of events

    /// An event of a session, or of another partition.
    func accept(_ event: Event, _ node: WorldNode) {
        pass(event, isPassedBack: canary == .ignoresFences, node)
    }

    func acceptOwned(_ event: Event, _ node: WorldNode) { pass(event, isPassedBack: true, node) }

    private func pass(_ event: Event, isPassedBack: Bool, _ node: WorldNode) {
        guard let partition = event.key?.partition(of: Self.partitions) else { return }
        switch node.doors[partition].way(isPassedBack: isPassedBack) {
        case .serve:
            node.cores[partition]?.events.append(event)
            node.cores[partition]?.isActive = true
        case .keep: if canary != .dropsKept { node.doors[partition].keep(event) }
        case .passOn: node.toCluster.events.append(event)
        }
        wakeReactor(node)
    }

    func take(_ partition: Int, _ lease: WorldLease, _ node: WorldNode) {
        node.toCluster.jobs.append { world in
            world.route(.fence(partition: partition), node)
        }
        if node.doors[partition].take() {
            makeCore(partition, lease, node)
        } else {
            node.awaited[partition] = lease
        }
    }

    private func makeCore(_ partition: Int, _ lease: WorldLease, _ node: WorldNode) {
        node.cores[partition] = WorldCore(
            partition, lease, node.directory, firstRun: UInt32(truncatingIfNeeded: random.next()))
    }

    private func removeLeft(_ node: WorldNode) {
        for case let core? in node.cores where core.isLeaving && core.isFree {
            let partition = core.partition
            // What waits at the gate is answered first.
            node.cores[partition] = nil
            guard let events = node.doors[partition].becomeFree(), let lease = node.awaited[partition]
            else { continue }
            node.awaited[partition] = nil
            makeCore(partition, lease, node)
            node.cores[partition]?.events = events
            node.cores[partition]?.isActive = true
            wakeReactor(node)
        }
    }

    func leave(_ partition: Int, _ node: WorldNode) {
        let events = node.doors[partition].leave()
        if canary != .dropsAwaited { node.toCluster.events += events }
        node.awaited[partition] = nil
        node.cores[partition]?.isLeaving = true
        // What waits at its gate is answered.
        node.cores[partition]?.isActive = canary != .leavesGate
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
