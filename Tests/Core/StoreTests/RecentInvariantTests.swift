import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// Invariants of the recent messages, the watermarks and the journal, each by itself.
@Suite struct RecentInvariantTests {
    @Test("Recent messages refuse a record outside its frame, a second put and a decreasing count")
    func recent() throws {
        var recent = RecentMessages(tallies: [Tally()])
        let frame: [UInt8] = [1, 2]
        let place = MessageKey(kind: .message, owner: 5, sequence: 1)
        func put(_ record: Range<Int>) -> RecentChange {
            .put(place, record: record, .init(isCounted: true, expiresAt: 9))
        }
        var counted = Tally()
        counted.downstream.accepted = 1
        try recent.apply([put(0..<1)], of: frame.raw, counted: [(0, counted)])
        for (changes, counts, problem) in [
            ([put(1..<3)], [], "a record ends after its frame"),
            ([put(0..<2)], [], "a recent message is put twice"),
            ([], [(0, Tally())], "a downstream count decreases"),
            ([], [(1, counted)], "a tally has an invalid partition"),
        ] as [([RecentChange], [(partition: Int, tally: Tally)], String)] {
            let error = brokenInvariant { try recent.apply(changes, of: frame.raw, counted: counts) }
            #expect(error?.description == problem)
        }
        counted = Tally()
        counted.downstream.accepted = 1
        counted.upstream.accepted = -1
        #expect(
            brokenInvariant { try counted.demandFollows(Tally(), partition: 0) }?.description
                == "an upstream count decreases")
    }

    @Test("The bytes of a commit cannot be used or released once they are given back")
    func frames() throws {
        var frames = RecentFrames()
        let bytes: [UInt8] = [1]
        let number = frames.keep(bytes.raw)
        try frames.retain(number)
        try frames.release(number)
        try frames.release(number)
        #expect(brokenInvariant { try frames.retain(number) }?.kind == .invariant)
        #expect(brokenInvariant { try frames.release(number) }?.kind == .invariant)
        #expect(brokenInvariant { try frames.release(7) }?.kind == .invariant)
        #expect(frames.count == 0)
    }

    @Test("The index refuses a second put, a commit out of order, and a commit without bytes")
    func index() throws {
        var index = RecentIndex(partitions: 1)
        let place = MessageKey(kind: .message, owner: 1, sequence: 1)
        let header = MessageRecord.Header(isCounted: true, expiresAt: 9)
        try index.put(place, in: 0, header, commit: 1)
        #expect(brokenInvariant { try index.put(place, in: 0, header, commit: 1) }?.owner == "pending/1/1")
        try index.end(1, bytes: 10)
        #expect(
            brokenInvariant { try index.end(1, bytes: 10) }?.description == "commits do not end in order")
        #expect(brokenInvariant { try index.end(2, bytes: 0) }?.description == "a commit has no bytes")
        let other = MessageKey(kind: .message, owner: 1, sequence: 2)
        #expect(
            brokenInvariant { try index.put(other, in: 0, header, commit: 1) }?.description
                == "a message is put by a commit that has already ended")
    }

    @Test("A sweep that has not begun cannot end")
    func watermark() {
        let watermark = ExpiryWatermark(partitions: 2)
        #expect(brokenInvariant { try watermark.sweepEnds(1, first: 9) }?.owner == "partition 1")
    }

    @Test("The journal refuses a commit without entries, and a second file behind an empty one")
    func journal() throws {
        let directory = ScratchDirectory()
        var journal = try Journal(directory.path, EngineSizes(), after: 0, keepsSyncMark: false)
        var writer = JournalWriter()
        writer.begin()
        let empty = brokenInvariant { _ = try journal.append(&writer) }
        #expect(empty?.description == "a commit has no entries")
        let second = brokenInvariant { try journal.rotate() }
        #expect(second?.description == "a journal file ends without commits")
        let commit = journal.commit
        #expect(commit == 0)
    }
}
