import Basics
import Cluster
import ClusterLog

/// What memberships do, and what happens to nodes.
extension MemberWorld {
    func perform(_ effect: MembershipEffect, _ node: Int) {
        switch effect {
        case .send(let heartbeat): send(heartbeat, node)
        case .owner(let partition, let owner): nodes[node].map[partition] = owner
        case .claim(let partition, _):
            checkers.claims(partition, node, self)
            nodes[node].replicas[partition].attempt += 1
            nodes[node].replicas[partition].role = .claiming
            claim(partition, node, nodes[node].process, nodes[node].replicas[partition].attempt)
        case .abandon(let partition):
            nodes[node].replicas[partition].attempt += 1
            nodes[node].replicas[partition].role = .following
            report(partition, node)
        case .release(let partition, let successor): release(partition, to: successor, node)
        case .resume(let partition):
            // The node may have read the successor's mark.
            guard nodes[node].replicas[partition].role.isOwner else { return }
            nodes[node].replicas[partition].attempt += 1
            nodes[node].replicas[partition].role = .owning
            nodes[node].replicas[partition].isServing = true
            report(partition, node)
        case .member: break
        case .roster: nodes[node].roster = nodes[node].membership?.roster ?? Roster()
        case .frameVersion(let version): nodes[node].frameVersion = version
        case .raised(let alarm): nodes[node].alarms.insert(alarm)
        case .cleared(let alarm): nodes[node].clear(alarm)
        case .drained:
            let process = nodes[node].process
            after(100_000) { world in if world.nodes[node].process == process { world.stop(node) } }
        }
    }

    /// A node has given up its partitions: its process ends, and another one begins.
    private func stop(_ node: Int) {
        checkers.stops(node, self)
        nodes[node].kill()
        after(Int64.random(in: 200_000...3_000_000, using: &random)) { $0.start(node) }
    }

    private func isCut(_ node: Int) -> Bool { nodes[node].cutUntil > time }

    /// Reports one replica after a moment, as the shell of the partition's thread does.
    func report(_ partition: Int, _ node: Int) {
        let process = nodes[node].process
        after(Int64.random(in: 10...2_000, using: &random)) { world in
            world.feed(
                .local(partition: partition, world.nodes[node].replicas[partition].report), node, process)
        }
    }

    private func send(_ heartbeat: Heartbeat, _ node: Int) {
        guard !isCut(node) else { return }
        let bytes = heartbeat.encoded()
        guard let heartbeat = try? Heartbeat(decoding: bytes.raw) else {
            return checkers.mustHold(false, "heartbeats: \(heartbeat) cannot be read")
        }
        for other in nodes.indices {
            if isFaulty, chance(settings.lost) { continue }
            let isLate = isFaulty && chance(settings.late)
            let delay = Int64.random(in: 100...(isLate ? 700_000 : 3_000), using: &random)
            after(delay) { world in
                guard !world.isCut(other) else { return }
                world.feed(.heartbeat(heartbeat), other, world.nodes[other].process)
            }
        }
    }

    /// Appends a mark, again until an answer comes.
    private func claim(_ partition: Int, _ node: Int, _ process: Int, _ attempt: Int) {
        let wait = max(0, logs.electionUntil - time) + Int64.random(in: 500...6_000, using: &random)
        after(wait) { world in
            let replica = world.nodes[node].replicas[partition]
            guard world.nodes[node].process == process, replica.attempt == attempt else {
                // A mark may be stored whose node has given up.
                if world.chance(50) {
                    _ = world.logs.claim(partition, after: replica.epoch, by: node, process: process)
                }
                return
            }
            guard world.nodes[node].isWell(at: world.time) else {
                // The owner's rule reads the log before it appends again.
                return world.after(500_000) { $0.claim(partition, node, process, attempt) }
            }
            let isOwner = world.logs.claim(partition, after: replica.epoch, by: node, process: process)
            world.after(Int64.random(in: 200...3_000, using: &world.random)) { world in
                guard world.nodes[node].process == process,
                    world.nodes[node].replicas[partition].attempt == attempt
                else { return }
                let log = world.logs.partitions[partition]
                let owns = isOwner && log.epoch == replica.epoch + 1
                world.nodes[node].replicas[partition].role = owns ? .owning : .following
                world.nodes[node].replicas[partition].isServing = owns
                world.nodes[node].replicas[partition].epoch = log.epoch
                world.nodes[node].replicas[partition].applied = log.end
                world.report(partition, node)
            }
        }
    }

    private func release(_ partition: Int, to successor: NodeNumber, _ node: Int) {
        nodes[node].replicas[partition].attempt += 1
        nodes[node].replicas[partition].isServing = false
        let (process, attempt) = (nodes[node].process, nodes[node].replicas[partition].attempt)
        after(Int64.random(in: 1_000...30_000, using: &random)) { world in
            let replica = world.nodes[node].replicas[partition]
            guard world.nodes[node].process == process, replica.attempt == attempt, replica.role == .owning
            else { return }
            world.nodes[node].replicas[partition].role = .releasing(to: successor)
            world.report(partition, node)
        }
    }

    /// Owners write and followers read, 20 times a second.
    func work() {
        for node in nodes.indices where nodes[node].isWell(at: time) && logs.electionUntil <= time {
            for partition in nodes[node].replicas.indices { work(partition, node) }
        }
        logs.note(time)
        checkers.observe(self)
        after(50_000) { $0.work() }
    }

    private func work(_ partition: Int, _ node: Int) {
        var replica = nodes[node].replicas[partition]
        let old = replica
        let isOwner = replica.role.isOwner && replica.epoch == logs.partitions[partition].epoch
        if isOwner, replica.isServing {
            logs.partitions[partition].end += UInt64.random(in: 0...3, using: &random)
        }
        guard replica.role != .claiming else { return }
        if replica.role.isOwner, !isOwner { (replica.role, replica.isServing) = (.following, false) }
        // A follower may be behind.
        if isOwner || chance(80) {
            replica.epoch = logs.partitions[partition].epoch
            replica.applied = logs.partitions[partition].end
        }
        if chance(5) { replica.durable = replica.applied }
        nodes[node].replicas[partition] = replica
        if replica.report != old.report { report(partition, node) }
    }

    /// Ten times a second, what goes wrong is drawn.
    func trouble() {
        guard isFaulty else { return }
        let node = Int.random(in: nodes.indices, using: &random)
        let span = Int64.random(in: 200_000...5_000_000, using: &random)
        if nodes[node].isRunning {
            if chance(settings.kills) { kill(node, for: span) }
            if chance(settings.pauses) { pause(node, for: span) }
            if chance(settings.cuts) { cut(node, for: span) }
            if chance(settings.drains) { drain(node) }
        }
        if chance(settings.elections) {
            logs.electionUntil = time + Int64.random(in: 4_000_000...9_000_000, using: &random)
            calmSince = max(calmSince, logs.electionUntil)
        }
        after(100_000) { $0.trouble() }
    }

    func kill(_ node: Int, for span: Int64) {
        nodes[node].kill()
        after(span) { $0.start(node) }
    }

    func pause(_ node: Int, for span: Int64) {
        nodes[node].pausedUntil = max(nodes[node].pausedUntil, time + span)
        nodes[node].back = max(nodes[node].back, nodes[node].pausedUntil)
        calmSince = max(calmSince, time + span)
    }

    func cut(_ node: Int, for span: Int64) {
        nodes[node].cutUntil = max(nodes[node].cutUntil, time + span)
        nodes[node].back = max(nodes[node].back, nodes[node].cutUntil)
        calmSince = max(calmSince, time + span)
    }

    func drain(_ node: Int) {
        let hasOther = nodes.contains { $0.index != node && $0.isRunning && !$0.isDraining }
        guard nodes[node].isRunning, !nodes[node].isDraining, hasOther else { return }
        nodes[node].isDraining = true
        feed(.drain, node, nodes[node].process)
    }
}
