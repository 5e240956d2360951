import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// The state of RocksStore in memory: recent messages, IDs of upstream messages, and watermarks of sweeps.
@Suite struct RocksMemoryTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    @Test(
        "The index drops an ID when the engine has it on the disk, and keeps one that was put again"
    )
    func remembered() throws {
        var index = RecentIndex(partitions: 1)
        let keys = (1...3 as ClosedRange<UInt64>).map {
            SeenKey(Samples.upstream(7, 1, device: $0, persistentID: "p"))
        }
        for (commit, key) in [(1, keys[0]), (2, keys[1]), (3, keys[0]), (4, keys[2])] as [(UInt64, SeenKey)] {
            index.put(key, at: Int64(commit), commit: commit)
            try index.end(commit, bytes: 10)
        }
        #expect(try index.evict(to: 10).commit == 3)
        index.forget(upTo: 1, atMost: 9)
        #expect(index[keys[0]] == 3, "the engine has the ID of the first commit only")
        #expect(index[keys[1]] == 2 && index[keys[2]] == 4)
        index.forget(upTo: 2, atMost: 9)
        #expect(index[keys[0]] == 3 && index[keys[1]] == nil)
        index.forget(upTo: 9, atMost: 9)
        #expect(index[keys[0]] == nil && index[keys[2]] == 4, "the last one has not moved to the engine")
    }

    @Test("A queue returns each element once and in order")
    func queue() {
        var queue = Fifo<Int>()
        var taken: [Int] = []
        for number in 0..<10_000 {
            queue.append(number)
            if number % 4 != 0 { taken.append(queue.removeFirst()) }
        }
        while queue.first != nil { taken.append(queue.removeFirst()) }
        #expect(taken == Array(0..<10_000))
    }

    @Test("A message expires at its expiry time, not after it")
    func due() throws {
        var recent = RecentMessages(tallies: [Tally()])
        let place = MessageKey(kind: .message, owner: 5, sequence: 1)
        let bytes: [UInt8] = [1]
        try recent.apply(
            [.put(place, record: 0..<1, .init(isCounted: true, expiresAt: 10))], of: bytes.raw,
            counted: [])
        #expect(try recent.ends(by: 9, of: 0, limit: 9).isEmpty)
        for _ in 0..<2 { #expect(try recent.ends(by: 10, of: 0, limit: 9).map(\.sequence) == [1]) }
    }

    @Test("A frame is freed with the last of its messages")
    func bytesAreReleased() throws {
        var recent = RecentMessages(tallies: [Tally()])
        let bytes: [UInt8] = [1, 2]
        func place(_ sequence: UInt64) -> MessageKey {
            MessageKey(kind: .upstream, owner: 5, sequence: sequence)
        }
        func put(_ sequence: UInt64) -> RecentChange {
            .put(place(sequence), record: 0..<1, .init(isCounted: true, expiresAt: 10))
        }
        for round in 0..<3 {
            try recent.apply([put(1), put(2)], of: bytes.raw, counted: [])
            try recent.apply([put(3)], of: bytes.raw, counted: [])
            #expect(recent.frames.count == 2)
            try recent.remove(place(1))
            #expect(recent.frames.count == 2)
            try recent.apply([.remove(place(2)), put(4), .remove(place(4))], of: bytes.raw, counted: [])
            #expect(recent.frames.count == 1)
            try recent.apply([.remove(place(3))], of: bytes.raw, counted: [])
            #expect(recent.frames.count == 0, "round \(round)")
        }
    }

    @Test(
        "A sweep starts at the watermark of the previous one, and only one runs at a time"
    )
    func watermark() throws {
        let watermark = ExpiryWatermark(partitions: 3)
        #expect(watermark.sweepBegins(1) == UnixMilliseconds.min)
        #expect(watermark.sweepBegins(1) == nil)
        try watermark.sweepEnds(1, first: 40)
        #expect(watermark.sweepBegins(1) == 40)
        try watermark.sweepEnds(1, first: nil)
        watermark.commitBegins(.ends(5, of: 1))
        watermark.commitEnds()
        #expect(watermark.sweepBegins(1) == 5)
        try watermark.sweepEnds(1, first: 50)
        #expect(watermark.sweepBegins(1) == 50, "the sweep has covered what was committed before it")
        try watermark.sweepEnds(1, first: 50)
        watermark.commitBegins(EarliestExpiries(partitions: 3))
        watermark.commitEnds()
        #expect(watermark.sweepBegins(1) == 50)
    }

    @Test("A compaction drops expired IDs when the clock was set back")
    func clockSetBack() throws {
        let store = try RocksStore(path: path, sizes: Kind.moving.sizes)
        func put(_ sequence: UInt64, at time: UnixMilliseconds) throws {
            let upstream = Samples.upstream(8, sequence, persistentID: "p\(sequence)")
            try store.apply(.putUpstream(upstream, now: time))
        }
        for sequence in 1...40 as ClosedRange<UInt64> { try put(sequence, at: Int64(sequence)) }
        try put(41, at: Int64(Limits.Message.upstreamMemorySeconds) * 1_000 + 21)
        try put(42, at: 41)
        #expect(try store.compactedSeen() == 21)
    }
}
