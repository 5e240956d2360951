import Basics
import Cluster
import ClusterLog
import ClusterLogSupport
import Testing

/// Until when an owner decides, when the next one begins, and what a node has of the partitions of others.
@Suite("leases")
struct LeaseTests {
    private func at(_ milliseconds: Int64) -> Now {
        Now(monotonic: Instant(nanoseconds: milliseconds * 1_000_000), wall: 0)
    }

    private func name(_ number: UInt64) -> FrameName { FrameName(claim: Claim(1), number: number) }

    private let key = LogKey(cluster: 1, partition: 0)

    @Test("an owner that has surrendered its lease decides again only by a later confirmation")
    func resumed() {
        var effects: [ReplicaEffect] = []
        var replica = Replica(log: key, at: LogReader(), now: at(0).monotonic)
        for event in [.connected, .claim(Claim(1), released: nil), .stored(name(1), at: LogPosition(1))]
            as [ReplicaEvent]
        {
            replica.handle(event, now: at(100), effects: &effects)
        }
        #expect(replica.isOwning && replica.leaseEnd == at(1_100).monotonic)
        effects = []
        replica.handle(.release(to: NodeNumber(2)), now: at(200), effects: &effects)
        #expect(effects.contains(.surrender(1)) && replica.report.role == .owning)
        replica.handle(.surrendered(7), now: at(200), effects: &effects)
        #expect(replica.report.role == .owning, "the answer to another surrender")
        replica.handle(.surrendered(1), now: at(200), effects: &effects)
        #expect(replica.report.role == .releasing(to: NodeNumber(2)) && replica.leaseEnd == .distantPast)
        replica.handle(.resume, now: at(600), effects: &effects)
        #expect(replica.isOwning && replica.leaseEnd == .distantPast, "the lease of 100 ms was surrendered")
        effects = []
        replica.handle(.tick, now: at(600), effects: &effects)
        #expect(effects == [.append(name(2))])
        replica.handle(.stored(name(2), at: LogPosition(2)), now: at(650), effects: &effects)
        #expect(replica.leaseEnd == at(1_600).monotonic)
    }

    /// A new process that has records of another owner in its store, and claims the partition. Returns when it serves.
    private func serves(released: LogPosition?) -> Int64? {
        var effects: [ReplicaEffect] = []
        let reader = LogReader(term: Term(Epoch(3), Claim(9)), number: 5, position: LogPosition(7))
        var replica = Replica(log: key, at: reader, now: at(0).monotonic)
        for event in [
            .connected, .claim(Claim(1), released: released), .record([], at: LogPosition(7)),
            .stored(name(1), at: LogPosition(8)),
        ] as [ReplicaEvent] {
            replica.handle(event, now: at(10), effects: &effects)
        }
        for time in 10...2_000 as ClosedRange<Int64> {
            if replica.isOwning { return time }
            if replica.nextTick <= at(time).monotonic {
                replica.handle(.tick, now: at(time), effects: &effects)
            }
            if replica.isOwning { return time }
        }
        return nil
    }

    @Test("a new process waits as if the owner before had its lease from the last record in the store")
    func restarted() {
        #expect(serves(released: nil) == Limits.ClusterLog.leaseWaitMilliseconds)
        #expect(serves(released: LogPosition(7)) == 10, "it was surrendered there")
        #expect(serves(released: LogPosition(6)) == Limits.ClusterLog.leaseWaitMilliseconds)
    }

    @Test("a heartbeat that answers one of an earlier process of this node proves nothing")
    func otherProcess() {
        func membership(incarnation: UInt64, isLeased: Bool = true) -> Membership {
            var bench = MembershipBench()
            _ = bench.run(300)
            var owning = MembershipBench.report(.owning, epoch: 1)
            owning.isLeased = isLeased
            var heartbeat = MembershipBench.heartbeat(2, owning, owning)
            heartbeat.echoes = [
                HeartbeatEcho(node: NodeNumber(1), incarnation: Incarnation(incarnation), count: 1)
            ]
            _ = bench.receive(heartbeat)
            return bench.membership
        }
        let known = membership(incarnation: 11).known(of: 0)
        #expect(known > .distantPast)
        let unknown = [membership(incarnation: 12), membership(incarnation: 11, isLeased: false)]
        #expect(unknown.allSatisfy { $0.known(of: 0) == .distantPast })
        #expect(unknown[0].currentUntil(0, leaseEnd: known) == known, "an owner has it by its lease")
        let end = known.advanced(milliseconds: Limits.ClusterLog.leaseMilliseconds)
        let current = membership(incarnation: 11)
        #expect(current.currentUntil(0, leaseEnd: .distantPast) == end)
        let later = end.advanced(milliseconds: 1)
        #expect(current.currentUntil(0, leaseEnd: later) == later)
    }
}
