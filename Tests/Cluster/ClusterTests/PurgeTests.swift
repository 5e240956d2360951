import Basics
import Cluster
import ClusterLog
import Testing

/// What an owner has removed from its log.
@Suite("the purge of a log") struct PurgeTests {
    private typealias Bench = MembershipBench
    private let two = NodeNumber(2)
    private let three = NodeNumber(3)
    private let durable: UInt64 = 5_000

    private func owner(_ role: PartitionReport.Role = .owning) -> Bench {
        var bench = Bench()
        let following = Bench.report(.following, epoch: 1, applied: durable, durable: durable)
        bench.others = [Bench.heartbeat(2, following, following)]
        _ = bench.local(0, Bench.report(role, epoch: 1, applied: 6_000, durable: 6_000))
        _ = bench.run(400)
        return bench
    }

    private func purge(
        _ bench: Bench, first: UInt64 = 1, bytes: Int = 0, listed: [NodeNumber]
    ) -> LogPurge {
        bench.membership.purge(of: 0, first: LogPosition(first), bytes: bytes, listed: listed)
    }

    @Test("the owner removes what all nodes have, but for its last record, and not for a few records")
    func purged() {
        let bench = owner()
        #expect(purge(bench, listed: [two]) == .upTo(LogPosition(durable - 1)))
        let last = durable - Limits.ClusterHost.purgedRecords
        #expect(purge(bench, first: last, listed: [two]) == .upTo(LogPosition(durable - 1)))
        #expect(purge(bench, first: last + 1, listed: [two]) == .nothing)
        #expect(purge(owner(.following), listed: [two]) == .nothing, "only the owner does")
    }

    @Test("a node that is away keeps its records until the log is full, and a removed one none")
    func away() {
        let full = Limits.ClusterHost.logBytes + 1
        var bench = owner()
        #expect(purge(bench, bytes: full - 1, listed: [two, three]) == .nothing, "it was never seen")
        let behind = LogPurge.leavingBehind(upTo: LogPosition(durable - 1))
        #expect(purge(bench, bytes: full, listed: [two, three]) == behind)
        let following = Bench.report(.following, epoch: 1)
        _ = bench.receive(Bench.heartbeat(3, following, following))
        #expect(purge(bench, listed: []) == .nothing, "it is here, and has nothing on its disk")
        #expect(purge(bench, bytes: full, listed: []) == .upTo(LogPosition(durable - 1)), "enough have it")
        _ = bench.run(62_000)
        #expect(purge(bench, listed: []) == .nothing, "it is gone")
        #expect(bench.remove(3).0)
        #expect(purge(bench, listed: [two, three]) == .upTo(LogPosition(durable - 1)))
    }
}
