import Basics
import BasicsSupport
import Cluster
import ClusterLog
import ClusterLogSupport

/// Nodes with a membership and a replica of one partition, which are upgraded to a software with a further version of frames, one after
/// the other; one of the old software may join late. A seed repeats a run.
final class UpgradeWorld {
    final class Node {
        let index: Int
        /// What its software reads.
        var versions: ClosedRange<UInt8> = 1...1
        var membership: Membership?
        var replica: Replica
        /// What its store has.
        var reader = LogReader()
        var applied: [UInt64] = []
        var roster = Roster()
        var process = 0
        var isServing = false
        var follows: LogPosition?
        var halt: LogHalt?
        /// The nodes whose heartbeats it has received, in any process.
        var seen: Set<Int> = []

        init(_ index: Int, _ key: LogKey) {
            self.index = index
            replica = Replica(log: key, at: LogReader(), now: .distantPast)
        }

        var number: NodeNumber { NodeNumber(UInt16(index + 1)) }
        var isRunning: Bool { membership != nil }
    }

    static let cluster = ClusterID(0xc106)
    let key = LogKey(cluster: 0xc106, partition: 0)
    var random: SeededRandom
    var log = SimulatedLog(SimulatedLog.Faults())
    var nodes: [Node]
    private(set) var time: Int64 = 0
    private var agenda = Agenda<UpgradeWorld>()
    private(set) var found: [String] = []
    private var appended: Set<FrameName> = []
    private var submitted: UInt64 = 0
    /// When no more is written, so that all can read what there is.
    private var rests: Int64 = .max
    /// The versions of all frames, in the order in which they were made.
    private(set) var versions: [UInt8] = []
    /// Whether the last node, of the old software, joins.
    let hasJoiner: Bool

    // Planted faults, to check the checkers.
    var forgetsRoster = false
    var ignoresMembers = false

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        hasJoiner = seed % 2 == 1
        nodes = (0..<4).map { [key] in Node($0, key) }
    }

    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: (time + 1_000_000) * 1_000),
            wall: 1_700_000_000_000 + time / 1_000)
    }

    func draw(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
    func fail(_ text: String) { if found.count < 5 { found.append(text) } }

    func after(_ microseconds: Int64, _ action: @escaping (UpgradeWorld) -> Void) {
        agenda.add(at: time + max(0, microseconds), action)
    }

    /// Runs the upgrade and some seconds more. Returns what the checkers have found.
    func run() -> [String] {
        for node in nodes.dropLast() { after(draw(0...300_000)) { $0.start(node) } }
        var at: Int64 = 4_000_000
        for node in nodes.dropLast().shuffled(using: &random) {
            after(at) { world in
                world.kill(node)
                // Some machines are away while others are upgraded.
                world.after(world.draw(100_000...5_000_000)) { world in
                    node.versions = 1...2
                    world.start(node)
                }
            }
            at += draw(500_000...4_000_000)
        }
        if hasJoiner, let node = nodes.last { after(draw(0...at + 8_000_000)) { $0.start(node) } }
        rests = at + 14_000_000
        after(5_000) { $0.work() }
        while let next = agenda.next(until: at + 17_000_000) {
            time = max(time, next.at)
            next.action(self)
            if found.count >= 5 { break }
        }
        finish()
        return found
    }

    private func finish() {
        for node in nodes.dropLast() {
            if let halt = node.halt { fail("halted: node \(node.number.number): \(halt)") }
            if node.applied != nodes[0].applied {
                fail("stores: \(node.applied.count) and \(nodes[0].applied.count) batches")
            }
        }
        if nodes[0].applied.count < 100 { fail("progress: \(nodes[0].applied.count) batches") }
        if !hasJoiner, versions.last != 2 {
            fail("progress: the last frame has version \(versions.last ?? 0)")
        }
        guard let joiner = nodes.last, hasJoiner, versions.contains(2), joiner.halt == nil else { return }
        // What it could not read was written while it was unknown; it reads from the beginning.
        fail("joiner: it has not halted at frames of version 2")
    }

    // MARK: Nodes

    private func start(_ node: Node) {
        let membership = Membership(
            Membership.Settings(
                cluster: Self.cluster, node: node.number, incarnation: Incarnation(random.next()),
                name: "node \(node.index)", software: "1.0", frameVersions: node.versions,
                linkAddress: "127.0.0.1:\(7_000 + node.index)", partitions: 1),
            roster: node.roster, seed: random.next(), now: now)
        node.membership = membership
        node.replica = Replica(log: key, at: node.reader, reads: node.versions, now: now.monotonic)
        if !ignoresMembers { feed(.writes(version: membership.writtenFrameVersion), node, node.process) }
        feed(.connected, node, node.process)
        tick(node, node.process)
        follow(node, node.process)
    }

    private func kill(_ node: Node) {
        node.membership = nil
        node.process += 1
        node.isServing = false
        node.follows = nil
    }

    private func tick(_ node: Node, _ process: Int) {
        guard node.process == process else { return }
        feed(.tick, node, process)
        member(.local(partition: 0, node.replica.report(at: now.monotonic)), node, process)
        member(.tick, node, process)
        after(20_000) { $0.tick(node, process) }
    }

    private func work() {
        guard time < rests else { return }
        for node in nodes where node.isServing {
            submitted += 1
            var effects: [ReplicaEffect] = []
            var entry = ByteBuffer()
            entry.append(word: submitted)
            _ = node.replica.submit(entry.bytes, now: now, effects: &effects)
            perform(effects, node)
        }
        after(draw(5_000...40_000)) { $0.work() }
    }

    // MARK: Memberships

    private func member(_ event: MembershipEvent, _ node: Node, _ process: Int) {
        guard node.process == process, node.isRunning else { return }
        var effects: [MembershipEffect] = []
        node.membership?.handle(event, now: now, effects: &effects)
        for effect in effects { perform(effect, node) }
    }

    private func perform(_ effect: MembershipEffect, _ node: Node) {
        let process = node.process
        switch effect {
        case .send(let heartbeat):
            for other in nodes {
                after(draw(100...3_000)) { world in
                    guard other.isRunning else { return }
                    other.seen.insert(node.index)
                    world.member(.heartbeat(heartbeat), other, other.process)
                }
            }
        case .claim(_, let released): feed(.claim(Claim(random.next()), released: released), node, process)
        case .abandon: feed(.abandon, node, process)
        case .release(_, let successor): feed(.release(to: successor), node, process)
        case .resume: feed(.resume, node, process)
        case .frameVersion:
            guard !ignoresMembers, let version = node.membership?.writtenFrameVersion else { return }
            feed(.writes(version: version), node, process)
        case .roster: if !forgetsRoster { node.roster = node.membership?.roster ?? Roster() }
        case .owner, .member, .raised, .cleared, .drained: break
        }
    }

    // MARK: Replicas

    private func feed(_ event: ReplicaEvent, _ node: Node, _ process: Int) {
        guard node.process == process, node.isRunning else { return }
        var effects: [ReplicaEffect] = []
        node.replica.handle(event, now: now, effects: &effects)
        perform(effects, node)
    }

    private func perform(_ effects: [ReplicaEffect], _ node: Node) {
        for effect in effects { perform(effect, node) }
    }

    private func perform(_ effect: ReplicaEffect, _ node: Node) {
        let process = node.process
        switch effect {
        case .append(let name): append(name, node)
        case .read(let position):
            after(draw(200...4_000)) { world in
                let event: ReplicaEvent =
                    switch world.log.read(position, at: world.time, isFaulty: false, &world.random) {
                    case .record(let bytes, let position): .record(bytes, at: position)
                    case .end(let position): .end(position)
                    case .failed: .readFailed
                    case .removed(let first): .removed(first: first)
                    }
                world.feed(event, node, process)
            }
        case .follow(let position): node.follows = position
        case .stopFollowing: node.follows = nil
        case .apply(let frame): apply(frame, node)
        case .took: node.isServing = true
        case .surrender(let number): after(10) { $0.feed(.surrendered(number), node, process) }
        case .lost: node.isServing = false
        case .halted(let reason): node.halt = reason
        // The log of this world loses nothing.
        case .fail, .appendRecord, .shortened, .repaired, .absent, .examine, .pauseFollowing,
            .resumeFollowing:
            break
        case .changed:
            after(10) { $0.member(.local(partition: 0, node.replica.report), node, process) }
        }
    }

    private func append(_ name: FrameName, _ node: Node) {
        guard let frame = node.replica.frame(name) else { return fail("frames: \(name) is gone") }
        if appended.insert(name).inserted { check(frame, node) }
        let process = node.process
        guard case .stored(let delay, _) = log.fate(of: node.index, at: time, isFaulty: false, &random)
        else { return }
        after(delay) { world in
            let position = world.log.store(frame, &world.random)
            world.after(200) { $0.feed(.stored(name, at: position), node, process) }
        }
    }

    /// No frame is made that a node cannot read whose heartbeat its owner has received.
    private func check(_ frame: [UInt8], _ node: Node) {
        guard case .frame(let header) = FrameHeader.read(frame.raw, in: key, upTo: .max) else {
            return fail("frames: one cannot be read")
        }
        versions.append(header.version)
        for other in node.seen where nodes[other].versions.upperBound < header.version {
            fail("version: node \(other + 1) cannot read a frame of version \(header.version)")
        }
    }

    private func apply(_ frame: AppliedFrame, _ node: Node) {
        let process = node.process
        // An owner has what it submitted; here it reads that from the log like the others.
        let index = Int(frame.position.number) - 1
        let record = log.records[index].dropFirst(FrameHeader.length + 1)
        let content = Array(record)
        for range in AppliedFrame.batches(in: content) ?? [] {
            node.applied.append(content.raw.word(at: range.lowerBound))
        }
        node.reader = LogReader(term: frame.term, number: frame.number, position: frame.position)
        after(50) { $0.feed(.applied(frame.position), node, process) }
    }

    private func follow(_ node: Node, _ process: Int) {
        guard node.process == process else { return }
        for _ in 0..<32 {
            guard let position = node.follows,
                case .record(let bytes, let found) = log.read(
                    position.next, at: time, isFaulty: false, &random)
            else { break }
            node.follows = found
            feed(.followed(bytes, at: found), node, process)
        }
        after(draw(1_000...20_000)) { $0.follow(node, process) }
    }
}
