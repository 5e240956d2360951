import Basics
import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// The state of a store after its process was killed, or after a failed write.
@Suite struct KilledTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    @Test("A store detects a repeated upstream message after a kill", arguments: Kind.onDisk)
    func repeats(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        for sequence in 1...30 as ClosedRange<UInt64> {
            let message = Samples.upstream(8, sequence, persistentID: "p\(sequence)")
            try store.apply(.putUpstream(message, now: Samples.now))
            // The ID of a delivered message is kept as well.
            guard sequence % 2 == 0 else { continue }
            try store.apply(
                .removeUpstream(
                    SenderID(8), SequenceNumber(sequence), expiresAt: message.expiresAt, reason: .delivered))
        }
        let copy = try directory.copied()
        let found = try RocksStore(path: copy.path + "/db", sizes: kind.sizes)
        for sequence in 1...30 as ClosedRange<UInt64> {
            let again = Samples.upstream(8, 100 + sequence, persistentID: "p\(sequence)")
            let outcome = try found.apply(.putUpstream(again, now: Samples.now + 1))
            #expect(outcome.duplicates.count == 1, "p\(sequence)")
        }
        #expect(try found.outbox(8).count == 15)
    }

    @Test(
        "A replayed message can be removed, and its key is taken until then",
        arguments: Kind.onDisk)
    func places(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        for sequence in 1...3 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        let copy = try directory.copied()
        for _ in 0..<2 {
            let found = try RocksStore(path: copy.path + "/db", sizes: kind.sizes)
            let error = #expect(throws: StoreError.self) {
                try found.apply(.putMessage(Samples.message(5, 3, body: [])))
            }
            #expect(error?.kind == .occupied)
        }
        let found = try RocksStore(path: copy.path + "/db", sizes: kind.sizes)
        for sequence in 1...3 as ClosedRange<UInt64> {
            let end = Samples.message(5, sequence).expiresAt
            try found.apply(
                .removeMessage(DeviceID(5), SequenceNumber(sequence), expiresAt: end, reason: .delivered))
        }
        #expect(try found.audit().downstream.delivered == 3)
        try expectNothingLeft(in: found)
    }

    @Test("Loads fail after a failed commit until the store has been reopened")
    func failedCommit() throws {
        let store = try RocksStore(path: path, sizes: Kind.rotating.sizes)
        let large = [UInt8](repeating: 1, count: Kind.rotating.sizes.segment)
        try store.apply(.putMessage(Samples.message(5, 1, body: large)))
        // The path of the next journal file is occupied, so that the file can neither be removed nor created.
        let obstacle = "\(path)/\(JournalFolder.name(2))"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(throws: StoreError.self) { try store.apply(.putMessage(Samples.message(5, 2))) }
        #expect(throws: StoreError.self) { try store.mailbox(5) }
        try FileManager.default.removeItem(atPath: obstacle)
        try store.apply(.putMessage(Samples.message(5, 3)))
        #expect(try store.mailbox(5).map(\.sequence.number) == [1, 3] && store.audit().holds)
    }

    @Test("A journal file is synced, with its lazy commits, before the next one is created")
    func rotation() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var sizes = EngineSizes()
        sizes.segment = 100
        var journal = try Journal(path, sizes, after: 0, keepsSyncMark: false)
        var writer = JournalWriter()
        for commit in 1...3 as ClosedRange<UInt64> {
            writer.begin()
            writer.put(.senders, Key(commit).bytes, [UInt8](repeating: 1, count: 90).raw)
            #expect(try journal.append(&writer) == commit)
            let isFull = journal.isSegmentFull
            #expect(isFull)
            var synced = journal.synced
            #expect(synced == commit - 1, "canary: it is not on the disk yet")
            try journal.rotate()
            synced = journal.synced
            #expect(synced == commit)
            #expect(try SyncMark.read(path) == .synced(commit))
        }
    }

    @Test("The index keeps an ID that was put again after a day when the engine has the earlier one")
    func seenAgain() throws {
        var index = RecentIndex(partitions: 1)
        let key = SeenKey(Samples.upstream(1, 1, persistentID: "p"))
        index.put(key, at: 5, commit: 1)
        try index.end(1, bytes: 10)
        #expect(try index.evict(to: 0).seen.count == 1)
        index.put(key, at: 99, commit: 2)
        try index.end(2, bytes: 10)
        index.forget(upTo: 1, atMost: 9)
        #expect(index[key] == 99)
    }

    @Test("A sweep finds what was committed during the previous one, in each partition by itself")
    func expiryWatermark() throws {
        let watermark = ExpiryWatermark(partitions: 3)
        #expect(watermark.sweepBegins(1) == .min)
        watermark.commitBegins(.ends(50, of: 1))
        watermark.commitEnds()
        try watermark.sweepEnds(1, first: 100)
        #expect(watermark.sweepBegins(1) == 50)
        watermark.commitBegins(.ends(30, of: 1))
        try watermark.sweepEnds(1, first: 100)
        #expect(watermark.sweepBegins(1) == 30, "the running commit counts too")
        watermark.commitEnds()
        try watermark.sweepEnds(1, first: 100)
        #expect(watermark.sweepBegins(1) == 30)
        #expect(watermark.sweepBegins(1) == nil, "one sweep at a time")
        #expect(watermark.sweepBegins(2) == .min, "in each partition")
        watermark.commitBegins(.ends(7, of: 2))
        watermark.commitEnds()
        try watermark.sweepEnds(1, first: 100)
        #expect(watermark.sweepBegins(1) == 100)
        try watermark.sweepEnds(2, first: 100)
        #expect(watermark.sweepBegins(2) == 7)
    }

    @Test("The earliest expiry time of a partition counts until it is removed")
    func earliestExpiries() {
        var ends = EarliestExpiries(partitions: 3)
        for (end, partition) in [(9, 1), (5, 1), (7, 1), (8, 2)] as [(Int64, Int)] {
            ends.add(end, of: partition)
        }
        #expect((0...2).map { ends[$0] } == [.max, 5, 8])
        var other = EarliestExpiries.ends(6, of: 2)
        other.add(3, of: 0)
        ends.add(other)
        #expect((0...2).map { ends[$0] } == [3, 5, 6])
        ends.remove(1)
        ends.remove(1)
        var visited: [Int] = []
        ends.forEach { visited.append($0 * 10 + Int($1)) }
        #expect(visited.sorted() == [3, 26])
        ends.removeAll()
        #expect((0...2).allSatisfy { ends[$0] == .max })
    }
}

extension EarliestExpiries {
    /// Returns one expiry time for one of three partitions.
    static func ends(_ end: UnixMilliseconds, of partition: Int) -> EarliestExpiries {
        var ends = EarliestExpiries(partitions: 3)
        ends.add(end, of: partition)
        return ends
    }
}
