import Basics
import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// What must be known again after the process was killed, or after a write has failed.
@Suite struct KilledTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    @Test("What a device repeats after a kill is still known, young or settled", arguments: Kind.onDisk)
    func repeats(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        for sequence in 1...30 as ClosedRange<UInt64> {
            let message = Samples.upstream(8, sequence, persistentID: "p\(sequence)")
            try store.apply(.putUpstream(message, now: Samples.now))
            // One that has been delivered is known all the same.
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
        "What is found in the journal after a kill can be removed, and its places are taken",
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

    @Test("After a failed commit nothing is read until the store has found out what became of it")
    func failedCommit() throws {
        let store = try RocksStore(path: path, sizes: Kind.rotating.sizes)
        let large = [UInt8](repeating: 1, count: Kind.rotating.sizes.segment)
        try store.apply(.putMessage(Samples.message(5, 1, body: large)))
        // What stands where the next file of the journal would begin cannot be removed, and nothing can be made there.
        let obstacle = "\(path)/\(JournalFolder.name(2))"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(throws: StoreError.self) { try store.apply(.putMessage(Samples.message(5, 2))) }
        #expect(throws: StoreError.self) { try store.mailbox(5) }
        try FileManager.default.removeItem(atPath: obstacle)
        try store.apply(.putMessage(Samples.message(5, 3)))
        #expect(try store.mailbox(5).map(\.sequence.number) == [1, 3] && store.audit().holds)
    }

    @Test("A file of the journal is on the disk before the next one begins, what was lazy included")
    func rotation() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var sizes = EngineSizes()
        sizes.segment = 100
        var journal = try Journal(path, sizes, after: 0, noteGoesOn: false)
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

    @Test("A repeat that came again after its day stays known when the engine has the earlier one")
    func seenAgain() throws {
        var index = YoungIndex()
        let key = SeenKey(Samples.upstream(1, 1, persistentID: "p"))
        index.put(key, at: 5, commit: 1)
        try index.end(1, bytes: 10)
        #expect(try index.settle(to: 0).seen.count == 1)
        index.put(key, at: 99, commit: 2)
        try index.end(2, bytes: 10)
        index.forget(upTo: 1, atMost: 9)
        #expect(index[key] == 99)
    }

    @Test("What is settled while a sweep runs is met by the next one, and other partitions do not matter")
    func expiryFloor() throws {
        let floor = ExpiryFloor(partitions: 3)
        #expect(floor.sweepBegins(1) == .min)
        floor.commitBegins(.ends(50, of: 1))
        floor.commitEnds()
        try floor.sweepEnds(1, first: 100)
        #expect(floor.sweepBegins(1) == 50)
        floor.commitBegins(.ends(30, of: 1))
        try floor.sweepEnds(1, first: 100)
        #expect(floor.sweepBegins(1) == 30, "the commit that runs counts too")
        floor.commitEnds()
        try floor.sweepEnds(1, first: 100)
        #expect(floor.sweepBegins(1) == 30)
        #expect(floor.sweepBegins(1) == nil, "one sweep at a time")
        #expect(floor.sweepBegins(2) == .min, "in each partition")
        floor.commitBegins(.ends(7, of: 2))
        floor.commitEnds()
        try floor.sweepEnds(1, first: 100)
        #expect(floor.sweepBegins(1) == 100)
        try floor.sweepEnds(2, first: 100)
        #expect(floor.sweepBegins(2) == 7)
    }

    @Test("Of the ends of a partition the earliest counts, until it is forgotten")
    func earliestEnds() {
        var ends = EarliestEnds(partitions: 3)
        for (end, partition) in [(9, 1), (5, 1), (7, 1), (8, 2)] as [(Int64, Int)] {
            ends.add(end, of: partition)
        }
        #expect((0...2).map { ends[$0] } == [.max, 5, 8])
        var other = EarliestEnds.ends(6, of: 2)
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

extension EarliestEnds {
    /// One end, of a partition of three.
    static func ends(_ end: UnixMilliseconds, of partition: Int) -> EarliestEnds {
        var ends = EarliestEnds(partitions: 3)
        ends.add(end, of: partition)
        return ends
    }
}
