import Basics
import Cluster
import ClusterLog

/// A membership of node 1 in a cluster of two partitions, and the heartbeats of other nodes.
struct MembershipBench {
    static let cluster = ClusterID(0xc105)
    private(set) var membership: Membership
    /// Milliseconds since the start.
    private(set) var time: Int64 = 0
    /// How far the wall clocks of others are ahead, in milliseconds.
    var wallAhead: Int64 = 0
    /// Whether this node's heartbeats come back.
    var echoes = true
    private var counts: [NodeNumber: UInt64] = [:]
    /// What the others send five times a second.
    var others: [Heartbeat] = []

    init(
        partitions: Int = 2, copies: Int = 2, frameVersions: ClosedRange<UInt8> = 1...1,
        roster: Roster = Roster()
    ) {
        membership = Membership(
            Membership.Settings(
                cluster: Self.cluster, node: NodeNumber(1), incarnation: Incarnation(11), name: "one",
                software: "1.0", frameVersions: frameVersions, linkAddress: "a:1", partitions: partitions,
                copies: copies), roster: roster, seed: 1, now: Self.now(0))
    }

    static func now(_ time: Int64) -> Now {
        Now(monotonic: Instant(nanoseconds: 5_000_000_000 + time * 1_000_000), wall: 1_700_000_000_000 + time)
    }

    /// A heartbeat of another node.
    static func heartbeat(_ node: UInt16, _ partitions: PartitionReport...) -> Heartbeat {
        Heartbeat(
            cluster: cluster, node: NodeNumber(node), incarnation: Incarnation(UInt64(node) * 11), count: 0,
            name: "other", software: "1.0", frameVersions: 1...1, linkAddress: "b:1", wall: 0,
            isDraining: false, partitions: partitions)
    }

    static func report(
        _ role: PartitionReport.Role, epoch: UInt64 = 0, applied: UInt64 = 0, durable: UInt64 = 0
    ) -> PartitionReport {
        PartitionReport(
            role: role, epoch: Epoch(epoch), applied: LogPosition(applied), durable: LogPosition(durable))
    }

    mutating func handle(_ event: MembershipEvent) -> [MembershipEffect] {
        var effects: [MembershipEffect] = []
        membership.handle(event, now: Self.now(time), effects: &effects)
        for case .send(let heartbeat) in effects where echoes {
            membership.handle(.heartbeat(heartbeat), now: Self.now(time), effects: &effects)
        }
        return effects
    }

    /// A heartbeat arrives, with the next count and the right time.
    mutating func receive(_ heartbeat: Heartbeat) -> [MembershipEffect] {
        var heartbeat = heartbeat
        counts[heartbeat.node, default: 0] += 1
        if heartbeat.count == 0 { heartbeat.count = counts[heartbeat.node, default: 0] }
        heartbeat.wall = Self.now(time).wall + wallAhead
        return handle(.heartbeat(heartbeat))
    }

    mutating func local(_ partition: Int, _ report: PartitionReport) -> [MembershipEffect] {
        handle(.local(partition: partition, report))
    }

    mutating func note(unlinked: Set<NodeNumber>) { membership.note(unlinked: unlinked) }

    mutating func handOver(_ partition: Int, to node: UInt16?) -> (HandoverRefusal?, [MembershipEffect]) {
        var effects: [MembershipEffect] = []
        let refusal = membership.handOver(
            partition, to: node.map { NodeNumber($0) }, now: Self.now(time), effects: &effects)
        return (refusal, effects)
    }

    mutating func remove(_ node: UInt16) -> (Bool, [MembershipEffect]) {
        var effects: [MembershipEffect] = []
        let isRemoved = membership.remove(NodeNumber(node), now: Self.now(time), effects: &effects)
        return (isRemoved, effects)
    }

    mutating func admit(_ node: UInt16) -> (Bool, [MembershipEffect]) {
        var effects: [MembershipEffect] = []
        let isAdmitted = membership.admit(NodeNumber(node), now: Self.now(time), effects: &effects)
        return (isAdmitted, effects)
    }

    /// Time passes in which nothing at all happens: this node is stopped.
    mutating func stop(_ milliseconds: Int64) { time += milliseconds }

    /// Time passes: ticks are handled when they are due, and the others send heartbeats. Returns the effects but heartbeats.
    mutating func run(_ milliseconds: Int64) -> [MembershipEffect] {
        var effects: [MembershipEffect] = []
        let end = time + milliseconds
        while time < end {
            time += 10
            if time % 200 == 0 { for other in others { effects += receive(other) } }
            if membership.nextTick <= Self.now(time).monotonic { effects += handle(.tick) }
        }
        return effects.filter { if case .send = $0 { false } else { true } }
    }

    /// Runs until the first heartbeat is sent, and returns it.
    mutating func nextHeartbeat() -> Heartbeat? {
        for _ in 0..<100 {
            time += 10
            guard membership.nextTick <= Self.now(time).monotonic else { continue }
            for case .send(let heartbeat) in handle(.tick) { return heartbeat }
        }
        return nil
    }
}
