import Basics
import Cluster
import ClusterLog
import Testing

@Suite("removed nodes")
struct RosterTests {
    typealias Bench = MembershipBench
    private let following = Bench.report(.following, epoch: 1, applied: 9)
    private let two = NodeNumber(2)
    private let three = NodeNumber(3)

    private func heartbeat(_ node: UInt16, _ changes: [(UInt16, UInt64)] = []) -> Heartbeat {
        var heartbeat = Bench.heartbeat(node, following, following)
        heartbeat.rosterChanges = changes.map { RosterChange(node: NodeNumber($0.0), count: $0.1) }
        return heartbeat
    }

    @Test("a removed node is refused by name until it is admitted again, and each heartbeat carries both")
    func removal() {
        var bench = Bench()
        _ = bench.receive(heartbeat(2))
        _ = bench.run(1_400)
        let (isRemoved, effects) = bench.remove(2)
        #expect(isRemoved && effects.starts(with: [.roster, .member(two)]))
        #expect(bench.nextHeartbeat()?.rosterChanges == [RosterChange(node: two, count: 1)])
        #expect(bench.receive(heartbeat(2)) == [.raised(.removedNode(two))])
        #expect(bench.membership.members == [] && bench.membership.roster.isRemoved(two))
        #expect(bench.run(10_100).contains(.cleared(.removedNode(two))), "it is silent again")
        _ = bench.receive(heartbeat(2))
        let (isAdmitted, later) = bench.admit(2)
        #expect(isAdmitted && later.contains(.cleared(.removedNode(two))) && later.contains(.roster))
        #expect(!bench.admit(2).0, "it is admitted")
        #expect(bench.nextHeartbeat()?.rosterChanges == [RosterChange(node: two, count: 2)])
        #expect(bench.receive(heartbeat(2)).contains(.member(two)) && bench.membership.members == [two])
    }

    @Test("a node learns of a removal on another node, and of an older state nothing")
    func learning() {
        var bench = Bench()
        _ = bench.receive(heartbeat(3))
        let effects = bench.receive(heartbeat(2, [(3, 1)]))
        #expect(effects.contains(.roster) && effects.contains(.member(three)))
        #expect(bench.membership.members == [two])
        #expect(bench.receive(heartbeat(2, [(3, 1)])) == [])
        #expect(bench.receive(heartbeat(3)) == [.raised(.removedNode(three))])
        #expect(bench.receive(heartbeat(2, [(3, 2)])).contains(.cleared(.removedNode(three))))
        #expect(bench.receive(heartbeat(2, [(3, 1)])) == [], "an older state")
        #expect(bench.receive(heartbeat(3)).contains(.member(three)))
    }

    @Test("what a removed node has learned counts for nothing")
    func removedTeacher() {
        var bench = Bench()
        _ = bench.receive(heartbeat(2, [(3, 1)]))
        #expect(bench.receive(heartbeat(3, [(2, 1), (3, 2)])) == [.raised(.removedNode(three))])
        #expect(bench.membership.members == [two])
    }

    @Test("a node that is removed itself claims nothing, and raises an alarm until it is admitted")
    func expelled() {
        var bench = Bench()
        for partition in 0..<2 { _ = bench.local(partition, Bench.report(.following, epoch: 1, applied: 9)) }
        bench.others = [heartbeat(2, [(1, 1)])]
        let effects = bench.run(6_000)
        #expect(effects.contains(.raised(.removedNode(NodeNumber(1)))) && bench.membership.isExpelled)
        #expect(!effects.contains { if case .claim = $0 { true } else { false } })
        bench.others = [heartbeat(2, [(1, 2)])]
        let later = bench.run(6_000)
        #expect(later.contains(.cleared(.removedNode(NodeNumber(1)))) && !bench.membership.isExpelled)
        #expect(later.contains { if case .claim = $0 { true } else { false } }, "canary: it can claim")
    }

    @Test(
        "the next process has the roster: a node that is away counts for the version of frames, and a removed one is refused"
    )
    func durability() throws {
        var bench = Bench(frameVersions: 1...3)
        var old = heartbeat(2)
        old.frameVersions = 1...2
        _ = bench.receive(old)
        _ = bench.receive(heartbeat(3))
        _ = bench.run(1_400)
        _ = bench.remove(3)
        let bytes = bench.membership.roster.encoded
        let roster = try #require(Roster(decoding: bytes))
        #expect(roster == bench.membership.roster && roster.entries.map(\.node) == [two, three])
        var next = Bench(frameVersions: 1...3, roster: roster)
        #expect(next.membership.frameVersion == 2 && next.membership.writtenFrameVersion == 2)
        #expect(next.receive(heartbeat(3)) == [.raised(.removedNode(three))])
        #expect(Bench(frameVersions: 1...3).membership.frameVersion == 3, "canary: a node without a roster")
        let apart = Bench(frameVersions: 3...3, roster: roster)
        #expect(apart.membership.frameVersion == nil && apart.membership.writtenFrameVersion == 3)
    }

    @Test("bytes that no node has stored are refused")
    func damaged() {
        let whole = [1, 2, 0] + [1, 0, 0, 0, 0, 0, 0, 0] + [1, 2] as [UInt8]
        #expect(Roster(decoding: whole)?.encoded == whole && Roster(decoding: [1]) == Roster())
        func isRefused(_ change: (inout [UInt8]) -> Void) -> Bool {
            var bytes = whole
            change(&bytes)
            return Roster(decoding: bytes) == nil
        }
        #expect(isRefused { $0[0] = 2 } && isRefused { $0 = [] } && isRefused { $0.removeLast() })
        #expect(isRefused { $0[1] = 0 }, "node 0")
        #expect(isRefused { $0 += whole.dropFirst() }, "a node twice")
        #expect(isRefused { $0[8] = 1 }, "too many changes")
        #expect(isRefused { $0[11] = 3 }, "the lowest version above the highest")
        #expect(isRefused { $0[11] = 0 }, "a highest version alone")
        #expect(Roster(decoding: Self.bytes(of: 1_025)) == nil)
        #expect(Roster(decoding: Self.bytes(of: 1_024))?.entries.count == 1_024)
    }

    /// The bytes of a roster with that many nodes.
    private static func bytes(of count: Int) -> [UInt8] {
        var bytes: [UInt8] = [1]
        for number in 1...count {
            bytes += [UInt8(number & 0xff), UInt8(number >> 8)] + [UInt8](repeating: 0, count: 10)
        }
        return bytes
    }

    @Test("a roster that is full takes no further node")
    func full() {
        var bench = Bench(roster: Roster(decoding: Self.bytes(of: 1_024)) ?? Roster())
        #expect(bench.membership.roster.entries.count == 1_024)
        #expect(!bench.remove(2_000).0 && !bench.membership.roster.contains(NodeNumber(2_000)))
        #expect(bench.remove(1_024).0)
    }

    @Test("a roster in the store has every node, also those beyond 255, with its changes and versions")
    func stored() throws {
        var bytes: [UInt8] = [1]
        for (low, high, changes, versions) in [
            (7, 0, 0, (1, 2)), (44, 1, 1, (0, 0)), (0, 2, 258, (3, 3)),
        ] as [(UInt8, UInt8, Int, (UInt8, UInt8))] {
            bytes += [low, high, UInt8(changes & 255), UInt8(changes >> 8), 0, 0, 0, 0, 0, 0]
            bytes += [versions.0, versions.1]
        }
        let roster = try #require(Roster(decoding: bytes))
        #expect(roster.entries.map(\.node.number) == [7, 300, 512] && roster.encoded == bytes)
        #expect(roster.entries.map(\.changes) == [0, 1, 258])
        #expect(roster.entries.map(\.frameVersions) == [1...2, nil, 3...3])
        #expect(roster.isRemoved(NodeNumber(300)) && !roster.isRemoved(NodeNumber(512)))
        for cut in [0, 2, bytes.count - 1] { #expect(Roster(decoding: Array(bytes.prefix(cut))) == nil) }
    }
}
