import Basics
import BasicsSupport
import ClusterLog
import ClusterLogSupport

/// Some nodes that write to one log and read it, in simulated time. A seed repeats a run.
final class LogWorld {
    struct Settings {
        var nodes = 3
        /// Until when there are faults, in microseconds.
        var faultMicroseconds: Int64 = 12_000_000
        var endMicroseconds: Int64 = 60_000_000
        var faults = SimulatedLog.Faults()
        /// Chances in percent of each trouble, drawn ten times a second.
        var claims = 5
        var doubleClaims = 2
        var kills = 1
        var pauses = 1
        var cuts = 1
        var elections = 1
        var refusedReads = 1
        var strangers = 0
    }

    let settings: Settings
    let key = LogKey(cluster: 0x5eed, partition: 3)
    /// What a stranger makes frames with: a secret that is not that of the cluster.
    var strangersKey = LogKey(
        LogSecret([UInt8](repeating: 0, count: LogSecret.length).raw), cluster: 0x5eed, partition: 3)
    var random: SeededRandom
    var log: SimulatedLog
    var checkers = LogCheckers()
    var nodes: [LogNode]
    /// Microseconds since the start.
    private(set) var time: Int64 = 0
    private var agenda = Agenda<LogWorld>()
    private var contents: UInt64 = 0
    var marks: UInt64 = 0
    /// Confirmed after the end of the faults.
    var calmConfirmed = 0

    // Planted faults, to check the checkers.
    /// Changes an event before it reaches an owner. `nil` drops it.
    var tamper: ((OwnerEvent, LogNode, SimulatedLog) -> OwnerEvent?)?
    /// Changes the effects of an owner.
    var tamperEffects: ((inout [OwnerEffect], LogNode) -> Void)?
    /// Changes the bytes of a frame that is appended.
    var tamperFrame: (([UInt8], LogNode) -> [UInt8])?
    /// The rule of a follower.
    var rule: (inout LogReader, LogRecord, LogPosition) -> LogReader.Verdict = { $0.read($1, at: $2) }
    /// Changes a node after its start.
    var tamperStart: ((inout LogNode) -> Void)?
    /// The claim of a node.
    var drawClaim: (inout SeededRandom) -> Claim = { Claim($0.next()) }

    init(seed: UInt64, _ settings: Settings) {
        self.settings = settings
        random = SeededRandom(seed: seed)
        log = SimulatedLog(settings.faults)
        nodes = (0..<settings.nodes).map { LogNode(number: $0) }
    }

    var isFaulty: Bool { time < settings.faultMicroseconds }

    func now() -> Now {
        Now(
            monotonic: Instant(nanoseconds: (time + 1_000_000) * 1_000),
            wall: 1_700_000_000_000 + time / 1_000)
    }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func after(_ microseconds: Int64, _ action: @escaping (LogWorld) -> Void) {
        agenda.add(at: time + max(0, microseconds), action)
    }

    /// Runs until the faults are over and commits are confirmed again. Returns what the checkers have found.
    func run() -> [String] {
        for node in nodes.indices { follow(node) }
        after(0) { $0.claim(0) }
        after(50_000) { $0.work() }
        after(100_000) { $0.trouble() }
        after(settings.faultMicroseconds + 1_000_000) { $0.claimCalmly(0) }
        while let next = agenda.next(until: settings.endMicroseconds) {
            time = max(time, next.at)
            next.action(self)
            if isDone || checkers.found.count >= 5 { break }
        }
        finish()
        return checkers.found
    }

    /// Whether commits were confirmed without faults, and all nodes have read them.
    private var isDone: Bool {
        calmConfirmed >= 20 && nodes.allSatisfy { $0.position == log.end && $0.owner?.unconfirmed ?? 0 == 0 }
    }

    private func finish() {
        let states = nodes.map { "\($0.position.number) \($0.owner.map { "\($0.state)" } ?? "follows")" }
        checkers.mustHold(
            isDone, "progress: \(calmConfirmed) confirmed after the faults of \(log.end.number): \(states)")
        let valid = LogCheckers.valid(log.records, in: key)
        for node in nodes { checkers.applied(node.applied, by: node.number, of: valid, isComplete: isDone) }
        checkers.finished(valid)
    }

    /// After the faults, one node takes the partition, again until it has it.
    private func claimCalmly(_ attempts: Int) {
        if !nodes.contains(where: { $0.owner?.state == .owning }) || attempts == 0 { claim(0) }
        after(3_000_000) { $0.claimCalmly(attempts + 1) }
    }

    /// Owners make commits.
    private func work() {
        for node in nodes.indices where nodes[node].pausedUntil <= time {
            for _ in 0..<Int.random(in: 0...3, using: &random) { make(node) }
        }
        after(Int64.random(in: 500...30_000, using: &random)) { $0.work() }
    }

    private func make(_ node: Int) {
        guard nodes[node].owner?.canMake ?? false else { return }
        contents += 1
        var entries = ByteBuffer()
        entries.append(word: contents)
        var effects: [OwnerEffect] = []
        guard let name = nodes[node].owner?.make(entries.bytes, now: now(), effects: &effects) else { return }
        nodes[node].contents[name] = contents
        perform(effects, node)
    }

    /// A node takes the partition.
    func claim(_ node: Int) {
        guard nodes[node].owner == nil, nodes[node].pausedUntil <= time else { return }
        var effects: [OwnerEffect] = []
        nodes[node].owner = LogOwner(
            claim: drawClaim(&random), after: nodes[node].reader, in: key, now: now(), effects: &effects)
        perform(effects, node)
        tick(node, nodes[node].process)
    }

    private func tick(_ node: Int, _ process: Int) {
        guard let owner = nodes[node].owner, nodes[node].process == process else { return }
        let wait = owner.nextTick.milliseconds(since: now().monotonic)
        after(min(max(wait, 1), 100) * 1_000) { world in
            world.feed(.tick, node, process)
            world.tick(node, process)
        }
    }

    /// A node without a claim reads the log.
    private func follow(_ node: Int) {
        if nodes[node].owner == nil, nodes[node].pausedUntil <= time, nodes[node].cutUntil <= time {
            for _ in 0..<16 {
                let reading = log.read(
                    nodes[node].reader.position.next, at: time, isFaulty: isFaulty, ofLeader: false, &random)
                guard case .record(let bytes, let position) = reading else { break }
                let verdict = rule(&nodes[node].reader, FrameHeader.read(bytes: bytes, in: key), position)
                if case .applies(let header) = verdict { apply(bytes, header, position, node) }
                // This log loses nothing.
                checkers.mustHold(
                    verdict != .missing && !nodes[node].reader.isMissingRecords,
                    "missing: records before \(position.number)")
            }
        }
        after(Int64.random(in: 1_000...60_000, using: &random)) { $0.follow(node) }
    }

    func apply(_ bytes: [UInt8], _ header: FrameHeader, _ position: LogPosition, _ node: Int) {
        nodes[node].applied.append(
            Applied(
                position: position.number, epoch: header.term.epoch.number,
                content: LogCheckers.content(bytes)))
    }
}
