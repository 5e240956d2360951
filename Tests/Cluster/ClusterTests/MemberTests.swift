import Basics
import Cluster
import ClusterLog
import Testing

@Suite("members of a cluster")
struct MemberTests {
    typealias Bench = MembershipBench
    private let following = Bench.report(.following, epoch: 1, applied: 9)
    private let two = NodeNumber(2)

    private func alarms(_ effects: [MembershipEffect]) -> [ClusterAlarm] {
        effects.compactMap { if case .raised(let alarm) = $0 { alarm } else { nil } }
    }

    @Test("a heartbeat is due five times a second, and a moment after a change of a role")
    func cadence() {
        var bench = Bench()
        #expect(bench.nextHeartbeat()?.count == 1)
        let start = bench.time
        #expect(bench.nextHeartbeat()?.count == 2 && bench.time - start == 200)
        _ = bench.local(1, Bench.report(.halted, applied: 4))
        let changed = bench.time
        let heartbeat = bench.nextHeartbeat()
        #expect(bench.time - changed == 20 && heartbeat?.partitions[1].role == .halted)
        // Positions alone wait for the next one.
        _ = bench.local(1, Bench.report(.halted, applied: 5))
        #expect(bench.nextHeartbeat()?.partitions[1].applied == LogPosition(5))
        #expect(bench.time - changed == 220)
    }

    @Test("a heartbeat carries what the node is")
    func content() {
        var bench = Bench()
        _ = bench.handle(.drain)
        let heartbeat = bench.nextHeartbeat()
        #expect(heartbeat?.node == NodeNumber(1) && heartbeat?.incarnation == Incarnation(11))
        #expect(heartbeat?.isDraining == true && heartbeat?.name == "one" && heartbeat?.linkAddress == "a:1")
        #expect(heartbeat?.cluster == Bench.cluster && heartbeat?.wall == Bench.now(bench.time).wall)
    }

    @Test("a node is reported when it comes, restarts, moves or drains, and not otherwise")
    func reports() {
        var bench = Bench()
        var heartbeat = Bench.heartbeat(2, following, following)
        #expect(bench.receive(heartbeat) == [.member(two), .roster])
        #expect(bench.receive(heartbeat) == [])
        #expect(bench.membership.members == [two] && bench.membership.member(two)?.status == .alive)
        heartbeat.linkAddress = "c:2"
        #expect(bench.receive(heartbeat) == [.member(two)])
        heartbeat.isDraining = true
        #expect(bench.receive(heartbeat) == [.member(two)])
        heartbeat.incarnation = Incarnation(77)
        #expect(bench.receive(heartbeat) == [.member(two)])
        #expect(bench.membership.member(two)?.heartbeat.incarnation == Incarnation(77))
    }

    @Test("an earlier heartbeat that arrives late is ignored")
    func late() {
        var bench = Bench()
        var heartbeat = Bench.heartbeat(2, Bench.report(.owning, epoch: 1), following)
        heartbeat.count = 7
        _ = bench.receive(heartbeat)
        heartbeat.partitions[0].role = .following
        for count in [UInt64(6), 7] {
            heartbeat.count = count
            #expect(bench.receive(heartbeat) == [])
        }
        #expect(bench.membership.owner(of: 0) == two)
        heartbeat.count = 8
        #expect(bench.receive(heartbeat) == [.owner(partition: 0, nil)])
    }

    @Test("two processes with one number raise an alarm; the last heartbeats of an earlier one do not")
    func duplicates() {
        var bench = Bench()
        let old = Bench.heartbeat(2, Bench.report(.owning, epoch: 1), following)
        var new = Bench.heartbeat(2, following, following)
        new.incarnation = Incarnation(99)
        _ = bench.receive(old)
        #expect(bench.receive(new).contains(.owner(partition: 0, nil)))
        #expect(bench.receive(old) == [])
        #expect(bench.membership.member(two)?.heartbeat.incarnation == Incarnation(99))
        bench.others = [new]
        _ = bench.run(1_300)
        #expect(alarms(bench.receive(old)) == [.duplicateNode(two)])
        #expect(alarms(bench.receive(old)) == [])
        bench.others = []
        #expect(bench.run(9_900).contains(.cleared(.duplicateNode(two))) == false)
        #expect(bench.run(300).contains(.cleared(.duplicateNode(two))))
    }

    @Test("a late heartbeat of an earlier process does not take the place of the one that runs for long")
    func lateProcess() {
        var bench = Bench()
        var running = Bench.heartbeat(2, Bench.report(.owning, epoch: 1), following)
        running.incarnation = Incarnation(99)
        _ = bench.receive(running)
        let earlier = Bench.heartbeat(2, following, following)
        #expect(bench.receive(earlier).contains(.owner(partition: 0, nil)))
        running.count += 1
        #expect(bench.receive(running) == [])
        _ = bench.run(1_300)
        running.count += 1
        let effects = bench.receive(running)
        #expect(effects.contains(.owner(partition: 0, two)) && alarms(effects) == [])
        #expect(bench.membership.member(two)?.heartbeat.incarnation == Incarnation(99))
    }

    @Test("a node whose own number is used twice raises an alarm and claims nothing")
    func ownDuplicate() {
        var bench = Bench()
        _ = bench.local(0, Bench.report(.following))
        let other = Bench.heartbeat(1, following, following)
        var twin = other
        twin.incarnation = Incarnation(12)
        // The last heartbeat of the process before this one.
        #expect(bench.receive(twin) == [])
        bench.others = [twin]
        _ = bench.local(0, Bench.report(.absent))
        #expect(bench.run(1_400) == [.raised(.duplicateNode(NodeNumber(1)))])
        _ = bench.local(0, Bench.report(.following))
        #expect(bench.run(4_000) == [])
        bench.others = []
        let effects = bench.run(12_000)
        #expect(effects.contains(.cleared(.duplicateNode(NodeNumber(1)))))
        #expect(effects.contains(.claim(partition: 0, released: nil)))
    }

    @Test("a stranger is no member, and raises an alarm by name")
    func strangers() {
        var bench = Bench()
        var foreign = Bench.heartbeat(2, following, following)
        foreign.cluster = ClusterID(5)
        #expect(bench.receive(foreign) == [.raised(.foreignCluster(ClusterID(5)))])
        #expect(bench.receive(Bench.heartbeat(3, following)) == [.raised(.partitions(NodeNumber(3)))])
        #expect(bench.membership.members == [])
        #expect(bench.run(10_200).contains(.cleared(.foreignCluster(ClusterID(5)))))
    }

    @Test("a cluster has at most 256 nodes, and an operator sees at most 64 alarms")
    func bounds() {
        var bench = Bench()
        for node in 2...256 as ClosedRange<UInt16> {
            #expect(bench.receive(Bench.heartbeat(node, following, following)).count >= 1)
        }
        #expect(bench.receive(Bench.heartbeat(257, following, following)) == [.raised(.tooManyNodes)])
        #expect(bench.membership.members.count == 255)
        var raised = 1
        for number in 1...100 as ClosedRange<UInt64> {
            var foreign = Bench.heartbeat(2, following, following)
            foreign.cluster = ClusterID(number)
            raised += alarms(bench.receive(foreign)).count
        }
        #expect(raised == 64)
    }

    @Test("a clock that differs for five seconds raises an alarm until it is right")
    func clocks() {
        var bench = Bench()
        bench.others = [Bench.heartbeat(2, following, following)]
        _ = bench.run(1_400)
        bench.wallAhead = -2_001
        #expect(!bench.run(5_000).contains(.raised(.clock(two))))
        bench.wallAhead = 2_000
        #expect(!bench.run(200).contains(.raised(.clock(two))))
        bench.wallAhead = 2_001
        #expect(!bench.run(5_000).contains(.raised(.clock(two))))
        #expect(bench.run(200).contains(.raised(.clock(two))))
        bench.wallAhead = 0
        #expect(bench.run(200).contains(.cleared(.clock(two))))
    }

    @Test("heartbeats that a cut network delivers late and all at once are no wrong clock")
    func lateHeartbeats() {
        var bench = Bench()
        let other = Bench.heartbeat(2, following, following)
        bench.others = [other]
        _ = bench.run(1_400)
        bench.others = []
        _ = bench.run(6_000)
        for age in stride(from: Int64(6_000), to: 2_000, by: -200) {
            bench.wallAhead = -age
            #expect(alarms(bench.receive(other)) == [])
        }
        (bench.wallAhead, bench.others) = (0, [other])
        #expect(!bench.run(6_000).contains(.raised(.clock(two))))
    }

    @Test(
        "a node that is silent for ten seconds is an alarm until it is back or removed, also after a restart of this one"
    )
    func silent() {
        var bench = Bench()
        let other = Bench.heartbeat(2, following, following)
        let alarm = ClusterAlarm.silentNode(two)
        bench.others = [other]
        _ = bench.run(1_400)
        bench.others = []
        #expect(!bench.run(9_800).contains(.raised(alarm)))
        #expect(bench.run(400).contains(.raised(alarm)))
        #expect(!bench.run(60_000).contains(.cleared(alarm)), "it lasts as long as the silence")
        bench.others = [other]
        #expect(bench.run(400).contains(.cleared(alarm)))

        var next = Bench(roster: bench.membership.roster)
        #expect(!next.run(9_900).contains(.raised(alarm)))
        #expect(next.run(400).contains(.raised(alarm)))
        #expect(next.remove(2).1.contains(.cleared(alarm)))
        #expect(!next.run(20_000).contains(.raised(alarm)))
    }

    @Test("a node that stood still handles old heartbeats: their clocks are not wrong")
    func clocksAfterAStop() {
        var bench = Bench()
        let other = Bench.heartbeat(2, following, following)
        _ = bench.run(1_300)
        bench.stop(4_000)
        bench.wallAhead = -3_000
        for _ in 0..<20 { #expect(alarms(bench.receive(other)) == []) }
    }

    @Test("frames have the highest version that all nodes read, also those that are away")
    func frameVersions() {
        var bench = Bench(frameVersions: 1...3)
        #expect(bench.membership.frameVersion == 3)
        var other = Bench.heartbeat(2, following, following)
        other.frameVersions = 1...2
        #expect(bench.receive(other).contains(.frameVersion(2)))
        _ = bench.run(70_000)
        #expect(bench.membership.member(two)?.status == .gone && bench.membership.frameVersion == 2)
        let (isRemoved, effects) = bench.remove(2)
        #expect(isRemoved && effects.contains(.frameVersion(3)))
        var newer = Bench.heartbeat(3, following, following)
        newer.frameVersions = 4...5
        let refused = bench.receive(newer)
        #expect(refused.contains(.frameVersion(nil)) && refused.contains(.raised(.noFrameVersion)))
        #expect(!bench.run(1_000).contains(.cleared(.noFrameVersion)))
        newer.frameVersions = 3...5
        let agreed = bench.receive(newer)
        #expect(agreed.contains(.frameVersion(3)) && agreed.contains(.cleared(.noFrameVersion)))
    }

    @Test("only a node that is silent can be removed")
    func removal() {
        var bench = Bench()
        _ = bench.receive(Bench.heartbeat(2, following, following))
        #expect(!bench.remove(2).0)
        #expect(!bench.remove(1).0, "the node itself")
        _ = bench.run(1_400)
        #expect(bench.remove(2).0 && bench.membership.members == [])
        #expect(!bench.remove(2).0, "it is removed")
    }

    @Test("a log may be purged up to what two nodes have durable, and best up to what all have")
    func purge() {
        var bench = Bench()
        func positions(_ some: UInt64, _ all: UInt64) -> PurgePositions {
            PurgePositions(bySome: LogPosition(some), byAll: LogPosition(all))
        }
        func follower(_ durable: UInt64) -> PartitionReport {
            Bench.report(.following, epoch: 1, applied: 100, durable: durable)
        }
        _ = bench.local(0, follower(50))
        #expect(bench.membership.purge(of: 0) == positions(0, 0))
        bench.others = [Bench.heartbeat(2, follower(40), following)]
        _ = bench.run(200)
        #expect(bench.membership.purge(of: 0) == positions(40, 40))
        _ = bench.receive(Bench.heartbeat(3, follower(45), following))
        #expect(bench.membership.purge(of: 0) == positions(45, 40))
        // A node that copies a checkpoint holds the log back, and is no copy.
        _ = bench.receive(Bench.heartbeat(4, Bench.report(.absent, applied: 99, durable: 99), following))
        #expect(bench.membership.purge(of: 0) == positions(45, 40))
        _ = bench.receive(Bench.heartbeat(5, Bench.report(.absent), following))
        #expect(bench.membership.purge(of: 0) == positions(45, 0))
        _ = bench.run(1_600)
        // Nodes 3 to 5 are suspected: they may return.
        #expect(bench.membership.purge(of: 0) == positions(40, 0))
        _ = bench.run(62_000)
        #expect(bench.membership.purge(of: 0) == positions(40, 40))
        bench.others = []
        _ = bench.run(1_600)
        #expect(bench.membership.purge(of: 0) == positions(0, 0))
        var single = Bench(copies: 1)
        _ = single.local(0, follower(50))
        #expect(single.membership.purge(of: 0) == positions(50, 50))
    }
}
