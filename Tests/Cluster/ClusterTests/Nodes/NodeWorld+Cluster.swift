import Basics
import Cluster
import ClusterLog
import ClusterLogSupport

@testable import Delivery

/// The thread of the cluster of a node, and the log.
extension NodeWorld {
    func wakeCluster(_ node: WorldNode) {
        guard node.isRunning, !node.isClusterAwake else { return }
        node.isClusterAwake = true
        after(draw(10...1_000), on: node) { $0.clusterTurn(node) }
    }

    private func clusterTurn(_ node: WorldNode) {
        node.isClusterAwake = false
        var inbox = ClusterInbox()
        swap(&inbox, &node.clusterInbox)
        for (partition, batch) in inbox.batches { submit(batch, node.replicas[partition], node) }
        for event in inbox.events { route(.event(event), node) }
        if !inbox.commands.isEmpty {
            let validUntil = canary == .ignoresLateCommands ? Instant.distantFuture : inbox.validUntil
            route(.commands(inbox.commands, validUntil: validUntil), node)
        }
        for job in inbox.jobs { job(self) }
        postIncoming(node)
    }

    /// The shell ticks ten times a second and more.
    func tick(_ node: WorldNode) {
        after(draw(20_000...100_000), on: node) { world in
            for hosted in node.replicas { world.report(hosted, node) }
            world.handle(.tick, node)
            for hosted in node.replicas {
                world.handle(
                    .reached(node.membership?.reached(of: hosted.partition) ?? .start), of: hosted, node)
                world.handle(.tick, of: hosted, node)
            }
            world.publishKnowledge(node)
            if world.canary != .neverTicks { world.route(.tick, node) }
            world.postIncoming(node)
            // The partitions are ticked as well.
            _ = node.turns.tick(now: world.now)
            world.wakeReactor(node)
            world.tick(node)
        }
    }

    func postIncoming(_ node: WorldNode) {
        let (owned, commands) = (node.owned, node.owedCommands)
        guard !owned.isEmpty || !commands.isEmpty else { return }
        (node.owned, node.owedCommands) = ([], [])
        node.reactorInbox.commands += commands
        if !owned.isEmpty { postJob(node) { world in for event in owned { world.acceptOwned(event, node) } } }
        wakeReactor(node)
    }

    private func postJob(_ node: WorldNode, _ job: @escaping (NodeWorld) -> Void) {
        node.reactorInbox.jobs.append(job)
        wakeReactor(node)
    }

    // MARK: The router

    func route(_ event: NodeRouterEvent, _ node: WorldNode) {
        guard canary?.changes(event) != true else { return }
        // An answer that goes on to a third node was decided by the first.
        let isRelay = if case .receivedCommand = event { true } else { false }
        var effects: [NodeRouterEffect] = []
        node.router.handle(event, now: now.monotonic, effects: &effects)
        canary?.change(&effects, self)
        for effect in effects { perform(effect, node, isRelay: isRelay) }
    }

    private func perform(_ effect: NodeRouterEffect, _ node: WorldNode, isRelay: Bool) {
        switch effect {
        case .serve(let partition): serve(node.replicas[partition], node)
        case .lost(let partition):
            node.replicas[partition].lease?.until = .distantPast
            node.replicas[partition].lease = nil
        case .leave(let partition, let number):
            // Events that the partition still gets come first.
            postIncoming(node)
            postJob(node) { $0.leave(partition, number, node) }
        case .release(let partition, let successor):
            handle(.release(to: successor), of: node.replicas[partition], node)
        case .resume(let partition): handle(.resume, of: node.replicas[partition], node)
        case .deliver(let event, _): node.owned.append(event)
        case .send(let event, let owner, let mayWait):
            if !mayWait, isFaulty, chance(1) { return route(.unsent(event), node) }
            send(.event(event), from: node, to: nodes[Int(owner.number) - 1])
        case .command(let command, let connection): node.owedCommands.append((connection, command))
        case .sendCommand(let command, let connection, let target):
            if !isRelay { checkers.sends(command, to: connection, node, self) }
            send(.command(command, connection), from: node, to: nodes[Int(target.number) - 1])
        case .passFence(let partition):
            postIncoming(node)
            postJob(node) { _ in node.turns.fencePassed(partition) }
        case .closeSessions(let partition):
            postIncoming(node)
            postJob(node) { $0.closeSessions(of: partition, node) }
        case .submit(let change, let origin, let partition):
            submit(Self.batch(change, origin, by: node), node.replicas[partition], node)
        case .sendChange(let change, let number, let owner):
            if isFaulty, chance(1) { return route(.unsentChange(number: number, to: owner), node) }
            send(.change(change, number: number), from: node, to: nodes[Int(owner.number) - 1])
        case .sendOutcome(let number, let position, let other):
            send(.outcome(number: number, position), from: node, to: nodes[Int(other.number) - 1])
        case .returnChange(let number, let other):
            send(.returned(number: number), from: node, to: nodes[Int(other.number) - 1])
        case .changed(let number, let isWritten): changed(number, isWritten: isWritten, node)
        case .moved, .store, .unreached: break
        }
    }

    // MARK: Membership

    func handle(_ event: MembershipEvent, _ node: WorldNode) {
        var effects: [MembershipEffect] = []
        node.membership?.handle(event, now: now, effects: &effects)
        for effect in effects { perform(effect, node) }
    }

    private func report(_ hosted: WorldReplica, _ node: WorldNode) {
        handle(
            .local(partition: hosted.partition, hosted.replica.report(at: now.monotonic)), node)
    }

    func perform(_ effect: MembershipEffect, _ node: WorldNode) {
        switch effect {
        case .send(let heartbeat): publish(heartbeat, node)
        case .owner(let partition, let owner): route(.owner(partition: partition, owner), node)
        case .claim(let partition, let released):
            let hosted = node.replicas[partition]
            let released = canary == .believesReleased ? LogPosition(1 << 60) : released
            let role = hosted.replica.report.role
            handle(.claim(Claim(random.next()), released: released), of: hosted, node)
            if hosted.isUnfit, role == .following, hosted.replica.report.role == .claiming {
                checkers.fail("claims: node \(node.index) claims \(partition), whose stream is unfit")
            }
        case .abandon(let partition): handle(.abandon, of: node.replicas[partition], node)
        case .release(let partition, let successor):
            route(.leaves(partition: partition, to: successor), node)
        case .resume(let partition): route(.resumed(partition: partition), node)
        case .member, .frameVersion, .roster, .raised, .cleared, .drained: break
        }
    }

    private func publish(_ heartbeat: Heartbeat, _ node: WorldNode) {
        guard node.upCutUntil <= time else { return }
        for other in nodes {
            if other !== node, max(node.aloneUntil, other.aloneUntil, node.quietUntil) > time { continue }
            after(draw(100...3_000)) { world in
                guard other.downCutUntil <= world.time, other.isRunning else { return }
                other.clusterInbox.jobs.append { world in
                    world.handle(.heartbeat(heartbeat), other)
                    world.publishKnowledge(other)
                }
                world.wakeCluster(other)
            }
        }
    }

    private func serve(_ hosted: WorldReplica, _ node: WorldNode) {
        let (partition, lease, failures) = (hosted.partition, WorldLease(), hosted.order.failures)
        hosted.lease?.until = .distantPast
        hosted.lease = lease
        publishLease(hosted, node)
        postJob(node) { $0.take(partition, lease, after: failures, node) }
    }

    private func publishLease(_ hosted: WorldReplica, _ node: WorldNode) {
        guard let lease = hosted.lease else { return }
        lease.until = hosted.replica.leaseEnd
        guard lease.isAwaited, lease.until > .distantPast else { return }
        lease.isAwaited = false
        // The reactor looks at what waits.
        postJob(node) { _ in node.turns.leaseRenewed(hosted.partition) }
    }

    // MARK: Replicas

    func handle(_ event: ReplicaEvent, of hosted: WorldReplica, _ node: WorldNode) {
        var effects: [ReplicaEffect] = []
        hosted.replica.handle(event, now: now, effects: &effects)
        perform(effects, hosted, node)
    }

    /// Passes an event of the log on, after a moment, unless the node is cut off.
    private func heard(_ event: ReplicaEvent, _ hosted: WorldReplica, _ node: WorldNode, _ process: Int) {
        guard node.process == process, node.isRunning, node.downCutUntil <= time else { return }
        node.clusterInbox.jobs.append { $0.handle(event, of: hosted, node) }
        wakeCluster(node)
    }

    private func submit(_ batch: WorldBatch, _ hosted: WorldReplica, _ node: WorldNode) {
        if batch.origin == nil, !hosted.order.allows(batch.core) {
            return report(.failed(batch.number), to: hosted.partition, node)
        }
        var entry = ByteBuffer()
        for change in batch.changes {
            entry.append(word: change.kind.rawValue << 56 | change.device)
            entry.append(word: UInt64(change.connection.node) << 32 | UInt64(change.connection.slot))
            entry.append(word: UInt64(change.connection.generation) << 32 | UInt64(change.request))
        }
        var effects: [ReplicaEffect] = []
        if let number = hosted.replica.submit(entry.bytes, now: now, effects: &effects) {
            hosted.open[number] = batch
        } else {
            fail(batch, hosted.partition, node)
        }
        perform(effects, hosted, node)
    }

    private func fail(_ batch: WorldBatch, _ partition: Int, _ node: WorldNode) {
        if let origin = batch.origin { return route(.completed(origin, at: nil), node) }
        report(node.replicas[partition].order.fail(batch.number), to: partition, node)
    }

    private func report(_ outcome: CommitOutcome, to partition: Int, _ node: WorldNode) {
        node.reactorInbox.reports.append((partition, .committed(outcome)))
        wakeReactor(node)
    }

    private func perform(_ effects: [ReplicaEffect], _ hosted: WorldReplica, _ node: WorldNode) {
        for effect in effects { perform(effect, hosted, node) }
        publishLease(hosted, node)
    }

    private func perform(_ effect: ReplicaEffect, _ hosted: WorldReplica, _ node: WorldNode) {
        let partition = hosted.partition
        switch effect {
        case .append(let name):
            if let frame = hosted.replica.frame(name) { append(frame, name, hosted, node) }
        case .appendRecord(let bytes): append(bytes, FrameName(claim: Claim(0), number: 0), hosted, node)
        case .read(let position): read(position, hosted, node)
        case .follow(let position): (hosted.follows, hosted.isPaused) = (position, false)
        case .stopFollowing: hosted.follows = nil
        case .pauseFollowing: hosted.isPaused = canary != .neverPauses
        case .resumeFollowing: if canary != .neverResumes { hosted.isPaused = false }
        case .apply(let frame):
            hosted.frames.append(frame)
            if hosted.frames.count == 1 { applyLater(hosted, node) }
        case .fail(let range):
            for number in range {
                if let batch = hosted.open.removeValue(forKey: number) { fail(batch, partition, node) }
            }
        case .took:
            checkers.took(partition, node, self)
            route(.took(partition: partition), node)
        case .surrender(let number):
            postJob(node) { _ in
                node.turns.surrender(partition)
                node.toCluster.jobs.append { $0.handle(.surrendered(number), of: hosted, node) }
            }
        case .lost:
            _ = hosted.order.fail(0)
            route(.lost(partition: partition), node)
        case .changed: report(hosted, node)
        case .examine: handle(.examined(hosted.isUnfit ? .unfit : .fit), of: hosted, node)
        case .shortened, .repaired, .absent: break
        case .halted(let reason): checkers.fail("halted: \(reason)")
        }
    }

    private func applyLater(_ hosted: WorldReplica, _ node: WorldNode) {
        after(max(draw(10...4_000), node.slowUntil - time), on: node) { world in
            guard let frame = hosted.frames.first else { return }
            hosted.frames.removeFirst()
            var own: [WorldBatch] = []
            var changes: [[WorldChange]] = []
            switch frame.content {
            case .own(let range):
                own = range.compactMap { hosted.open.removeValue(forKey: $0) }
                changes = own.map(\.changes)
            case .foreign(let content): changes = Self.changes(in: content)
            }
            world.checkers.counts(changes.joined(), at: frame.position, of: hosted.partition, world.time)
            for change in changes.dropFirst(Int(frame.skips)).joined() { hosted.store.apply(change) }
            hosted.store.reader = LogReader(term: frame.term, number: frame.number, position: frame.position)
            if world.canary != .missesSenders, changes.joined().contains(where: \.kind.isOperators) {
                world.readSenders(node)
            }
            for batch in own { world.completed(batch, at: frame.position, of: hosted.partition, node) }
            node.clusterInbox.jobs.append { world in
                world.handle(.applied(frame.position), of: hosted, node)
                world.route(.applied(frame.position, partition: hosted.partition), node)
            }
            world.wakeCluster(node)
            if !hosted.frames.isEmpty { world.applyLater(hosted, node) }
        }
    }

    /// The store has a batch of this node.
    private func completed(
        _ batch: WorldBatch, at position: LogPosition, of partition: Int, _ node: WorldNode
    ) {
        guard let origin = batch.origin else {
            return report(CommitOutcome(batchNumber: batch.number), to: partition, node)
        }
        node.clusterInbox.jobs.append { $0.route(.completed(origin, at: position), node) }
    }

    private static func changes(in content: [UInt8]) -> [[WorldChange]] {
        (AppliedFrame.batches(in: content) ?? []).map { range in
            stride(from: range.lowerBound, to: range.upperBound, by: 24).map { at in
                let words = [0, 8, 16].map { content.raw.word(at: at + $0) }
                return WorldChange(
                    kind: WorldChange.Kind(rawValue: words[0] >> 56) ?? .message,
                    device: words[0] & 0xFFFF_FFFF,
                    connection: ConnectionID(
                        node: UInt16(words[1] >> 32), reactor: 0,
                        slot: UInt32(truncatingIfNeeded: words[1]), generation: UInt32(words[2] >> 32)),
                    request: UInt32(truncatingIfNeeded: words[2]))
            }
        }
    }

    // MARK: The log

    private func reaches(_ node: WorldNode) -> Bool { max(node.upCutUntil, node.aloneUntil) <= time }

    private func append(_ frame: [UInt8], _ name: FrameName, _ hosted: WorldReplica, _ node: WorldNode) {
        guard reaches(node) else { return }
        let (process, partition) = (node.process, hosted.partition)
        switch logs[partition].fate(of: node.index, at: time, isFaulty: isFaulty, &random) {
        case .lost: break
        case .refused(let delay):
            after(delay) { $0.heard(.refused(name), hosted, node, process) }
        case .stored(let delay, let answerDelay):
            after(delay) { world in
                let position = world.logs[partition].store(frame, &world.random)
                guard let answerDelay else { return }
                world.after(answerDelay) { $0.heard(.stored(name, at: position), hosted, node, process) }
            }
        }
    }

    private func read(_ position: LogPosition, _ hosted: WorldReplica, _ node: WorldNode) {
        guard node.upCutUntil <= time else { return }
        let process = node.process
        after(draw(200...4_000)) { world in
            guard node.aloneUntil <= world.time else {
                return world.heard(.readFailed, hosted, node, process)
            }
            let reading = world.logs[hosted.partition].read(
                position, at: world.time, isFaulty: world.isFaulty, &world.random)
            let event: ReplicaEvent =
                switch reading {
                case .record(let bytes, let position): .record(bytes, at: position)
                case .end(let position): .end(position)
                case .removed(let first): .removed(first: first)
                case .failed: .readFailed
                }
            world.heard(event, hosted, node, process)
        }
    }

    func follow(_ hosted: WorldReplica, _ node: WorldNode) {
        after(draw(1_000...30_000), on: node) { world in
            world.follow(hosted, node)
            guard max(node.downCutUntil, node.aloneUntil) <= world.time else { return }
            for _ in 0..<32 {
                guard !hosted.isPaused, let position = hosted.follows,
                    case .record(let bytes, let found) = world.logs[hosted.partition].read(
                        position.next, at: world.time, isFaulty: world.isFaulty, ofLeader: false,
                        &world.random)
                else { return }
                hosted.follows = found
                world.handle(.followed(bytes, at: found), of: hosted, node)
                world.checkers.followed(hosted)
            }
        }
    }
}
