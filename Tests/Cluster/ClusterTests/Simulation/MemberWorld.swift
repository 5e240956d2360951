import Basics
import Cluster
import ClusterLog

/// A cluster of several memberships with logs that decide by epoch, and everything that goes wrong with nodes and networks.
final class MemberWorld {
    struct Settings {
        var nodes = 3
        var partitions = 8
        /// How long there are faults, in microseconds.
        var faultMicroseconds: Int64 = 8_000_000
        /// Chances in percent, of each heartbeat or ten times a second.
        var lost = 0
        var late = 0
        var kills = 0
        var pauses = 0
        var cuts = 0
        var drains = 0
        var elections = 0
        /// How many nodes run from the start; the others join later.
        var early = 3
    }

    let settings: Settings
    static let cluster = ClusterID(0xc105)
    var random: SeededRandom
    var logs: SimulatedLogs
    var nodes: [MemberNode]
    var checkers: MemberCheckers
    private(set) var time: Int64 = 0
    private var agenda: [(at: Int64, order: Int, action: (MemberWorld) -> Void)] = []
    private var order = 0
    /// When the last fault ended.
    var calmSince: Int64 = 0
    /// When a run ends that is not to come to rest.
    var stopsAt: Int64?

    // Planted faults, to check the checkers.
    /// Changes an event before it reaches a membership. `nil` drops it.
    var tamper: ((MembershipEvent, MemberNode) -> MembershipEvent?)?
    /// Changes the effects of a membership.
    var tamperEffects: ((inout [MembershipEffect], MemberWorld, Int) -> Void)?

    init(seed: UInt64, _ settings: Settings) {
        self.settings = settings
        random = SeededRandom(seed: seed)
        logs = SimulatedLogs(settings.partitions)
        checkers = MemberCheckers(settings)
        nodes = (0..<settings.nodes).map { index in
            MemberNode(
                index: index, replicas: Array(repeating: SimulatedReplica(), count: settings.partitions),
                map: Array(repeating: nil, count: settings.partitions))
        }
        calmSince = settings.faultMicroseconds
    }

    var isFaulty: Bool { time < settings.faultMicroseconds }

    func now() -> Now {
        Now(
            monotonic: Instant(nanoseconds: (time + 1_000_000) * 1_000),
            wall: 1_700_000_000_000 + time / 1_000)
    }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func after(_ microseconds: Int64, _ action: @escaping (MemberWorld) -> Void) {
        order += 1
        let entry = (at: time + max(0, microseconds), order: order, action: action)
        var (low, high) = (0, agenda.count)
        // The next action is the last element.
        while low < high {
            let middle = (low + high) / 2
            if agenda[middle].at > entry.at { low = middle + 1 } else { high = middle }
        }
        agenda.insert(entry, at: low)
    }

    /// Runs until the faults are over and the cluster has come to rest. Returns what the checkers have found.
    func run() -> [String] {
        for node in nodes.indices {
            let isEarly = node < settings.early
            let most = isEarly ? 300_000 : max(settings.faultMicroseconds, 300_000)
            after(Int64.random(in: 0...most, using: &random)) { $0.start(node) }
        }
        after(100_000) { $0.trouble() }
        after(10_000) { $0.work() }
        while let next = agenda.popLast() {
            time = max(time, next.at)
            next.action(self)
            if time >= stopsAt ?? .max { return checkers.found }
            let isLate = time > calmSince + MemberCheckers.restMicroseconds
            if isLate || checkers.isAtRest(self) || checkers.found.count >= 5 { break }
        }
        checkers.finish(self)
        return checkers.found
    }

    /// Starts a process of a node, if none runs.
    func start(_ node: Int) {
        guard !nodes[node].isRunning else { return }
        calmSince = max(calmSince, time)
        nodes[node].back = time
        nodes[node].membership = Membership(
            Membership.Settings(
                cluster: Self.cluster, node: nodes[node].number, incarnation: Incarnation(random.next()),
                name: "node \(node)", software: "1.0", frameVersions: nodes[node].frameVersions,
                linkAddress: "127.0.0.1:\(7_000 + node)", partitions: settings.partitions),
            roster: nodes[node].roster, seed: random.next(), now: now())
        report(node)
        tick(node, nodes[node].process)
    }

    private func tick(_ node: Int, _ process: Int) {
        guard nodes[node].process == process, let membership = nodes[node].membership else { return }
        let wait = membership.nextTick.milliseconds(since: now().monotonic)
        after(min(max(wait, 1), 100) * 1_000) { world in
            world.feed(.tick, node, process)
            // The next one is due when this one was handled.
            world.after(max(0, world.nodes[node].pausedUntil - world.time)) { $0.tick(node, process) }
        }
    }

    /// Reports the replicas of a node to its membership.
    func report(_ node: Int) {
        for partition in nodes[node].replicas.indices {
            feed(
                .local(partition: partition, nodes[node].replicas[partition].report), node,
                nodes[node].process)
        }
    }

    /// Feeds an event to a node: while it is paused, later and in order.
    func feed(_ event: MembershipEvent, _ node: Int, _ process: Int) {
        guard nodes[node].process == process else { return }
        nodes[node].inbox.append(event)
        if nodes[node].inbox.count == 1 { resume(node, process) }
    }

    private func resume(_ node: Int, _ process: Int) {
        guard nodes[node].process == process else { return }
        let pause = nodes[node].pausedUntil - time
        guard pause <= 0 else { return after(pause) { $0.resume(node, process) } }
        while let event = nodes[node].inbox.first {
            handle(event, node)
            guard nodes[node].process == process else { return }
            nodes[node].inbox.removeFirst()
        }
    }

    private func handle(_ event: MembershipEvent, _ node: Int) {
        var event = event
        if let tamper {
            guard let changed = tamper(event, nodes[node]) else { return }
            event = changed
        }
        var effects: [MembershipEffect] = []
        if case .tick = event { reportLeases(node, &effects) }
        nodes[node].membership?.handle(event, now: now(), effects: &effects)
        tamperEffects?(&effects, self, node)
        for effect in effects { perform(effect, node) }
    }

    /// Reports the partitions that a node owns as they are before each heartbeat: whether by a lease, the log decides.
    private func reportLeases(_ node: Int, _ effects: inout [MembershipEffect]) {
        for (partition, replica) in nodes[node].replicas.enumerated() where replica.role == .owning {
            let log = logs.partitions[partition]
            var report = replica.report
            let isLeased = replica.epoch == log.epoch && replica.applied == log.end
            report.isLeased = isLeased && nodes[node].cutUntil <= time
            nodes[node].membership?.handle(
                .local(partition: partition, report), now: now(), effects: &effects)
        }
    }
}
