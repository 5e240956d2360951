import Basics
import BasicsSupport
import Delivery
import Foundation
import Store
import Synchronization
import Testing

@testable import RocksStore

/// Copies of an open store: each has exactly the commits before it, and the store goes on undisturbed.
@Suite struct CheckpointTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    /// Returns a copy of a checkpoint that outlives it.
    private func kept(_ checkpoint: StoreCheckpoint) throws -> ScratchDirectory {
        let copy = ScratchDirectory()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: checkpoint.path).sorted() == checkpoint.files)
        try FileManager.default.copyItem(atPath: checkpoint.path, toPath: copy.path + "/db")
        return copy
    }

    @Test(
        "A checkpoint at a random moment equals the model of that moment", arguments: Kind.onDisk,
        FreshSeeds.draw(1, number: "CCS_STORE_SEEDS"))
    func moments(_ kind: Kind, _ seed: UInt64) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        var (batches, model) = (RandomBatches(seed: seed), NaiveModel())
        var random = SeededRandom(seed: seed)
        var taken: [(copy: ScratchDirectory, commit: UInt64, model: NaiveModel, now: UnixMilliseconds)] = []
        for round in 1...600 {
            let next = batches.next()
            _ = try store.commit(next)
            for batch in next { _ = model.apply(batch) }
            guard round % 200 == 100 || Int.random(in: 0..<60, using: &random) == 0 else { continue }
            let checkpoint = try store.checkpoint()
            taken.append((try kept(checkpoint), checkpoint.commit, model, batches.now))
        }
        #expect(taken.count >= 3)
        #expect(zip(taken, taken.dropFirst()).allSatisfy { $0.commit <= $1.commit })
        for moment in taken {
            let opened = try RocksStore(path: moment.copy.path + "/db", sizes: kind.sizes)
            #expect(try opened.audit().holds)
            let difference = try moment.model.difference(
                from: opened, devices: RandomBatches.owners, at: moment.now)
            #expect(difference == nil, "commit \(moment.commit)")
            // The copy is a store like any other.
            try opened.apply(.putMessage(Samples.message(99, 1)))
            try opened.close()
        }
        #expect(try model.difference(from: store, devices: RandomBatches.owners, at: batches.now) == nil)
    }

    @Test("Checkpoints during commits of another thread have a whole prefix of them", arguments: Kind.onDisk)
    func concurrent(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        let isEnding = Atomic<Bool>(false)
        let last = Atomic<UInt64>(0)
        let thread = Thread {
            var sequence: UInt64 = 0
            while !isEnding.load(ordering: .relaxed) {
                sequence += 1
                _ = try? store.apply(
                    .putMessage(Samples.message(5, sequence)), durable: sequence % 4 == 0)
                last.store(sequence, ordering: .relaxed)
            }
            last.store(.max, ordering: .relaxed)
        }
        thread.start()
        for _ in 0..<8 {
            let before = last.load(ordering: .relaxed)
            let copy = try kept(try store.checkpoint())
            let after = last.load(ordering: .relaxed)
            let opened = try RocksStore(path: copy.path + "/db", sizes: kind.sizes)
            let audit = try opened.audit()
            #expect(audit.holds)
            let found = try opened.mailbox(5, limit: 1_000_000).map(\.sequence.number)
            #expect(found == Array(1..<UInt64(found.count + 1)))
            #expect(UInt64(found.count) >= before && UInt64(found.count) <= after + 1)
        }
        isEnding.store(true, ordering: .relaxed)
        while last.load(ordering: .relaxed) != .max { usleep(1_000) }
    }

    @Test("A checkpoint flushes nothing: what only memory has is in its journal files")
    func unflushed() throws {
        let store = try RocksStore(path: path, sizes: Kind.moving.sizes)
        for sequence in 1...20 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        let tables = { (path: String) in
            try FileManager.default.contentsOfDirectory(atPath: path).count { $0.hasSuffix(".sst") }
        }
        let before = try tables(path)
        let checkpoint = try store.checkpoint()
        #expect(try tables(path) == before && tables(checkpoint.path) == before)
        #expect(checkpoint.commit == 20)
        #expect(checkpoint.files.contains { $0.hasPrefix(JournalFolder.head) })
        // Nothing is committed in between: the same journal files again, and no empty one.
        #expect(try store.checkpoint().files.count { $0.hasPrefix(JournalFolder.head) } == 1)
    }

    @Test("Files of a checkpoint stay after the store has removed its own", arguments: [Kind.rotating])
    func links(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        for sequence in 1...50 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        let checkpoint = try store.checkpoint()
        for sequence in 51...400 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        for family in Family.allCases { try store.withEngine { $0.compact(family) } }
        let copy = try kept(checkpoint)
        let opened = try RocksStore(path: copy.path + "/db", sizes: kind.sizes)
        #expect(try opened.mailbox(5).count == 50)
        try store.removeCheckpoint()
        #expect(!FileManager.default.fileExists(atPath: checkpoint.path))
    }

    @Test("A checkpoint whose journal is truncated or missing does not open")
    func truncated() throws {
        let store = try RocksStore(path: path)
        for sequence in 1...20 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        for isMissing in [false, true] {
            let copy = try kept(try store.checkpoint())
            let name = try #require(
                FileManager.default.contentsOfDirectory(atPath: copy.path + "/db").first {
                    $0.hasPrefix(JournalFolder.head)
                })
            let file = "\(copy.path)/db/\(name)"
            if isMissing {
                try FileManager.default.removeItem(atPath: file)
            } else {
                let handle = try #require(FileHandle(forUpdatingAtPath: file))
                try handle.truncate(atOffset: handle.seekToEnd() - 1)
                try handle.close()
            }
            let error = #expect(throws: StoreError.self) { try RocksStore(path: copy.path + "/db") }
            #expect(error?.kind == .lost)
        }
    }

    @Test("A start removes what a killed process has left of a checkpoint; an open store keeps its own")
    func leftover() throws {
        let store = try RocksStore(path: path)
        let checkpoint = try store.checkpoint()
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
        #expect(error?.kind == .locked)
        #expect(FileManager.default.fileExists(atPath: checkpoint.path))
        let copy = try directory.copied()
        try FileManager.default.createDirectory(
            atPath: copy.path + "/db/checkpoint.tmp", withIntermediateDirectories: false)
        _ = try RocksStore(path: copy.path + "/db")
        let left = try FileManager.default.contentsOfDirectory(atPath: copy.path + "/db")
        #expect(!left.contains { $0.hasPrefix("checkpoint") })
    }

    @Test("A checkpoint that fails leaves the store as it was")
    func failed() throws {
        let store = try RocksStore(path: path)
        try store.apply(.putMessage(Samples.message(5, 1)))
        // A file that cannot be removed like the rest of a checkpoint.
        try FileManager.default.createDirectory(
            atPath: path + "/checkpoint/folder", withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { try store.checkpoint() }
        try store.apply(.putMessage(Samples.message(5, 2)))
        try FileManager.default.removeItem(atPath: path + "/checkpoint")
        // The next journal file cannot be created: the store is reopened.
        let obstacle = "\(path)/\(JournalFolder.name(3))"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(throws: StoreError.self) { try store.checkpoint() }
        try FileManager.default.removeItem(atPath: obstacle)
        try store.apply(.putMessage(Samples.message(5, 3)))
        #expect(try store.mailbox(5).map(\.sequence.number) == [1, 2, 3] && store.audit().holds)
        #expect(try store.checkpoint().commit >= 3)
    }

    @Test("The lock of a closed store is refused while the store is open, and names the process")
    func lock() throws {
        let store = try RocksStore(path: path)
        let error = #expect(throws: StoreError.self) { try ClosedStore(path: path) }
        #expect(error?.kind == .locked)
        #expect(error?.description.contains("is already open in this process") == true)
        try store.close()
        let lock = try ClosedStore(path: path)
        #expect(throws: StoreError.self) { try RocksStore(path: path) }
        withExtendedLifetime(lock) {}
        #expect(throws: StoreError.self) { try store.checkpoint() }
    }
}
