import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// What the RocksDB store keeps in memory: recent writes, what is remembered of repeats, and where sweeps begin.
@Suite struct RocksMemoryTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    @Test(
        "What is remembered of repeats goes when the engine has it on the disk, and what was put again since stays"
    )
    func remembered() throws {
        var index = YoungIndex()
        let keys = (1...3 as ClosedRange<UInt64>).map {
            SeenKey(Samples.upstream(7, 1, device: $0, persistentID: "p"))
        }
        for (commit, key) in [(1, keys[0]), (2, keys[1]), (3, keys[0]), (4, keys[2])] as [(UInt64, SeenKey)] {
            index.put(key, at: Int64(commit), commit: commit)
            try index.end(commit, bytes: 10)
        }
        #expect(try index.settle(to: 10).commit == 3)
        index.forget(upTo: 1, atMost: 9)
        #expect(index[keys[0]] == 3, "the engine has that of the first commit only")
        #expect(index[keys[1]] == 2 && index[keys[2]] == 4)
        index.forget(upTo: 2, atMost: 9)
        #expect(index[keys[0]] == 3 && index[keys[1]] == nil)
        index.forget(upTo: 9, atMost: 9)
        #expect(index[keys[0]] == nil && index[keys[2]] == 4, "the last is not settled")
    }

    @Test("A queue gives each element once and in order, however long it has been used")
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

    @Test("What ends at a time is due at that time")
    func due() throws {
        var young = Young(tallies: [Tally()])
        let place = Place(kind: .message, owner: 5, sequence: 1)
        let bytes: [UInt8] = [1]
        try young.apply(
            [.put(place, record: 0..<1, .init(isCounted: true, expiresAt: 10))], of: bytes.raw,
            counted: [])
        #expect(try young.ends(by: 9, of: 0, limit: 9).isEmpty)
        for _ in 0..<2 { #expect(try young.ends(by: 10, of: 0, limit: 9).map(\.sequence) == [1]) }
    }

    @Test("The bytes of a commit are given back with the last of its messages, and none are left behind")
    func bytesAreReleased() throws {
        var young = Young(tallies: [Tally()])
        let bytes: [UInt8] = [1, 2]
        func place(_ sequence: UInt64) -> Place { Place(kind: .upstream, owner: 5, sequence: sequence) }
        func put(_ sequence: UInt64) -> YoungChange {
            .put(place(sequence), record: 0..<1, .init(isCounted: true, expiresAt: 10))
        }
        for round in 0..<3 {
            try young.apply([put(1), put(2)], of: bytes.raw, counted: [])
            try young.apply([put(3)], of: bytes.raw, counted: [])
            #expect(young.frameCount == 2)
            try young.remove(place(1))
            #expect(young.frameCount == 2)
            try young.apply([.remove(place(2)), put(4), .remove(place(4))], of: bytes.raw, counted: [])
            #expect(young.frameCount == 1)
            try young.apply([.remove(place(3))], of: bytes.raw, counted: [])
            #expect(young.frameCount == 0, "round \(round)")
        }
    }

    @Test(
        "A sweep begins where the one before has found nothing earlier; two at once know nothing of each other"
    )
    func floor() throws {
        let floor = ExpiryFloor(partitions: 3)
        #expect(floor.sweepBegins(1) == UnixMilliseconds.min)
        #expect(floor.sweepBegins(1) == nil)
        try floor.sweepEnds(1, first: 40)
        #expect(floor.sweepBegins(1) == 40)
        try floor.sweepEnds(1, first: nil)
        floor.commitBegins(.ends(5, of: 1))
        floor.commitEnds()
        #expect(floor.sweepBegins(1) == 5)
        try floor.sweepEnds(1, first: 50)
        #expect(floor.sweepBegins(1) == 50, "what was committed before it has been swept")
        try floor.sweepEnds(1, first: 50)
        floor.commitBegins(EarliestEnds(partitions: 3))
        floor.commitEnds()
        #expect(floor.sweepBegins(1) == 50)
    }

    @Test("A clock that was set back does not bring back what need not be remembered any more")
    func clockSetBack() throws {
        let store = try RocksStore(path: path, sizes: Kind.settling.sizes)
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
