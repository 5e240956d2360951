import Basics
import Delivery
import Foundation
import Glibc
import Store
import Testing

@testable import RocksStore

/// Journal files, replays and failures.
@Suite struct RocksEdgesTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    private func raw(_ body: (Engine) throws -> Void) throws {
        try body(try Engine(path: path, memory: SeenFilter()))
    }

    /// Returns the first commits of the journal files.
    private func files(_ path: String) throws -> [UInt64] {
        try FileManager.default.contentsOfDirectory(atPath: path).compactMap {
            JournalFolder.first(of: $0)
        }.sorted()
    }

    private func message(_ sequence: UInt64, ends: UnixMilliseconds = Samples.now) -> Mutation {
        .putMessage(Samples.message(5, sequence, ends: ends))
    }

    private func frame(_ commit: UInt64) -> Data {
        var writer = JournalWriter()
        writer.begin()
        writer.put(.installations, Key(commit).bytes, Key().bytes)
        writer.seal(commit: commit, segment: commit)
        return Data(writer.frame.copied())
    }

    // MARK: Files

    private func write(to journal: inout Journal) throws {
        var writer = JournalWriter()
        writer.begin()
        writer.put(.installations, Key(1).bytes, Key().bytes)
        _ = try journal.append(&writer)
    }

    @Test("A journal file is removed when the engine has all of its commits, except for the last file")
    func retired() throws {
        let folder = directory.path
        var journal = try Journal(folder, EngineSizes(), after: 0, keepsSyncMark: false)
        for _ in 0..<2 {
            try write(to: &journal)
            try write(to: &journal)
            try journal.rotate()
        }
        for (applied, left) in [
            (0, [1, 3, 5]), (1, [1, 3, 5]), (2, [3, 5]), (3, [3, 5]), (4, [5]), (9, [5]),
        ] as [(UInt64, [UInt64])] {
            journal.retire(upTo: applied)
            #expect(try files(folder) == left, "up to \(applied)")
        }
    }

    @Test("A scan reads a file when only its last commit is missing in the engine")
    func lastOfFile() throws {
        let store = try RocksStore(path: path)
        try store.apply(message(1))
        try store.apply(message(2))
        try store.close()
        for commit in [3, 4] as [UInt64] {
            try frame(commit).write(to: URL(fileURLWithPath: "\(path)/\(JournalFolder.name(commit))"))
        }
        let scan = try JournalScan(path)
        #expect(scan.applied == 2 && scan.commit == 4 && scan.unreachable.isEmpty)
    }

    @Test("A name is that of a journal file only with all digits and nothing after them")
    func names() {
        let name = JournalFolder.name(7)
        #expect(
            JournalFolder.first(of: name) == 7 && JournalFolder.first(of: JournalFolder.name(.max)) == .max)
        for other in ["journal-7", "journal-", name + JournalFolder.lost, name + "0", "journal" + name] {
            #expect(JournalFolder.first(of: other) == nil, "\(other)")
        }
    }

    @Test("A store keeps a message after it was opened and closed twice without writes")
    func openedTwice() throws {
        for _ in 0..<2 { try RocksStore(path: path).close() }
        let store = try RocksStore(path: path)
        try store.apply(message(1))
        let killed = try directory.copied()
        #expect(try RocksStore(path: killed.path + "/db").mailbox(5).count == 1)
    }

    @Test("A loss can be accepted when the file of an earlier loss is still there")
    func lostTwice() throws {
        let store = try RocksStore(path: path)
        for sequence in 1...20 as ClosedRange<UInt64> { try store.apply(message(sequence)) }
        let killed = try directory.copied()
        let log = try #require(try ScratchDirectory.newestLog(in: killed.path + "/db"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: log))
        bytes[bytes.count / 2] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: log))
        let kept = URL(fileURLWithPath: log + JournalFolder.lost)
        try Data([1]).write(to: kept)
        #expect(try RocksStore.acceptLoss(path: killed.path + "/db") != nil)
        #expect(try Data(contentsOf: kept) == Data([1]))
        #expect(try RocksStore(path: killed.path + "/db").mailbox(5).count > 0)
    }

    // MARK: Replay

    @Test("A replay restores the last tally when later files have none")
    func countsAcrossFiles() throws {
        var sizes = EngineSizes()
        sizes.segment = 1
        let store = try RocksStore(path: path, sizes: sizes)
        try store.apply(message(1))
        for device in 1...3 as ClosedRange<UInt64> { try store.apply(.putDevice(Samples.device(device))) }
        #expect(try files(path).count > 2, "canary")
        let killed = try directory.copied()
        let audit = try RocksStore(path: killed.path + "/db").audit()
        #expect(audit.downstream.accepted == 1 && audit.devices == 3 && audit.holds)
    }

    @Test(
        "A replayed message can be removed, and its key is taken until then",
        arguments: Kind.onDisk)
    func replayedPlace(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        try store.apply(message(9), .putUpstream(Samples.upstream(8, 10), now: 0))
        let killed = try directory.copied()
        let again = try RocksStore(path: killed.path + "/db", sizes: kind.sizes)
        #expect(try again.mailbox(5).count == 1 && again.outbox(8).count == 1, "canary")
        try again.apply(message(9))
        #expect(try again.audit().downstream.accepted == 1)
        try again.apply(
            .removeMessage(DeviceID(5), SequenceNumber(9), expiresAt: Samples.now, reason: .delivered),
            .removeUpstream(SenderID(8), SequenceNumber(10), expiresAt: Samples.now, reason: .delivered))
        #expect(try again.mailbox(5).isEmpty && again.outbox(8).isEmpty)
        let audit = try again.audit()
        #expect(audit.downstream.delivered == 1 && audit.upstream.delivered == 1 && audit.holds)
    }

    @Test("A store has its format on disk from the first opening on")
    func format() throws {
        try RocksStore(path: path).close()
        try raw { engine in
            let key = MetaKey.format
            let format = try engine.get(.meta, key.raw) { (bytes) throws(StoreError) in
                [UInt8](copying: bytes)
            }
            #expect(format == Array("\(MetaKey.formatNow)".utf8))
        }
    }

    @Test("Opening reports damage when a number in meta has the wrong length")
    func numbers() throws {
        try RocksStore(path: path).close()
        try raw { engine in
            let (key, value) = (MetaKey.applied, [1, 2, 3] as [UInt8])
            try engine.put(.meta, key.raw, value.raw)
        }
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
        #expect(error?.kind == .damaged)
    }

    @Test("An ID of one device is new from another device after a restart")
    func idsOfDevices() throws {
        func put(_ store: RocksStore, _ sequence: UInt64, device: UInt64) throws -> Bool {
            let upstream = Samples.upstream(8, sequence, device: device, persistentID: "p")
            return try store.apply(.putUpstream(upstream, now: 5)).duplicates.isEmpty
        }
        let store = try RocksStore(path: path)
        #expect(try put(store, 1, device: 5))
        try store.close()
        let again = try RocksStore(path: path)
        #expect(try put(again, 2, device: 6) && !put(again, 3, device: 5) && !put(again, 4, device: 6))
    }

    // MARK: Order

    @Test(
        "A commit is synced when it returns if it is durable or writes to the engine"
    )
    func synced() throws {
        let device = WriteBatch(
            batchNumber: 1, mutations: [.putDevice(Samples.device(5))], isDurable: false)
        for (name, batches, synced) in [
            ("none", [Samples.batch(message(1), durable: false)], 0), ("engine", [device], 1),
            ("first", [Samples.batch(message(1)), Samples.batch(message(2), durable: false)], 1),
            ("last", [Samples.batch(message(1), durable: false), Samples.batch(message(2))], 1),
        ] as [(String, [WriteBatch], UInt64)] {
            let store = try RocksStore(path: "\(directory.path)/\(name)")
            _ = try store.commit(batches)
            #expect(try SyncMark.read("\(directory.path)/\(name)") == .synced(synced), "\(name)")
        }
    }

    @Test("The engine is flushed when its memtables exceed their limit")
    func writtenOut() throws {
        var sizes = EngineSizes()
        sizes.buffers = 20_000
        let store = try RocksStore(path: path, sizes: sizes)
        for device in 1...600 as ClosedRange<UInt64> {
            try store.apply(.putDevice(Samples.device(device)), durable: false)
        }
        func isOnDisk() throws -> Bool {
            try store.withEngine { (engine) throws(StoreError) in
                let key = Key.device(DeviceID(1))
                return try engine.get(.registry, key.bytes, onDisk: true) { (bytes) throws(StoreError) in
                    bytes.byteCount
                } != nil
            }
        }
        let end = ContinuousClock.now + .seconds(60)
        while try !isOnDisk(), ContinuousClock.now < end { usleep(10_000) }
        #expect(try isOnDisk())
    }

    @Test("The engine is flushed again only when its memtables have filled up again")
    func flushedInTurn() throws {
        var sizes = EngineSizes()
        sizes.buffers = 20_000
        let store = try RocksStore(path: path, sizes: sizes)
        let commits: UInt64 = 1_500
        for device in 1...commits { try store.apply(.putDevice(Samples.device(device)), durable: false) }
        let tables = (FileManager.default.enumerator(atPath: path)?.compactMap { "\($0)" } ?? []).filter {
            $0.hasSuffix(".sst")
        }
        // Each file of the engine has a number of its own.
        let numbers = tables.compactMap { UInt64($0.split(separator: "/").last?.dropLast(4) ?? "") }
        #expect(!numbers.isEmpty && numbers.max() ?? .max < commits / 4, "\(numbers.sorted())")
    }

    @Test("A sweep returns up to its limit, earliest first, from the engine and from recent messages")
    func mixedSweep() throws {
        var sizes = EngineSizes()
        sizes.recent = 600
        let store = try RocksStore(path: path, sizes: sizes)
        for sequence in 1...20 as ClosedRange<UInt64> {
            try store.apply(message(sequence, ends: 1_000 + Int64(sequence * 7 % 20)))
        }
        func sequences(_ limit: Int) throws -> [UInt64] {
            try store.expired(by: .max, limit: limit).map { entry in
                if case .message(_, let sequence, _) = entry { sequence.number } else { 0 }
            }
        }
        let all = (1...20 as ClosedRange<UInt64>).sorted { $0 * 7 % 20 < $1 * 7 % 20 }
        for limit in [1, 4, 9, 19, 20, 21] {
            #expect(try sequences(limit) == Array(all.prefix(limit)), "\(limit)")
        }
        #expect(try store.mailbox(5).map(\.sequence.number) == Array(1...20))
    }

    // MARK: Failures

    /// Redirects the descriptor of an open file to another file.
    private func redirect(_ file: String, to target: String) throws {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let found = descriptors.first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file
        }
        let number = try #require(found.flatMap { Int32($0) })
        let other = Glibc.open(target, O_WRONLY | O_CLOEXEC)
        try #require(other >= 0 && dup2(other, number) == number)
        close(other)
    }

    @Test(
        "A commit fails and stays invisible when it cannot be written, and the next one succeeds",
        arguments: Kind.onDisk)
    func failed(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        try store.apply(message(1))
        try store.apply(message(2), durable: false)
        try redirect(try #require(try ScratchDirectory.newestLog(in: path)), to: "/dev/full")
        let error = #expect(throws: StoreError.self) { try store.apply(message(3)) }
        #expect(error?.kind == .full)
        #expect(try store.mailbox(5).map(\.sequence.number) == [1, 2])
        try store.apply(message(4))
        #expect(try store.mailbox(5).map(\.sequence.number) == [1, 2, 4])
        let killed = try directory.copied()
        let again = try RocksStore(path: killed.path + "/db", sizes: kind.sizes)
        #expect(try again.mailbox(5).map(\.sequence.number) == [1, 2, 4])
        #expect(try again.audit().holds && again.audit().downstream.accepted == 3)
    }

    @Test("Reading a file fails when it is unreadable, and returns nil when it is absent or too large")
    func unreadableFiles() throws {
        let file = directory.path + "/file"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file))
        #expect(try StoreFiles.read(file, limit: 3) == [1, 2, 3])
        #expect(try StoreFiles.read(file, limit: 2) == nil)
        #expect(try StoreFiles.read(file + "-gone", limit: 9) == nil)
        #expect(throws: StoreError.self) { try StoreFiles.read(file + "/below", limit: 9) }
    }

    @Test("The names in a folder are returned in order")
    func sortedNames() throws {
        let names = (10..<60).map { "journal-\($0)" }
        for name in names.shuffled() {
            try Data().write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
        }
        try Data().write(to: URL(fileURLWithPath: "\(directory.path)/other"))
        #expect(try StoreFiles.names(in: directory.path, beginning: "journal-") == names)
    }

    @Test("Loads, lists and removals count each skipped unreadable record once")
    func passedOver() throws {
        let store = try RocksStore(path: path)
        let ids = Samples.installations
        let link = Samples.registration(5, 1).name
        try store.apply(message(1), message(2), .putDevice(Samples.device(2)))
        try store.apply(
            .putInstallation(Samples.installation(ids[0])), .linkInstallation(ids[0], link),
            .putInstallation(Samples.installation(ids[1])), .linkInstallation(ids[1], link))
        try store.close()
        try raw { engine in
            let garbage: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
            try engine.put(.pending, Key(5, 2).bytes, garbage.raw)
            try engine.put(.registry, Key.device(DeviceID(2)).bytes, garbage.raw)
            try engine.put(.installations, Key.installation(ids[0], nil).bytes, garbage.raw)
        }
        let damaged = try RocksStore(path: path)
        #expect(try damaged.figures().skippedRecords == 0)
        try damaged.apply(
            .removeMessage(DeviceID(5), SequenceNumber(2), expiresAt: Samples.now, reason: .expired))
        #expect(try damaged.figures().skippedRecords == 1)
        try damaged.apply(.putDevice(Samples.device(3)))
        #expect(try damaged.figures().skippedRecords == 1, "another commit has skipped none")
        #expect(try damaged.devices(after: nil, limit: 9).map(\.device.number) == [3])
        #expect(try damaged.figures().skippedRecords == 2)
        let readable = ListedInstallation(record: Samples.installation(ids[1]), registrations: 1)
        #expect(try damaged.installations(after: nil, limit: 9) == [readable])
        #expect(try damaged.figures().skippedRecords == 3)
    }

    @Test("The audit names unreadable records in every column family")
    func named() throws {
        try RocksStore(path: path).close()
        let label: [UInt8] = [1]
        try raw { engine in
            let garbage: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
            for row in [TopicRow.message, .body] {
                try engine.put(.fanouts, Key.topic(row, Samples.topicName(), of: 3).bytes, garbage.raw)
            }
            for row in [TopicRow.entry, .progress] {
                try engine.put(.fanouts, Key.topic(row, SequenceNumber(1), of: 3).bytes, garbage.raw)
            }
            try engine.put(.fanouts, Key.topicMark(of: 2, in: 3).bytes, garbage.raw)
            for row in [TopicRow.message, .entry, .gateway] {
                try engine.put(.fanouts, Key.topics(row, of: 3).bytes, garbage.raw)
            }
            try engine.put(.fanouts, Key(9).bytes, garbage.raw)
            try engine.put(.fanouts, Key(.max).bytes, garbage.raw)
            try engine.put(.registry, Key.position(DeviceID(5)).bytes, garbage.raw)
            try engine.put(
                .groups, Key.group(GroupName(sender: SenderID(1), number: 2)).bytes, garbage.raw)
            try engine.put(.groups, Key.groupLabel(SenderID(1), label).bytes, garbage.raw)
            try engine.put(.senders, Key(7).bytes, garbage.raw)
            try engine.put(.upstream, Key(8, 1).bytes, garbage.raw)
            try engine.put(.pending, Key(5, 1).bytes, garbage.raw)
        }
        let names = try RocksStore(path: path).audit().unreadable
        #expect(names.count == 16, "\(names)")
        #expect(names.filter { $0 == "fanouts/42/1: wrong checksum" }.count == 2)
        #expect(names.filter { $0 == "fanouts/3/1: wrong checksum" }.count == 2)
        #expect(names.contains("registry/5: wrong length"))
        #expect(names.contains("groups/1/2: wrong checksum") && names.contains("senders/7: wrong checksum"))
        #expect(names.filter { $0.hasSuffix(": impossible value") }.count == 7, "a label, a mark and keys")
    }

    @Test("The audit names up to a limit of unreadable records, and counts the others")
    func tooMany() throws {
        try RocksStore(path: path).close()
        try raw { engine in
            let batch = EngineBatch(engine)
            for sequence in 1...UInt64(Limits.Store.unreadableNames + 3) {
                batch.put(.pending, Key(5, sequence).bytes, Key().bytes)
            }
            try engine.write(batch)
            try engine.flush(waits: true)
        }
        let names = try RocksStore(path: path).audit().unreadable
        #expect(names.count == Limits.Store.unreadableNames + 1 && names.last == "and 3 more")
    }
}
