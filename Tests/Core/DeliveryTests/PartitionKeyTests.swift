import Basics
import Delivery
import Testing

/// The mapping of keys to slots and partitions: part of the store's format, which never changes.
@Suite struct PartitionKeyTests {
    /// Computed by a separate program from the documentation of `PartitionKey.slot`.
    private static let vectors: [(PartitionKey, slot: Int)] = [
        (.device(DeviceID(0)), 0), (.device(DeviceID(1)), 1_385), (.device(DeviceID(2)), 3_517),
        (.device(DeviceID(5)), 2_923), (.device(DeviceID(3_756_933_182_638_194_133)), 1_641),
        (.device(DeviceID(.max)), 2_893), (.sender(SenderID(100)), 627), (.sender(SenderID(200)), 2_888),
        (.sender(SenderID(728_721_810_509)), 3_969), (.installation([]), 3_922),
        (.installation(Array("a".utf8)), 44),
        (.installation(Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8)), 3_744),
    ]

    @Test("A key hashes to the slot of the store format")
    func slots() {
        for (key, slot) in Self.vectors { #expect(key.slot == slot, "\(key)") }
        #expect(Limits.Partition.slots == 4_096)
    }

    @Test(
        "Partitions divide the slots into contiguous ranges of almost equal size",
        arguments: [1, 2, 3, 16, 1_000, 1_024])
    func ranges(_ count: Int) {
        #expect(Limits.Partition.count == 16 && Limits.Partition.maximumCount == 1_024)
        for (key, slot) in Self.vectors {
            #expect(key.partition(of: count) == slot * count / 4_096, "\(key)")
        }
        var sizes = [Int](repeating: 0, count: count)
        for slot in 0..<4_096 { sizes[slot * count / 4_096] += 1 }
        #expect(sizes.min() == 4_096 / count && sizes.max() == (4_096 + count - 1) / count)
    }

    @Test("Keys spread evenly over partitions when their numbers are consecutive or random")
    func evenness() {
        var random = SeededRandom(seed: 3)
        let drawn = (0..<40_000).map { _ in random.next() }
        let following = (0..<40_000).map { UInt64($0) << 20 | 1 << 60 }
        let ids = drawn.map { number in
            (0..<22).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) | 0x40 }
        }
        let kinds: [[PartitionKey]] = [
            drawn.map { .device(DeviceID($0)) }, following.map { .device(DeviceID($0)) },
            (0..<40_000).map { .sender(SenderID($0)) }, ids.map { .installation($0) },
        ]
        for keys in kinds {
            var counts = [Int](repeating: 0, count: 16)
            for key in keys { counts[key.partition(of: 16)] += 1 }
            #expect(counts.allSatisfy { (2_250...2_750).contains($0) }, "\(counts)")
        }
    }

    @Test(
        "Each reactor owns a range of the partitions, and each partition belongs to one reactor",
        arguments: [(16, 1), (16, 2), (16, 3), (16, 16), (1, 1), (1_024, 256)])
    func reactors(_ partitions: Int, _ reactors: Int) {
        let map = PartitionMap(partitions: partitions, reactors: reactors)
        var all: [Int] = []
        for reactor in 0..<reactors {
            let own = map.partitions(of: reactor)
            #expect(
                own.allSatisfy { map.reactor(of: $0) == reactor && $0 * reactors / partitions == reactor })
            #expect((partitions / reactors...(partitions + reactors - 1) / reactors).contains(own.count))
            all += own
        }
        #expect(all == Array(0..<partitions))
    }

    @Test("Some reactors own no partition when there are more reactors than partitions")
    func surplus() {
        let map = PartitionMap(partitions: 3, reactors: 8)
        #expect((0..<8).map { Array(map.partitions(of: $0)) } == [[0], [], [1], [], [], [2], [], []])
    }
}
