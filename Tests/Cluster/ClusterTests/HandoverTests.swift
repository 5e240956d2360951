import Basics
import Cluster
import ClusterLog
import Testing

@Suite("planned handovers")
struct HandoverTests {
    typealias Bench = MembershipBench
    private let two = NodeNumber(2)

    /// A bench that owns all of its partitions, next to nodes that follow them.
    private func owners(_ partitions: Int = 2, others: [UInt16] = [2], applied: UInt64 = 9) -> Bench {
        var bench = Bench(partitions: partitions)
        for partition in 0..<partitions {
            _ = bench.local(partition, Bench.report(.owning, epoch: 1, applied: 9))
        }
        bench.others = others.map { node in
            var heartbeat = Bench.heartbeat(node)
            heartbeat.partitions = Array(
                repeating: Bench.report(.following, epoch: 1, applied: applied), count: partitions)
            return heartbeat
        }
        _ = bench.run(2_000)
        return bench
    }

    private func claims(_ effects: [MembershipEffect]) -> Bool {
        effects.contains { if case .claim(0, _) = $0 { true } else { false } }
    }

    private func released(_ effects: [MembershipEffect]) -> [Int] {
        effects.compactMap { if case .release(let partition, _) = $0 { partition } else { nil } }
    }

    @Test("the successor claims a released partition at once, in spite of a pause")
    func successor() {
        var bench = Bench()
        _ = bench.local(0, Bench.report(.following, epoch: 1, applied: 9))
        let owner = Bench.heartbeat(2, Bench.report(.owning, epoch: 1), Bench.report(.owning, epoch: 1))
        var releasing = owner
        _ = bench.receive(owner)
        bench.others = [owner]
        _ = bench.run(1_400)
        releasing.partitions[0].role = .releasing(to: NodeNumber(3))
        #expect(!claims(bench.receive(releasing)))
        releasing.partitions[0].role = .releasing(to: NodeNumber(1))
        #expect(
            bench.receive(releasing) == [.claim(partition: 0, released: LogPosition(0))],
            "the position at which it was surrendered")
        // The owner stays the owner until the mark is read.
        #expect(bench.membership.owner(of: 0) == two)
        #expect(bench.receive(releasing) == [])
        bench.others = [releasing]
        #expect(!bench.run(1_900).contains(.abandon(partition: 0)))
    }

    @Test("what an earlier owner releases is not claimed, nor by a node that drains")
    func notSuccessor() {
        let releasing = Bench.report(.releasing(to: NodeNumber(1)), epoch: 1)
        func claims(after epoch: UInt64, drains: Bool = false, stopped: Int64 = 0) -> Bool {
            var bench = Bench()
            bench.others = [Bench.heartbeat(2, Bench.report(.owning, epoch: 1), Bench.report(.absent))]
            _ = bench.run(1_400)
            _ = bench.local(0, Bench.report(.following, epoch: epoch))
            if drains { _ = bench.handle(.drain) }
            bench.stop(stopped)
            let heartbeat = Bench.heartbeat(2, releasing, Bench.report(.absent))
            return self.claims(bench.receive(heartbeat))
        }
        #expect(claims(after: 1))
        #expect(!claims(after: 2))
        #expect(!claims(after: 1, drains: true))
        // It may be an old heartbeat, which waited until this node went on.
        #expect(!claims(after: 1, stopped: 700))
    }

    @Test("a draining node hands over four partitions at a time, spread over the others, until it has none")
    func drain() {
        var bench = owners(6, others: [2, 3])
        _ = bench.handle(.drain)
        let first = bench.run(120)
        #expect(released(first) == [0, 1, 2, 3])
        let targets = first.compactMap { if case .release(_, let node) = $0 { node.number } else { nil } }
        #expect(targets.filter { $0 == 2 }.count == 2, "\(targets)")
        #expect(released(bench.run(300)) == [])
        for partition in 0..<4 {
            _ = bench.local(partition, Bench.report(.following, epoch: 2, applied: 10))
            bench.others[partition % 2].partitions[partition] = Bench.report(.owning, epoch: 2, applied: 10)
        }
        #expect(released(bench.run(220)) == [4, 5])
        for partition in 4..<6 {
            #expect(!bench.run(100).contains(.drained))
            _ = bench.local(partition, Bench.report(.following, epoch: 2, applied: 10))
        }
        #expect(bench.run(120).filter { $0 == .drained }.count == 1)
        #expect(!bench.run(2_000).contains(.drained))
    }

    @Test("a draining node keeps what no other can take")
    func nowhere() {
        var bench = owners(applied: 9)
        for index in 0..<2 { bench.others[0].partitions[index].role = index == 0 ? .halted : .absent }
        _ = bench.run(200)
        _ = bench.handle(.drain)
        #expect(bench.run(3_000) == [])
        bench.others[0].partitions[0].role = .following
        #expect(released(bench.run(400)) == [0])
    }

    @Test("a node that drains takes nothing from one that drains too, nor counts as a successor")
    func bothDrain() {
        var bench = owners()
        bench.others[0].isDraining = true
        _ = bench.run(200)
        _ = bench.handle(.drain)
        #expect(released(bench.run(3_000)) == [])
    }

    @Test("a node without a link gets no partition, not even at an operator's command")
    func unlinked() {
        var bench = owners(4)
        bench.note(unlinked: [two])
        #expect(released(bench.run(30_000)) == [])
        #expect(bench.handOver(0, to: 2).0 == .unfit(two))
        bench.note(unlinked: [])
        #expect(!released(bench.run(30_000)).isEmpty)
    }

    @Test("a handover is undone after two seconds, and tried again five seconds later")
    func late() {
        var bench = owners()
        _ = bench.handle(.drain)
        #expect(released(bench.run(120)) == [0, 1])
        _ = bench.local(0, Bench.report(.releasing(to: two), epoch: 1, applied: 9))
        #expect(!bench.run(1_900).contains(.resume(partition: 0)))
        let undone = bench.run(200)
        #expect(undone == [.resume(partition: 0), .resume(partition: 1)])
        #expect(bench.nextHeartbeat()?.partitions[0].role == .owning)
        #expect(released(bench.run(4_600)) == [])
        #expect(released(bench.run(500)) == [0, 1])
    }

    @Test(
        "a handover is not undone once the successor owns the partition, although this node has not read that"
    )
    func taken() {
        var bench = owners()
        _ = bench.handle(.drain)
        #expect(released(bench.run(120)) == [0, 1])
        _ = bench.local(0, Bench.report(.releasing(to: two), epoch: 1, applied: 9))
        bench.others = [
            Bench.heartbeat(
                2, Bench.report(.owning, epoch: 2, applied: 9), Bench.report(.following, epoch: 1, applied: 9)
            )
        ]
        #expect(
            bench.run(2_200).filter { $0 == .resume(partition: 0) || $0 == .resume(partition: 1) }
                == [.resume(partition: 1)])
    }

    @Test("a handover is undone when its successor falls silent")
    func lost() {
        var bench = owners()
        bench.others.append(Bench.heartbeat(3, Bench.report(.absent), Bench.report(.absent)))
        _ = bench.run(1_000)
        #expect(bench.handOver(0, to: 2).0 == nil)
        _ = bench.local(0, Bench.report(.releasing(to: two), epoch: 1, applied: 9))
        bench.others.removeFirst()
        #expect(bench.run(1_400).contains(.resume(partition: 0)))
    }

    @Test("a partition moves from the node with the most to the one with the fewest, one at a time")
    func balance() {
        var bench = owners(5)
        #expect(released(bench.run(2_900)) == [])
        let first = released(bench.run(400))
        #expect(first.count == 1)
        #expect(released(bench.run(500)) == [])
        for partition in first {
            bench.others[0].partitions[partition] = Bench.report(.owning, epoch: 2, applied: 10)
            _ = bench.run(200)
            _ = bench.local(partition, Bench.report(.following, epoch: 2, applied: 10))
        }
        let second = released(bench.run(400))
        #expect(second.count == 1)
        for partition in second {
            bench.others[0].partitions[partition] = Bench.report(.owning, epoch: 2, applied: 10)
            _ = bench.run(200)
            _ = bench.local(partition, Bench.report(.following, epoch: 2, applied: 10))
        }
        // Three and two are as even as they can be.
        #expect(released(bench.run(10_000)) == [])
    }

    @Test("nothing moves for balance while a partition has no owner, or another node has more")
    func restless() {
        var bench = owners(5)
        _ = bench.local(4, Bench.report(.halted, epoch: 1, applied: 9))
        #expect(released(bench.run(8_000)) == [])
        bench = owners(5)
        for index in 0..<3 {
            bench.others[0].partitions[index] = Bench.report(.owning, epoch: 2, applied: 10)
        }
        bench.others.append(bench.others[0])
        bench.others[1].node = NodeNumber(3)
        bench.others[1].partitions = Array(
            repeating: Bench.report(.following, epoch: 2, applied: 10), count: 5)
        for index in 0..<3 { _ = bench.local(index, Bench.report(.following, epoch: 2, applied: 10)) }
        // Node 2 has three, this one two, node 3 none.
        #expect(released(bench.run(8_000)) == [])
    }

    @Test("an operator's handover is refused by name")
    func refusals() {
        var bench = owners(applied: 9)
        #expect(bench.handOver(0, to: 9).0 == .unfit(NodeNumber(9)))
        #expect(bench.handOver(0, to: 1).0 == .unfit(NodeNumber(1)))
        let (refusal, effects) = bench.handOver(0, to: nil)
        #expect(refusal == nil && effects == [.release(partition: 0, to: two)])
        #expect(bench.handOver(0, to: nil).0 == .underway(to: two))
        _ = bench.local(1, Bench.report(.following, epoch: 1))
        #expect(bench.handOver(1, to: 2).0 == .notOwner(nil))
        bench = owners(applied: 9)
        _ = bench.local(0, Bench.report(.owning, epoch: 1, applied: 9 + 513))
        #expect(bench.handOver(0, to: 2).0 == .behind(two, records: 513))
        #expect(bench.handOver(0, to: nil).0 == .noTarget)
        _ = bench.local(0, Bench.report(.owning, epoch: 1, applied: 9 + 512))
        #expect(bench.handOver(0, to: 2).0 == nil)
    }

    @Test("a node may be behind in one partition and not in others")
    func behindInOne() {
        var bench = owners(3, others: [2, 3])
        _ = bench.local(2, Bench.report(.owning, epoch: 1, applied: 9 + 600))
        #expect(bench.handOver(2, to: 3).0 == .behind(NodeNumber(3), records: 600))
        #expect(bench.handOver(1, to: 3).0 == nil)
    }
}
