import Basics
import Delivery
import Foundation
import Store
import Synchronization
import Testing

@testable import RocksStore

/// Behaviour of the store on disk only: restarts, locks, formats and damage.
@Suite struct RocksStoreTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    @Test(
        "A store keeps committed data when it is reopened, with and without an orderly close",
        arguments: Kind.onDisk)
    func reopens(_ kind: Kind) throws {
        var model = NaiveModel()
        var batches = RandomBatches(seed: 11)
        for round in 0..<6 {
            let store = try RocksStore(path: path, sizes: kind.sizes)
            #expect(try model.difference(from: store, devices: RandomBatches.owners, at: batches.now) == nil)
            for _ in 0..<60 {
                let next = batches.next()
                #expect(try store.commit(next) == next.map { model.apply($0) })
            }
            if round % 2 == 0 { try store.close() }
        }
    }

    @Test("A store loses nothing when its process is killed", arguments: Kind.onDisk)
    func killed(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        var model = NaiveModel()
        var batches = RandomBatches(seed: 12)
        for _ in 0..<10 {
            for _ in 0..<40 {
                let next = batches.next()
                #expect(try store.commit(next) == next.map { model.apply($0) })
            }
            let copy = try directory.copied()
            let found = try RocksStore(path: copy.path + "/db")
            #expect(try model.difference(from: found, devices: RandomBatches.owners, at: batches.now) == nil)
        }
    }

    @Test(
        "A store has all durable commits, a prefix of the others and matching tallies after a power cut",
        arguments: 1...12 as ClosedRange<UInt64>)
    func powerCut(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let store = try RocksStore(path: path)
        for sequence in 1...50 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        let log = try #require(try ScratchDirectory.newestLog(in: path))
        let synced = try Data(contentsOf: URL(fileURLWithPath: log)).count
        for sequence in 1...50 as ClosedRange<UInt64> {
            try store.apply(
                .removeMessage(DeviceID(5), SequenceNumber(sequence), expiresAt: 0, reason: .delivered),
                durable: false)
        }
        let copy = try directory.copied()
        let copiedLog = log.replacingOccurrences(of: directory.path, with: copy.path)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copiedLog))
        bytes = bytes.prefix(Int.random(in: synced...bytes.count, using: &random))
        if seed % 3 == 0 {
            bytes.append(Data((0..<100).map { _ in UInt8.random(in: 0...255, using: &random) }))
        }
        try bytes.write(to: URL(fileURLWithPath: copiedLog))
        let found = try RocksStore(path: copy.path + "/db")
        let audit = try found.audit()
        #expect(audit.holds)
        #expect(audit.downstream.accepted == 50)
        let left = try found.mailbox(5).map(\.sequence.number)
        #expect(left == Array((1...50 as ClosedRange<UInt64>).suffix(left.count)))
    }

    @Test("Opening fails with the name of the process that has the store open")
    func locked() throws {
        let store = try RocksStore(path: path)
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
        #expect(error?.kind == .locked)
        #expect(error?.description.contains("already open in this process") == true)
        // The failed attempt must not have released the lock.
        try store.apply(.putMessage(Samples.message(1, 1)))
        #expect(throws: StoreError.self) { try RocksStore(path: path) }
        try store.close()
        #expect(try RocksStore(path: path).mailbox(1).count == 1)
    }

    @Test("The directory is accessible to its owner only")
    func mode() throws {
        let store = try RocksStore(path: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o700)
        try store.close()
    }

    @Test("Opening rejects a newer format")
    func newerFormat() throws {
        try RocksStore(path: path).close()
        try raw { engine in
            let (key, value) = (MetaKey.format, [UInt8]("\(MetaKey.formatNow + 1)".utf8))
            try engine.put(.meta, key.raw, value.raw)
        }
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
        #expect(error?.kind == .newerFormat)
    }

    @Test("Unreadable records are named by the audit, skipped by loads, and never removed")
    func corruption() throws {
        let store = try RocksStore(path: path)
        for sequence in 1...3 as ClosedRange<UInt64> {
            try store.apply(
                .putMessage(Samples.message(5, sequence, ends: 100)),
                .putUpstream(Samples.upstream(8, sequence), now: 0),
                .putRegistration(Samples.registration(6, sequence)), .putDevice(Samples.device(sequence)))
        }
        #expect(try store.audit().holds, "the canary: it holds before the damage")
        try store.close()
        try raw { engine in
            let garbage: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
            try engine.put(.pending, Key(5, 2).bytes, garbage.raw)
            try engine.put(.upstream, Key(8, 1).bytes, garbage.raw)
            try engine.put(.registry, Key.registration(Samples.registration(6, 3).name).bytes, garbage.raw)
            try engine.put(.registry, Key.device(DeviceID(2)).bytes, [UInt8]().raw)
        }
        let damaged = try RocksStore(path: path)
        #expect(try damaged.mailbox(5).map(\.sequence.number) == [1, 3])
        #expect(try damaged.outbox(8).map(\.sequence.number) == [2, 3])
        #expect(try damaged.state(5)?.mailbox.count == 2)
        #expect(try damaged.figures().skippedRecords == 3)
        let error = #expect(throws: StoreError.self) { try damaged.load(.device(DeviceID(6))) }
        #expect(error?.kind == .corrupt)
        #expect(error?.description == "registry/6/3: wrong checksum")
        // Other loads of the same call succeed.
        let round = damaged.load([.device(DeviceID(6)), .device(DeviceID(5)), .device(DeviceID(6))])
        #expect(throws: StoreError.self) { try round[0].get() }
        guard case .device(let state) = try round[1].get() else { throw error ?? StoreError(.corrupt, "") }
        #expect(state.mailbox.count == 2)
        #expect(throws: StoreError.self) { try round[2].get() }
        // The expiry entry is removed, the record is not.
        try damaged.apply(.removeMessage(DeviceID(5), SequenceNumber(2), expiresAt: 100, reason: .expired))
        #expect(try damaged.expired(by: 100).count == 2)
        let audit = try damaged.audit()
        #expect(!audit.holds)
        #expect(
            audit.unreadable.sorted() == [
                "pending/5/2: wrong checksum", "registry/2: wrong length", "registry/6/3: wrong checksum",
                "upstream/8/1: wrong checksum",
            ])
        #expect(audit.downstreamPending == 2 && audit.upstreamPending == 2 && audit.devices == 2)
    }

    @Test("A store is reopened and works after a failed write")
    func failedWrite() throws {
        let store = try RocksStore(path: path)
        try store.apply(.putMessage(Samples.message(5, 1)))
        #expect(throws: StoreError.self) {
            try store.withCommitter { (_) throws(StoreError) in throw StoreError(.inputOutput, "planted") }
        }
        try store.apply(.putMessage(Samples.message(5, 2)))
        #expect(try store.mailbox(5).count == 2)
        #expect(try store.audit().holds)
    }

    @Test("Commits without a sync that are gone after a failed write are reported, others are not")
    func lostCommits() throws {
        let store = try RocksStore(path: path)
        let lost = Mutex<[StoreError]>([])
        store.whenCommitsAreLost { error in lost.withLock { $0.append(error) } }
        func write(_ sequence: UInt64) throws {
            _ = try store.commit([
                WriteBatch(
                    batchNumber: sequence, mutations: [.putMessage(Samples.message(5, sequence))],
                    isDurable: false)
            ])
        }
        func fail() {
            #expect(throws: StoreError.self) {
                try store.withCommitter { (_) throws(StoreError) in throw StoreError(.inputOutput, "planted")
                }
            }
        }
        try write(1)
        fail()
        #expect(lost.withLock { $0.isEmpty })
        let journal = URL(fileURLWithPath: try #require(try ScratchDirectory.newestLog(in: path)))
        let before = try Data(contentsOf: journal)
        try write(2)
        #expect(try store.mailbox(5).count == 2)
        // The file system has dropped what could not be synced.
        try before.write(to: journal)
        fail()
        #expect(lost.withLock { $0.map(\.kind) } == [.lost])
        #expect(try store.mailbox(5).count == 1)
    }

    @Test("Calls to a closed store fail")
    func closed() throws {
        let store = try RocksStore(path: path)
        try store.close()
        try store.close()
        #expect(throws: StoreError.self) { try store.apply(.putMessage(Samples.message(5, 1))) }
        #expect(throws: StoreError.self) { try store.mailbox(5) }
    }

    @Test("A compaction drops IDs that are older than a day")
    func forgetting() throws {
        var sizes = EngineSizes()
        sizes.recent = 0
        let store = try RocksStore(path: path, sizes: sizes)
        for sequence in 1...40 as ClosedRange<UInt64> {
            try store.apply(
                .putUpstream(
                    Samples.upstream(8, sequence, persistentID: "p\(sequence)"), now: Int64(sequence)))
        }
        #expect(try store.compactedSeen() == 40)
        let later = Int64(Limits.Message.upstreamMemorySeconds) * 1_000 + 21
        try store.apply(.putUpstream(Samples.upstream(8, 99, persistentID: "new"), now: later))
        #expect(try store.compactedSeen() == 20)
    }

    @Test("Error messages of the engine are mapped to kinds of failures")
    func faults() {
        #expect(kind(of: "IO error: No space left on device: While appending to file") == .full)
        #expect(kind(of: "IO error: While lock file: /x/LOCK: Resource temporarily unavailable") == .locked)
        #expect(kind(of: "Corruption: block checksum mismatch") == .corrupt)
        #expect(kind(of: "IO error: Input/output error") == .inputOutput)
    }

    private func raw(_ body: (Engine) throws -> Void) throws {
        try body(try Engine(path: path, memory: SeenFilter()))
    }
}

extension ScratchDirectory {
    /// Returns the path of the newest journal file.
    static func newestLog(in path: String) throws -> String? {
        try FileManager.default.contentsOfDirectory(atPath: path).filter {
            JournalFolder.first(of: $0) != nil
        }.max()
            .map { "\(path)/\($0)" }
    }
}
