import Basics
import Cluster
import ClusterLog
import Testing

@Suite("claims of partitions")
struct ClaimTests {
    typealias Bench = MembershipBench
    private let two = NodeNumber(2)

    /// A bench whose replicas follow, next to a node 2 that owns both partitions.
    private func followers(applied: UInt64 = 9, others: UInt64 = 9) -> Bench {
        var bench = Bench()
        for partition in 0..<2 {
            _ = bench.local(partition, Bench.report(.following, epoch: 1, applied: applied))
        }
        let owning = Bench.report(.owning, epoch: 1, applied: others)
        bench.others = [Bench.heartbeat(2, owning, owning)]
        _ = bench.run(2_000)
        return bench
    }

    private func claims(_ effects: [MembershipEffect]) -> [Int] {
        effects.compactMap { if case .claim(let partition, _) = $0 { partition } else { nil } }
    }

    @Test("a node alone claims all partitions, once it has listened for others")
    func alone() {
        var bench = Bench()
        for partition in 0..<2 { _ = bench.local(partition, Bench.report(.following)) }
        #expect(bench.run(1_190) == [])
        #expect(bench.run(120) == [.claim(partition: 0, released: nil), .claim(partition: 1, released: nil)])
        #expect(bench.membership.load == 2)
        let took = bench.local(0, Bench.report(.owning, epoch: 1))
        #expect(took.contains(.owner(partition: 0, NodeNumber(1))))
        #expect(bench.membership.owner(of: 0) == NodeNumber(1) && bench.membership.owner(of: 1) == nil)
    }

    @Test("a node claims nothing without a replica, with a halted one, and while it drains")
    func unfit() {
        var bench = Bench()
        _ = bench.local(0, Bench.report(.halted))
        #expect(claims(bench.run(5_000)) == [])
        _ = bench.local(0, Bench.report(.following))
        #expect(claims(bench.run(300)) == [0])
        _ = bench.handle(.drain)
        _ = bench.local(0, Bench.report(.following))
        #expect(claims(bench.run(5_000)) == [])
    }

    @Test("a node that has not read the last epoch of any node that runs claims nothing")
    func epochs() {
        var bench = Bench()
        for partition in 0..<2 {
            _ = bench.local(partition, Bench.report(.following, epoch: UInt64(partition), applied: 900))
        }
        // It has everything up to the first epoch, and is halted; a new log has been filled up since.
        let halted = Bench.report(.halted, epoch: 1, applied: 9)
        bench.others = [Bench.heartbeat(2, halted, halted)]
        #expect(claims(bench.run(5_000)) == [1])
        _ = bench.local(0, Bench.report(.following, epoch: 1, applied: 901))
        #expect(claims(bench.run(300)).contains(0))
        _ = bench.local(0, Bench.report(.following, epoch: 0, applied: 900))
        bench.others = []
        #expect(!claims(bench.run(50_000)).contains(0), "it may only be cut off")
        #expect(claims(bench.run(15_000)).contains(0), "it is gone")
    }

    @Test("the owner in the highest epoch is routed to; an earlier one never again")
    func owners() {
        var bench = followers()
        #expect(bench.membership.owner(of: 0) == two)
        let later = Bench.report(.owning, epoch: 2)
        let following = Bench.report(.following, epoch: 1)
        #expect(
            bench.receive(Bench.heartbeat(3, later, following)).contains(.owner(partition: 0, NodeNumber(3))))
        // Node 3 falls silent; node 2 still reports that it owns the partition in epoch 1.
        let effects = bench.run(2_000)
        #expect(effects.contains(.owner(partition: 0, nil)))
        #expect(bench.membership.owner(of: 0) == nil && bench.membership.owner(of: 1) == two)
    }

    @Test("the owner is suspected after 1.2 seconds of silence, and its partitions are claimed at once")
    func suspicion() {
        var bench = followers()
        bench.others = []
        #expect(bench.run(1_190) == [])
        #expect(
            bench.run(120) == [
                .member(two), .owner(partition: 0, nil), .owner(partition: 1, nil),
                .claim(partition: 0, released: nil),
                .claim(partition: 1, released: nil),
            ])
        #expect(bench.membership.member(two)?.status == .suspected)
        _ = bench.run(60_000)
        #expect(bench.membership.member(two)?.status == .gone)
    }

    @Test("the node that has applied most claims first; each other one a second later")
    func ranks() {
        var bench = followers()
        let ahead = Bench.report(.following, epoch: 1, applied: 10)
        bench.others = [Bench.heartbeat(3, ahead, Bench.report(.following, epoch: 1, applied: 8))]
        #expect(claims(bench.run(1_500)) == [1])
        #expect(claims(bench.run(700)) == [])
        #expect(claims(bench.run(300)) == [0])
    }

    @Test("a node that drains or is silent is no candidate, however much it has applied")
    func unfitCandidates() {
        var bench = followers()
        let ahead = Bench.report(.following, epoch: 1, applied: 10)
        var draining = Bench.heartbeat(3, ahead, ahead)
        draining.isDraining = true
        _ = bench.receive(Bench.heartbeat(4, ahead, ahead))
        bench.others = [draining]
        #expect(claims(bench.run(1_400)) == [0, 1])
    }

    @Test("a node that has missed a later epoch does not take itself for the owner")
    func missed() {
        var bench = Bench()
        _ = bench.local(0, Bench.report(.owning, epoch: 1))
        let other = Bench.heartbeat(2, Bench.report(.owning, epoch: 2), Bench.report(.absent))
        #expect(bench.receive(other).contains(.owner(partition: 0, two)))
        #expect(bench.membership.owner(of: 0) == two)
    }

    @Test("of equal nodes, exactly one is first, and each partition has its own")
    func ties() {
        // Nodes 1, 2 and 3 stand for each other: each bench sees the same cluster from its side.
        var first: [Int: Int] = [:]
        for other in [UInt16(2), 3] {
            var bench = Bench(partitions: 16)
            for partition in 0..<16 { _ = bench.local(partition, Bench.report(.following)) }
            var heartbeat = Bench.heartbeat(other)
            heartbeat.partitions = Array(repeating: Bench.report(.following), count: 16)
            bench.others = [heartbeat]
            let mine = claims(bench.run(1_400))
            #expect(mine.count == 8)
            for partition in mine { first[partition, default: 0] += 1 }
        }
        #expect(first.count > 8)
    }

    @Test("a partition that another node claims is left to it for ten seconds")
    func claimed() {
        var bench = followers()
        let claiming = Bench.report(.claiming, epoch: 1, applied: 9)
        bench.others = [Bench.heartbeat(3, claiming, Bench.report(.following, epoch: 1, applied: 8))]
        #expect(claims(bench.run(9_000)) == [1])
        #expect(claims(bench.run(4_500)) == [0])
    }

    @Test("a claim that fails is repeated after pauses that grow, and not while a new epoch has just begun")
    func pauses() {
        var bench = followers()
        bench.others = []
        var times: [Int64] = []
        for _ in 0..<3_000 {
            let effects = bench.run(10)
            guard claims(effects).contains(0) else { continue }
            times.append(bench.time)
            _ = bench.local(0, Bench.report(.following, epoch: 1, applied: 9))
        }
        let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(pauses.count >= 4 && pauses.allSatisfy { $0 >= 300 } && pauses.last ?? 0 > 3_000, "\(pauses)")
        _ = bench.local(0, Bench.report(.following, epoch: 2, applied: 10))
        #expect(claims(bench.run(990)).isEmpty)
    }

    @Test("a node that was stopped waits for the heartbeats of the others before it claims anything")
    func stopped() {
        var bench = followers()
        bench.others = []
        bench.stop(30_000)
        #expect(bench.run(1_190) == [])
        #expect(claims(bench.run(300)) == [0, 1])
    }

    @Test("after a moment without events, the heartbeats that wait are handled before any claim")
    func stalled() {
        var bench = followers()
        let others = bench.others
        bench.others = []
        _ = bench.run(1_100)
        bench.stop(300)
        var effects = bench.handle(.tick)
        for other in others { effects += bench.receive(other) }
        #expect(claims(effects + bench.run(150)) == [])
    }

    @Test("a node whose heartbeats do not come back judges no other, and gives up its claims")
    func deaf() {
        var bench = followers()
        bench.others = []
        _ = bench.run(1_310)
        #expect(bench.membership.isConnected)
        bench.echoes = false
        let effects = bench.run(20_000)
        #expect(effects.contains(.abandon(partition: 0)) && effects.contains(.abandon(partition: 1)))
        #expect(claims(effects) == [] && !bench.membership.isConnected)
        bench.echoes = true
        #expect(claims(bench.run(1_200)) == [])
        #expect(claims(bench.run(1_000)) == [0, 1])
    }

    @Test("while a node is cut off from all, it suspects none of them")
    func cutOff() {
        var bench = followers()
        bench.others = []
        bench.echoes = false
        #expect(bench.run(20_000) == [])
        #expect(bench.membership.member(two)?.status == .alive)
    }

    @Test("a claim is given up when the partition turns out to have an owner")
    func abandoned() {
        var bench = followers()
        let others = bench.others
        bench.others = []
        #expect(claims(bench.run(1_300)) == [0, 1])
        bench.others = others
        #expect(!bench.run(900).contains(.abandon(partition: 0)))
        #expect(bench.run(300).contains(.abandon(partition: 0)))
        #expect(bench.membership.load == 0)
    }

    @Test("partitions without an owner raise one alarm after ten seconds, until all have one")
    func unowned() {
        var bench = Bench()
        #expect(!bench.run(11_000).contains(.raised(.unowned([0, 1]))))
        #expect(
            bench.run(500).filter { if case .raised = $0 { true } else { false } } == [
                .raised(.unowned([0, 1]))
            ])
        let effects = bench.local(0, Bench.report(.owning, epoch: 1))
        #expect(!effects.contains { if case .cleared = $0 { true } else { false } })
        #expect(bench.membership.unownedAlarm == .unowned([1]))
        #expect(bench.local(1, Bench.report(.owning, epoch: 1)).contains(.cleared(.unowned([1]))))
        #expect(bench.membership.unownedAlarm == nil)
    }

    @Test("a node makes at most 64 claims at a time")
    func bounded() {
        var bench = Bench(partitions: 100)
        for partition in 0..<100 { _ = bench.local(partition, Bench.report(.following)) }
        #expect(claims(bench.run(2_000)) == Array(0..<64))
        for partition in 0..<10 { _ = bench.local(partition, Bench.report(.owning, epoch: 1)) }
        #expect(claims(bench.run(200)) == Array(64..<74))
    }
}
