import Basics
import BasicsSupport
import Cluster
import ClusterLog
import ClusterLogSupport

/// Some nodes with a replica of a partition, each with a store, in simulated time. A seed repeats a run.
final class ReplicaWorld {
    /// What the store of a node has: the batches of all frames in order, and where that is in the log.
    struct SimulatedStore {
        var applied: [UInt64] = []
        var reader = LogReader()
        /// How many batches of the next frame it has.
        var batches: UInt64 = 0
    }

    /// A node. A new process begins from its store.
    final class Node {
        let number: Int
        var replica: Replica
        var store = SimulatedStore()
        /// What a power cut leaves.
        var synced = SimulatedStore()
        /// The frames that the store has not applied.
        var frames: [AppliedFrame] = []
        var open: [UInt64: UInt64] = [:]
        var process = 0
        var pausedUntil: Int64 = 0
        var cutUntil: Int64 = 0
        var inbox: [ReplicaEvent] = []
        var isServing = false
        /// When it last took the partition, and when it last decided something, in microseconds.
        var tookAt: Int64 = 0
        var decidedAt: Int64 = -1
        /// Whether it lets no decision out: it has surrendered its lease.
        var hasSurrendered = false
        var lastLease = Instant.distantPast
        /// Where the follower is; `nil` if nothing is followed.
        var follows: LogPosition?
        /// Whether it copies the store of another node.
        var isCopying = false
        /// The most that any of its processes has reported as durable.
        var reported = LogPosition.start

        init(_ number: Int, _ key: LogKey) {
            self.number = number
            replica = Replica(log: key, at: LogReader(), now: .distantPast)
        }
    }

    let key = LogKey(cluster: 7, partition: 2)
    let isFaultyWorld: Bool
    /// Whether the log loses records that it has confirmed. No process ends then: what it keeps is in its memory.
    let losesRecords: Bool
    var losses = 0
    var repairs = 0
    /// Whether a claim finds what the log has lost.
    var isBlind = false
    var random: SeededRandom
    var log: SimulatedLog
    var nodes: [Node] = []
    var time: Int64 = 0
    var agenda = Agenda<ReplicaWorld>()
    var found: [String] = []
    /// Batches by number: reported as applied, and reported as failed.
    var succeeded: Set<UInt64> = []
    var failed: Set<UInt64> = []
    var submitted: UInt64 = 0
    var handovers = 0
    /// Decisions of owners: an answer to an event that needs no batch.
    var decisions = 0
    /// The last batches that were acknowledged to clients.
    var acknowledged: [UInt64] = []
    /// Whether owners decide by what they take themselves for, whatever their lease.
    var ignoresLeases = false
    /// What a claim takes for released.
    var releasedAt: (LogPosition?) -> LogPosition? = { $0 }
    /// Whether a node that surrenders goes on to decide.
    var keepsDeciding = false
    /// Changes what a node does, to check the checkers.
    var tamper: ((ReplicaEffect, Node) -> ReplicaEffect?)?
    /// Changes what a store applies of a frame.
    var skips: (AppliedFrame) -> UInt64 = { $0.skips }
    /// What counts as synced when a store is.
    var syncPosition: (Node) -> LogPosition = { $0.store.reader.position }
    /// What two nodes have, from the positions of all.
    var purgePosition: ([Node]) -> LogPosition = { nodes in
        let durable = nodes.filter { $0.replica.begins == nil }.map { $0.replica.report.durable }
        return durable.count < 2 ? .start : durable.sorted(by: >)[1]
    }
    /// Changes a copy when it arrives.
    var arrived: (inout SimulatedStore, Node) -> Void = { _, _ in }
    /// What a copy must have.
    var least: (Node) -> LogPosition = { node in
        max(node.reported, LogPosition((node.replica.begins?.number ?? 1) - 1))
    }
    var copies = 0
    /// Whether a node forgets the record at a position, and how often what the nodes keep was compared.
    var forgets: (Node, LogPosition) -> Bool = { _, _ in false }
    var compared = 0

    static let faultMicroseconds: Int64 = 10_000_000

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        isFaultyWorld = seed % 4 != 0
        losesRecords = seed % 4 == 3
        log = SimulatedLog(
            isFaultyWorld
                ? SimulatedLog.Faults(
                    late: losesRecords ? 0 : 3, lost: 3, refused: 2, lostAnswer: 3, staleRead: 10,
                    failedRead: 5)
                : SimulatedLog.Faults())
        nodes = (0..<3).map { Node($0, key) }
    }

    var isFaulty: Bool { isFaultyWorld && time < Self.faultMicroseconds }

    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: (time + 1_000_000) * 1_000),
            wall: 1_700_000_000_000 + time / 1_000)
    }

    func draw(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    func fail(_ text: String) { if found.count < 5 { found.append(text) } }

    func after(_ microseconds: Int64, _ action: @escaping (ReplicaWorld) -> Void) {
        agenda.add(at: time + max(0, microseconds), action)
    }

    /// Runs until the faults are over and batches are applied again. Returns what the checkers have found.
    func run() -> [String] {
        for node in nodes {
            feed(.connected, node, 0)
            tick(node, 0)
            follow(node)
        }
        after(10_000) { $0.claim($0.nodes[0]) }
        after(20_000) { $0.work() }
        after(100_000) { $0.trouble() }
        after(Self.faultMicroseconds + 6_000_000) { $0.claimCalmly() }
        while let next = agenda.next(until: 60_000_000) {
            time = max(time, next.at)
            next.action(self)
            if isDone || found.count >= 5 { break }
        }
        finish()
        return found
    }

    var calm: Int = 0

    private var isDone: Bool {
        guard time > Self.faultMicroseconds + 8_000_000, calm >= 10 else { return false }
        return nodes.allSatisfy { node in
            let isAtEnd = node.replica.reader.position == log.end && !node.replica.isMissingRecords
            return isAtEnd && node.frames.isEmpty && node.open.isEmpty
        }
    }

    private func finish() {
        if found.isEmpty, !isDone {
            let states = nodes.map {
                "\($0.replica.report.role) at \($0.replica.reader.position.number) open \($0.open.count)"
            }
            fail("progress: \(calm) applied after the faults of \(log.end.number): \(states)")
        }
        let whole = nodes[0].store.applied
        if !nodes.allSatisfy({ $0.replica.begins == nil }) { fail("progress: a node is still behind") }
        for node in nodes.dropFirst() where node.store.applied != whole {
            fail("stores: node \(node.number) has \(node.store.applied.count) batches, node 0 \(whole.count)")
        }
        if Set(whole).count != whole.count { fail("stores: a batch is applied twice") }
        if !losesRecords { compareKept() }
        let lost = succeeded.subtracting(whole)
        if !lost.isEmpty { fail("outcomes: \(lost.count) batches succeeded and are lost") }
    }

    // MARK: Load

    private func work() {
        for node in nodes where node.pausedUntil <= time && node.isServing {
            decide(node)
            for _ in 0..<draw(0...3) { submit(node) }
        }
        after(draw(500...30_000)) { $0.work() }
    }

    /// An owner decides something without the log, if it may: it must have all that was acknowledged, and no other node decides any more.
    private func decide(_ node: Node) {
        let end = node.hasSurrendered && !keepsDeciding ? .distantPast : node.replica.leaseEnd
        if end > .distantPast { node.lastLease = end }
        guard now.monotonic < (keepsDeciding ? node.lastLease : end) || ignoresLeases else { return }
        decisions += 1
        node.decidedAt = time
        for other in nodes where other !== node && other.decidedAt >= node.tookAt {
            fail("leases: node \(other.number) decides after node \(node.number) took the partition")
        }
        let has = Set(node.store.applied.suffix(1_000))
        if let missing = acknowledged.suffix(20).first(where: { !has.contains($0) }), !losesRecords {
            fail("leases: node \(node.number) decides without batch \(missing)")
        }
    }

    private func submit(_ node: Node) {
        submitted += 1
        let batch = submitted
        // Few contents need several frames.
        let bytes = Int.random(in: 0..<400, using: &random) == 0 ? 2_500_000 : 0
        var effects: [ReplicaEffect] = []
        var entry = ByteBuffer()
        entry.append(word: batch)
        entry.append([UInt8](repeating: 7, count: bytes))
        let number = node.replica.submit(entry.bytes, now: now, effects: &effects)
        if let number { node.open[number] = batch }
        perform(effects, node)
    }

    private func claim(_ node: Node, released: LogPosition? = nil) {
        guard node.pausedUntil <= time, !losesRecords || mayClaim(node) else { return }
        feed(.claim(Claim(random.next()), released: releasedAt(released)), node, node.process)
    }

    /// As the membership has it: a node that claims or repairs is left alone.
    private func mayClaim(_ node: Node) -> Bool {
        nodes.allSatisfy { $0 === node || $0.replica.report.role != .claiming }
    }

    private func claimCalmly() {
        // Not every node can repair a log.
        if !nodes.contains(where: { $0.isServing }) { claim(nodes[Int(time / 1_000_000) % 3]) }
        after(4_000_000) { $0.claimCalmly() }
    }

    // MARK: Faults

    private func trouble() {
        guard time < Self.faultMicroseconds else { return }
        after(100_000) { $0.trouble() }
        guard let node = nodes.randomElement(using: &random) else { return }
        if chance(3) { claim(node) }
        if chance(4), let other = nodes.randomElement(using: &random) { handOver(from: node, to: other) }
        reach()
        guard isFaultyWorld else { return }
        if chance(1) {
            claim(node)
            claim(nodes[(node.number + 1) % 3])
        }
        if chance(20) { sync(node) }
        if chance(10) { purge() }
        if chance(1) { log.electionUntil = time + draw(4_000_000...9_000_000) }
        if losesRecords { return lose() }
        if chance(1) { log.unreadUntil = time + draw(500_000...4_000_000) }
        if chance(1) { restart(node, losesUnsynced: chance(30)) }
        if chance(1) { node.pausedUntil = max(node.pausedUntil, time + draw(200_000...4_000_000)) }
        if chance(1) { cut(node, draw(200_000...8_000_000)) }
    }

    /// Nodes learn from heartbeats how far the others have read.
    private func reach() {
        for node in nodes {
            let others = nodes.filter { $0 !== node }.map { $0.replica.report.applied }
            feed(.reached(others.max() ?? .start), node, node.process)
        }
    }

    /// The log loses its last records while no mark is on the way, and all nodes have read the last one: a former owner that has not
    /// would confirm more in its place. What is lost fits into what a node keeps.
    private func lose() {
        let terms = Set(nodes.map { $0.replica.reader.term })
        guard chance(4), terms.count == 1, nodes.allSatisfy({ $0.replica.report.role != .claiming }) else {
            return
        }
        losses += 1
        var count = Int(draw(1...12))
        while log.records.suffix(count).reduce(0, { $0 + $1.count }) > Limits.ClusterLog.frameBytes {
            count -= 1
        }
        log.lose(count)
    }

    /// A planned handover: the owner releases the partition, then the other one claims it.
    private func handOver(from node: Node, to other: Node) {
        guard node !== other, node.isServing else { return }
        feed(.release(to: NodeNumber(UInt16(other.number + 1))), node, node.process)
        after(600_000) { world in
            if case .releasing = node.replica.report.role {
                world.handovers += 1
                let position = node.replica.report.applied
                // The heartbeat that reports it may be late.
                let delay = world.chance(20) ? world.draw(0...3_000_000) : 1_000
                world.after(delay) { $0.claim(other, released: position) }
            }
        }
        let process = node.process
        after(2_000_000) { world in
            if node.process == process, node.isServing { node.hasSurrendered = false }
            world.feed(.resume, node, process)
        }
    }

    private func sync(_ node: Node) {
        guard !node.isCopying else { return }
        node.synced = node.store
        feed(.synced(syncPosition(node)), node, node.process)
        note(node)
    }

    private func note(_ node: Node) { node.reported = max(node.reported, node.replica.report.durable) }

    // MARK: Purges and copies

    private func purge() {
        for node in nodes { note(node) }
        let position = purgePosition(nodes)
        let last = min(position, log.end).number
        if last > 0 { log.purge(upTo: LogPosition(last - 1)) }
    }

    /// A node that is behind takes the store of another one as it is now, which arrives a while later.
    func copyIfBehind(_ node: Node) {
        guard let begins = node.replica.begins, !node.isCopying else { return }
        if node.replica.absence == .purged, begins <= node.reported.next {
            fail("purge: node \(node.number) needs \(begins.number) and has reported \(node.reported.number)")
        }
        let giver = nodes.filter {
            $0 !== node && $0.replica.begins == nil && $0.store.reader.position >= least(node)
        }
        .max { $0.store.reader.position < $1.store.reader.position }
        let process = node.process
        guard let giver else { return after(1_000_000) { $0.copyIfBehind(node) } }
        node.isCopying = true
        var copy = giver.store
        after(draw(100_000...3_000_000)) { world in
            guard node.process == process else { return }
            world.arrived(&copy, giver)
            (node.store, node.synced) = (copy, copy)
            world.copies += 1
            world.restart(node, losesUnsynced: false)
        }
    }

    func restart(_ node: Node, losesUnsynced: Bool) {
        node.process += 1
        if losesUnsynced { node.store = node.synced }
        // What a start reads, it makes durable.
        node.synced = node.store
        node.frames = []
        // Whether they count stays unknown.
        node.open = [:]
        node.inbox = []
        node.isServing = false
        node.decidedAt = -1
        node.hasSurrendered = false
        node.follows = nil
        node.isCopying = false
        node.replica = Replica(
            log: key, at: node.store.reader, batches: node.store.batches, now: now.monotonic)
        feed(.connected, node, node.process)
        tick(node, node.process)
    }

    private func cut(_ node: Node, _ span: Int64) {
        node.cutUntil = max(node.cutUntil, time + span)
        let process = node.process
        after(draw(0...600_000)) { $0.feed(.disconnected, node, process) }
        after(span + 700_000) { $0.feed(.connected, node, process) }
    }

    private func tick(_ node: Node, _ process: Int) {
        guard node.process == process else { return }
        let wait = node.replica.nextTick.milliseconds(since: now.monotonic)
        after(min(max(wait, 1), 100) * 1_000) { world in
            world.feed(.tick, node, process)
            world.tick(node, process)
        }
    }
}
