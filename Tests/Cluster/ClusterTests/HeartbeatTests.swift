import Basics
import Cluster
import ClusterLog
import Testing

@Suite("heartbeats")
struct HeartbeatTests {
    /// A heartbeat with every role and values of every length.
    static let sample = Heartbeat(
        cluster: ClusterID(0x0123_4567_89ab_cdef), node: NodeNumber(300), incarnation: Incarnation(7),
        count: 1 << 40, name: "nord-1", software: "1.4.0 (abc)", frameVersions: 1...3,
        linkAddress: "[2001:db8::1]:5239", wall: 1_700_000_000_123, isDraining: true,
        partitions: [
            PartitionReport(),
            PartitionReport(role: .following, epoch: Epoch(1), applied: LogPosition(127)),
            PartitionReport(
                role: .claiming, epoch: Epoch(200), applied: LogPosition(128), durable: LogPosition(128)),
            PartitionReport(
                role: .owning, epoch: Epoch.highest, applied: LogPosition(1 << 62), durable: LogPosition(5)),
            PartitionReport(
                role: .releasing(to: NodeNumber(65_535)), epoch: Epoch(3), applied: LogPosition(9)),
            PartitionReport(role: .halted, epoch: Epoch(4), applied: LogPosition(10)),
        ])

    private func fault(_ bytes: [UInt8]) -> HeartbeatFault? {
        do throws(HeartbeatFault) {
            _ = try Heartbeat(decoding: bytes.raw)
            return nil
        } catch { return error }
    }

    /// The fault of a heartbeat with one changed property.
    private func fault(_ change: (inout Heartbeat) -> Void) -> HeartbeatFault? {
        var heartbeat = Self.sample
        change(&heartbeat)
        return fault(heartbeat.encoded())
    }

    @Test("a heartbeat is read as it was written")
    func roundTrip() throws {
        #expect(try Heartbeat(decoding: Self.sample.encoded().raw) == Self.sample)
    }

    @Test("the bytes of a heartbeat stay the same from version to version")
    func bytes() {
        var heartbeat = Self.sample
        heartbeat.partitions = [Self.sample.partitions[4]]
        heartbeat.name = "a"
        heartbeat.software = "b"
        heartbeat.linkAddress = "c:1"
        heartbeat.echoes = [HeartbeatEcho(node: NodeNumber(300), incarnation: Incarnation(0x0807), count: 5)]
        let expected =
            "43435348" + "02" + "efcdab8967452301" + "0700000000000000" + "7b68e5cf8b010000" + "ac02"
            + "808080808020" + "0103" + "01" + "010061" + "010062" + "0300633a31" + "01" + "04ffff03030909"
            + "01" + "ac02" + "0708000000000000" + "05"
        #expect(Hex.text(heartbeat.encoded()) == expected)
    }

    @Test("every prefix of a heartbeat is refused, and every byte after it")
    func lengths() {
        let bytes = Self.sample.encoded()
        for count in 0..<bytes.count {
            #expect(fault(Array(bytes[..<count])) == (count < 5 ? .foreign : .cut), "\(count)")
        }
        #expect(fault(bytes + [0]) == .invalid(.rosterChanges), "an empty list is left out")
        var changed = Self.sample
        changed.rosterChanges = [RosterChange(node: NodeNumber(3), count: 1)]
        #expect(fault(changed.encoded() + [0]) == .trailing(bytes: 1))
        let long = [UInt8](repeating: 0, count: Limits.Cluster.heartbeatBytes + 1)
        #expect(fault(long) == .tooLong(bytes: long.count))
    }

    @Test("other versions are refused by name")
    func versions() {
        var bytes = Self.sample.encoded()
        bytes[4] = 3
        #expect(fault(bytes) == .newer(version: 3))
        bytes[4] = 0
        #expect(fault(bytes) == .foreign)
        bytes[0] = UInt8(ascii: "X")
        #expect(fault(bytes) == .foreign)
    }

    @Test("a field that no node sends is refused by name")
    func fields() {
        #expect(fault { $0.cluster = ClusterID(0) } == .invalid(.cluster))
        #expect(fault { $0.node = NodeNumber(0) } == .invalid(.node))
        #expect(fault { $0.count = 0 } == .invalid(.count))
        #expect(fault { $0.frameVersions = 0...1 } == .invalid(.frameVersions))
        #expect(fault { $0.name = "" } == .invalid(.name))
        #expect(fault { $0.name = "a\u{1b}[2J" } == .invalid(.name))
        #expect(fault { $0.name = String(repeating: "x", count: 65) } == .invalid(.name))
        #expect(fault { $0.software = "" } == .invalid(.software))
        #expect(fault { $0.partitions = [] } == .invalid(.partitions))
        let many = Array(repeating: PartitionReport(), count: 1_025)
        #expect(fault { $0.partitions = many } == .invalid(.partitions))
        #expect(fault { $0.partitions[0].role = .releasing(to: $0.node) } == .invalid(.role))
        #expect(fault { $0.partitions[0].role = .releasing(to: NodeNumber(0)) } == .invalid(.node))
        #expect(fault { $0.partitions[0].role = .owning } == .invalid(.epoch))
        #expect(fault { $0.partitions[1].epoch = Epoch.highest.next } == .invalid(.epoch))
        #expect(fault { $0.partitions[3].applied = LogPosition(1 << 62 + 1) } == .invalid(.position))
    }

    @Test(
        "the nodes that were removed are read as they were written: in order, each once, with a number of changes"
    )
    func rosterChanges() throws {
        func changes(_ numbers: [(UInt16, UInt64)]) -> [RosterChange] {
            numbers.map { RosterChange(node: NodeNumber($0.0), count: $0.1) }
        }
        var heartbeat = Self.sample
        heartbeat.rosterChanges = changes([(2, 1), (300, 4), (65_535, 1 << 32)])
        #expect(try Heartbeat(decoding: heartbeat.encoded().raw) == heartbeat)
        #expect(fault { $0.rosterChanges = changes([(2, 0)]) } == .invalid(.rosterChanges))
        #expect(fault { $0.rosterChanges = changes([(2, 1 << 32 + 1)]) } == .invalid(.rosterChanges))
        #expect(fault { $0.rosterChanges = changes([(3, 1), (3, 1)]) } == .invalid(.rosterChanges))
        #expect(fault { $0.rosterChanges = changes([(3, 1), (2, 1)]) } == .invalid(.rosterChanges))
        #expect(fault { $0.rosterChanges = changes([(0, 1)]) } == .invalid(.node))
        let many = (1...1_025).map { RosterChange(node: NodeNumber(UInt16($0)), count: 1) }
        #expect(fault { $0.rosterChanges = many } == .invalid(.rosterChanges))
    }

    @Test(
        "a link address that no node can have is refused",
        arguments: [
            "a", "a:", ":1", "a:0", "a:01", "a:65536", "a b:1", "::1:5", "[::1]", "a:+1", "[:1", "ü:1",
        ])
    func addresses(_ address: String) {
        #expect(fault { $0.linkAddress = address } == .invalid(.linkAddress))
    }

    @Test(
        "usual link addresses are accepted", arguments: ["node-1.example:5239", "10.0.0.1:1", "[::1]:65535"])
    func usualAddresses(_ address: String) {
        #expect(fault { $0.linkAddress = address } == nil)
    }

    @Test("bytes that no node writes are refused: flags, roles, numbers and lags")
    func forms() {
        var heartbeat = Self.sample
        heartbeat.partitions = [
            PartitionReport(role: .following, applied: LogPosition(9), durable: LogPosition(9))
        ]
        var bytes = heartbeat.encoded()
        let end = bytes.count
        // The last byte: no echoes follow.
        #expect(Array(bytes[(end - 5)...]) == [1, 0, 9, 0, 0])
        bytes[end - 5] = 7
        #expect(fault(bytes) == .invalid(.role))
        bytes[end - 5] = 1
        bytes[end - 2] = 10
        #expect(fault(bytes) == .invalid(.position))
        // An overlong zero, and a number of more than 64 bits.
        #expect(fault(Array(bytes[..<(end - 2)]) + [0x80, 0]) == .invalid(.number))
        let wide = [UInt8](repeating: 0xff, count: 9) + [2]
        #expect(fault(Array(bytes[..<(end - 2)]) + wide) == .invalid(.number))
        let draining = 5 + 24 + 2 + 6 + 2
        bytes[draining] = 2
        #expect(fault(bytes) == .invalid(.draining))
    }

    @Test("no byte can change without a change of the value or a refusal")
    func changes() {
        let bytes = Self.sample.encoded()
        for at in bytes.indices {
            var changed = bytes
            changed[at] ^= 1
            guard let heartbeat = try? Heartbeat(decoding: changed.raw) else { continue }
            #expect(heartbeat != Self.sample && heartbeat.encoded() == changed, "byte \(at)")
        }
    }

    @Test("the heartbeat of 1,024 partitions fits into a message of 64 KiB")
    func largest() throws {
        var heartbeat = Self.sample
        heartbeat.name = String(repeating: "n", count: 64)
        heartbeat.software = String(repeating: "s", count: 64)
        heartbeat.linkAddress = String(repeating: "a", count: 255) + ":65535"
        heartbeat.partitions = Array(
            repeating: PartitionReport(
                role: .releasing(to: NodeNumber(65_535)), epoch: Epoch.highest, applied: LogPosition(1 << 62)),
            count: Limits.Cluster.partitions)
        let bytes = heartbeat.encoded()
        #expect(bytes.count <= Limits.Cluster.heartbeatBytes && bytes.count > 30_000)
        #expect(try Heartbeat(decoding: bytes.raw) == heartbeat)
    }
}
