import Basics
import BasicsSupport
import Cluster
import ClusterLog
import ClusterLogSupport
import Delivery

/// Whole nodes in one simulated world: each with the router, the memberships, the replicas and the turns of its partitions, on a log and links that fail in every way. Clients of all nodes send to devices, topics and senders,
/// register and remove devices, and log in; operators change senders. A seed repeats a run.
final class NodeWorld {
    static let partitions = 2
    static let devices: [UInt64] = [1, 2, 3, 4, 5, 6]
    static let senders = [1, 2, 3, 4].map { SenderID($0) }
    static let topic = TopicName("news".utf8)
    static func key(_ partition: Int) -> LogKey { LogKey(cluster: 9, partition: partition) }

    /// Until when there are faults, and until when clients send, in microseconds.
    static let faultMicroseconds: Int64 = 7_000_000
    static let settledMicroseconds: Int64 = faultMicroseconds + 9_000_000
    static let loadMicroseconds: Int64 = settledMicroseconds + 2_000_000
    static let endMicroseconds: Int64 =
        loadMicroseconds + 1_000 * (Limits.NodeProtocol.answerMilliseconds + 2_000)

    let seed: UInt64
    let canary: NodeCanary?
    var random: SeededRandom
    var agenda = Agenda<NodeWorld>()
    var time: Int64 = 0
    private var end = NodeWorld.endMicroseconds
    var logs: [SimulatedLog]
    var nodes: [WorldNode] = []
    var links: WorldLinks
    var checkers = NodeCheckers()
    var requests: UInt32 = 0

    init(seed: UInt64, canary: NodeCanary? = nil) {
        self.seed = seed
        self.canary = canary
        random = SeededRandom(seed: seed)
        logs = (0..<Self.partitions).map { _ in
            SimulatedLog(
                SimulatedLog.Faults(
                    late: 1, lost: 2, refused: 1, lostAnswer: 2, staleRead: 5, failedRead: 3))
        }
        links = WorldLinks(3)
        nodes = (0..<3).map { WorldNode($0, Self.partitions) }
    }

    var isFaulty: Bool { time < Self.faultMicroseconds }

    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: (time + 1_000_000) * 1_000),
            wall: 1_700_000_000_000 + time / 1_000)
    }

    func draw(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func after(_ microseconds: Int64, _ action: @escaping (NodeWorld) -> Void) {
        agenda.add(at: time + max(0, microseconds), action)
    }

    /// Does something on a node unless its process has ended meanwhile; while it stands still, later.
    func after(_ microseconds: Int64, on node: WorldNode, _ action: @escaping (NodeWorld) -> Void) {
        let process = node.process
        after(microseconds) { $0.run(node, process, action) }
    }

    private func run(_ node: WorldNode, _ process: Int, _ action: @escaping (NodeWorld) -> Void) {
        guard node.process == process, node.isRunning else { return }
        guard node.pausedUntil > time || !node.deferred.isEmpty else { return action(self) }
        node.deferred.append(action)
        if node.deferred.count == 1 { resume(node, process) }
    }

    /// A process that has stood still does in order what it had to do meanwhile.
    private func resume(_ node: WorldNode, _ process: Int) {
        while node.process == process, !node.deferred.isEmpty {
            guard node.pausedUntil <= time else {
                return after(node.pausedUntil - time) { $0.resume(node, process) }
            }
            node.deferred.removeFirst()(self)
        }
    }

    /// Runs until clients have waited for their answers long enough. Returns what the checkers have found.
    func run() -> [String] {
        for node in nodes { after(draw(0...200_000)) { $0.start(node) } }
        after(1_000) { $0.relink() }
        after(300_000) { $0.work() }
        after(1_500_000) { $0.trouble() }
        // No client notices a handover without faults.
        after(Self.settledMicroseconds + draw(0...1_500_000)) { world in
            let partition = Int(world.draw(0...Int64(Self.partitions - 1)))
            for node in world.nodes { world.handOver(partition, node) }
        }
        after(Self.loadMicroseconds) { $0.endSoon() }
        while let next = agenda.next(until: end) {
            time = max(time, next.at)
            next.action(self)
            if checkers.found.count >= 3 { return checkers.found }
        }
        checkers.finish(self)
        return checkers.found
    }

    /// Ends the world once nothing waits, and what is under way has arrived: what would follow are ticks alone.
    private func endSoon() {
        guard !checkers.isQuiet(self) else { return end = min(end, time + 1_000_000) }
        after(100_000) { $0.endSoon() }
    }

    // MARK: Processes

    func start(_ node: WorldNode) {
        guard !node.isRunning else { return }
        node.isRunning = true
        node.router = NodeRouter(node: node.number, partitions: Self.partitions, seed: random.next())
        node.membership = Membership(
            Membership.Settings(
                cluster: ClusterID(9), node: node.number, incarnation: Incarnation(random.next()),
                name: "node \(node.index)", software: "1.0", frameVersions: 1...1,
                linkAddress: "127.0.0.1:\(7_000 + node.index)", partitions: Self.partitions),
            seed: random.next(), now: now)
        node.connections = (0..<3).map { WorldConnection(slot: UInt32($0)) }
        startReactor(node)
        (node.directory, node.vouching, node.changes) = (directory(of: node), Vouching(), [:])
        node.known = Array(repeating: KnownSpan(), count: Self.partitions)
        for hosted in node.replicas {
            hosted.replica = Replica(
                log: Self.key(hosted.partition), at: hosted.store.reader, batches: hosted.store.batches,
                reads: 1...1, now: now.monotonic)
            route(.applied(hosted.replica.stored, partition: hosted.partition), node)
            handle(.connected, of: hosted, node)
            follow(hosted, node)
        }
        tick(node)
    }

    func kill(_ node: WorldNode, for span: Int64) {
        guard node.isRunning else { return }
        node.isRunning = false
        (node.pausedUntil, node.deferred) = (0, [])
        for connection in node.connections { end(connection, node) }
        node.connections = []
        checkers.ended(node.operators, time)
        node.process += 1
        (node.clusterInbox, node.reactorInbox, node.toCluster) = (.init(), .init(), .init())
        (node.owned, node.owedCommands) = ([], [])
        (node.isClusterAwake, node.isReactorAwake) = (false, false)
        node.cores = Array(repeating: nil, count: Self.partitions)
        for hosted in node.replicas {
            if chance(30) { hosted.store = hosted.synced }
            hosted.synced = hosted.store
            (hosted.frames, hosted.open, hosted.follows, hosted.lease) = ([], [:], nil, nil)
        }
        for other in nodes where other !== node { breakLink(node, other) }
        after(span) { $0.start(node) }
    }

    // MARK: Faults

    private func trouble() {
        guard isFaulty else { return }
        after(100_000) { $0.trouble() }
        guard let node = nodes.randomElement(using: &random), node.isRunning else { return }
        let span = min(draw(200_000...4_000_000), Self.faultMicroseconds - time)
        if chance(3) { kill(node, for: span) }
        if chance(4) { node.pausedUntil = max(node.pausedUntil, time + span) }
        if chance(3) { node.upCutUntil = max(node.upCutUntil, time + span) }
        if chance(3) { node.downCutUntil = max(node.downCutUntil, time + span) }
        if chance(3) { node.aloneUntil = max(node.aloneUntil, time + span) }
        if chance(3) { node.quietUntil = max(node.quietUntil, time + span) }
        if chance(3) { node.slowUntil = max(node.slowUntil, time + span + 2_000_000) }
        if chance(3), let hosted = node.replicas.randomElement(using: &random) { spoil(hosted, node, span) }
        if chance(2) { disconnect(node, span) }
        if chance(5) { for partition in 0..<Self.partitions { handOver(partition, node) } }
        if chance(1) {
            for at in logs.indices { logs[at].electionUntil = time + min(span, 2_000_000) }
        }
        if chance(1) { for at in logs.indices { logs[at].unreadUntil = time + min(span, 2_000_000) } }
        if chance(6), let other = nodes.randomElement(using: &random), other !== node {
            links.cut(from: node.index, to: other.index, until: time + span)
            if chance(50) { links.cut(from: other.index, to: node.index, until: time + span) }
            let patience = draw(100_000...1_500_000)
            after(patience) { world in
                if world.links.isCut(node.index, other.index, world.time) { world.breakLink(node, other) }
            }
            after(span + 1_000) { world in
                world.pump(node, other)
                world.pump(other, node)
            }
        }
        if chance(20) {
            for hosted in node.replicas where hosted.frames.isEmpty {
                hosted.synced = hosted.store
                handle(.synced(hosted.store.reader.position), of: hosted, node)
            }
        }
    }

    private func disconnect(_ node: WorldNode, _ span: Int64) {
        node.upCutUntil = max(node.upCutUntil, time + span)
        node.downCutUntil = node.upCutUntil
        after(draw(0...min(span, 500_000)), on: node) { world in
            for hosted in node.replicas { world.handle(.disconnected, of: hosted, node) }
        }
        after(span + 100_000, on: node) { world in
            for hosted in node.replicas { world.handle(.connected, of: hosted, node) }
        }
    }

    /// The stream of a partition is not as it must be, for a while.
    private func spoil(_ hosted: WorldReplica, _ node: WorldNode, _ span: Int64) {
        hosted.isUnfit = true
        if canary != .ignoresStreams { handle(.examined(.unfit), of: hosted, node) }
        after(span) { world in
            hosted.isUnfit = false
            // Another fault may have begun before the node looks.
            world.after(0, on: node) { world in
                let isFit = !hosted.isUnfit || world.canary == .ignoresStreams
                world.handle(.examined(isFit ? .fit : .unfit), of: hosted, node)
            }
        }
    }

    private func handOver(_ partition: Int, _ node: WorldNode) {
        guard node.pausedUntil <= time else { return }
        var made: [MembershipEffect] = []
        _ = node.membership?.handOver(partition, to: nil, now: now, effects: &made)
        for effect in made { perform(effect, node) }
    }
}
