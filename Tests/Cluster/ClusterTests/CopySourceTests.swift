import Basics
import Cluster
import ClusterLog
import Testing

/// Where a node that is behind copies a store from.
@Suite("copies of stores") struct CopySourceTests {
    private static let cluster = ClusterID(7)

    private func heartbeat(
        _ node: UInt16, _ count: UInt64, _ reports: [PartitionReport], isDraining: Bool = false
    ) -> Heartbeat {
        Heartbeat(
            cluster: Self.cluster, node: NodeNumber(node), incarnation: Incarnation(UInt64(node)),
            count: count,
            name: "n\(node)", software: "1", frameVersions: 1...1, linkAddress: "127.0.0.1:1", wall: 0,
            isDraining: isDraining, partitions: reports)
    }

    private func report(
        _ role: PartitionReport.Role, _ applied: UInt64, _ durable: UInt64
    ) -> PartitionReport {
        PartitionReport(
            role: role, epoch: Epoch(1), applied: LogPosition(applied), durable: LogPosition(durable))
    }

    private func membership(_ others: [Heartbeat]) -> Membership {
        let now = Now(monotonic: Instant(nanoseconds: 1_000_000_000), wall: 0)
        var membership = Membership(
            Membership.Settings(
                cluster: Self.cluster, node: NodeNumber(1), incarnation: Incarnation(9), name: "n1",
                software: "1", frameVersions: 1...1, linkAddress: "127.0.0.1:1", partitions: 2),
            seed: 1, now: now)
        var effects: [MembershipEffect] = []
        for heartbeat in others { membership.handle(.heartbeat(heartbeat), now: now, effects: &effects) }
        // Partition 0 is purged; partition 1 is followed, and others rely on what is durable of it.
        membership.handle(.local(partition: 0, report(.absent, 10, 10)), now: now, effects: &effects)
        membership.handle(.local(partition: 1, report(.following, 90, 80)), now: now, effects: &effects)
        return membership
    }

    private let begins: [LogPosition?] = [LogPosition(50), nil]

    @Test("a copy must have what is purged, and what this node has reported as durable")
    func least() {
        #expect(membership([]).least(begins: begins) == [LogPosition(49), LogPosition(80)])
        #expect(membership([]).least(begins: [nil, nil]) == [LogPosition(10), LogPosition(80)])
        // Logs from which nothing is purged.
        let fresh = MembershipBench().membership
        #expect(fresh.least(begins: [LogPosition(1), LogPosition(0)]) == [.start, .start])
    }

    @Test("the node is asked that has applied most, among those that follow everything and have enough")
    func source() {
        let least = membership([]).least(begins: begins)
        func source(_ others: [Heartbeat], except: Set<NodeNumber> = []) -> UInt16? {
            membership(others).copySource(least, except: except)?.number
        }
        let enough = [report(.owning, 60, 60), report(.following, 80, 70)]
        let more = [report(.following, 61, 50), report(.owning, 95, 70)]
        #expect(source([]) == nil)
        #expect(source([heartbeat(2, 1, enough)]) == 2)
        #expect(source([heartbeat(2, 1, enough), heartbeat(3, 1, more)]) == 3)
        #expect(source([heartbeat(2, 1, enough), heartbeat(3, 1, more)], except: [NodeNumber(3)]) == 2)
        // One that is itself behind, halted, drains, or has less than is relied on.
        for other in [
            heartbeat(3, 1, [report(.absent, 99, 99), report(.following, 99, 99)]),
            heartbeat(3, 1, [report(.halted, 99, 99), report(.following, 99, 99)]),
            heartbeat(3, 1, more, isDraining: true),
            heartbeat(3, 1, [report(.following, 48, 48), report(.following, 999, 99)]),
            heartbeat(3, 1, [report(.following, 999, 99), report(.following, 79, 79)]),
        ] {
            #expect(source([other]) == nil)
            #expect(source([heartbeat(2, 1, enough), other]) == 2)
        }
    }

    @Test("what a node without a usable store has does not count as a second copy")
    func purge() {
        let all = [report(.following, 60, 60), report(.following, 90, 85)]
        let membership = membership([heartbeat(2, 1, all)])
        #expect(membership.purge(of: 0).bySome == .start, "only one node has it")
        #expect(membership.purge(of: 1).bySome == LogPosition(80))
        let three = self.membership([heartbeat(2, 1, all), heartbeat(3, 1, all)])
        #expect(three.purge(of: 0).bySome == LogPosition(60) && three.purge(of: 0).byAll == LogPosition(10))
    }
}
