import Basics
import Delivery
import Foundation
import Store
import Synchronization
import Testing

@testable import RocksStore

/// A store with an unreadable block is damaged: it reports that, also after a restart, and serves the rest.
@Suite struct DamageTests {
    private static let owners = 1...8 as ClosedRange<UInt64>
    /// Messages leave memory with each commit, so that the engine gets them.
    private static let sizes: EngineSizes = {
        var sizes = EngineSizes()
        (sizes.buffers, sizes.recent, sizes.segment, sizes.journal) = (65_536, 0, 65_536, 131_072)
        return sizes
    }()

    private func open(_ directory: ScratchDirectory) throws(StoreError) -> RocksStore {
        try RocksStore(path: directory.path + "/db", sizes: Self.sizes)
    }

    /// Returns the directory of a closed store whose messages are in table files.
    private func filled() throws -> ScratchDirectory {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        for owner in Self.owners {
            for sequence in 1...20 as ClosedRange<UInt64> {
                let body = (0..<900).map { _ in UInt8.random(in: 0...255) }
                try store.apply(.putMessage(Samples.message(owner, sequence, body: body)), durable: false)
            }
        }
        try store.close()
        return directory
    }

    /// Inverts a bit in the first fifth of the largest table, the one with the messages. Returns its name.
    @discardableResult private func flip(_ directory: ScratchDirectory) throws -> String {
        let folder = URL(fileURLWithPath: directory.path + "/db")
        let tables = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".sst") }
            .map { (name: $0, bytes: try Data(contentsOf: folder.appendingPathComponent($0))) }
        let table = try #require(tables.max { $0.bytes.count < $1.bytes.count })
        var bytes = table.bytes
        bytes[bytes.count / 5] ^= 0x10
        try bytes.write(to: folder.appendingPathComponent(table.name))
        return table.name
    }

    private func readable(_ store: RocksStore) -> Int {
        Self.owners.filter { (try? store.mailbox($0))?.count == 20 }.count
    }

    @Test("a store is damaged from the first unreadable block on, until a check can read everything")
    func lasts() throws {
        let directory = try filled()
        #expect(try RocksStore.check(path: directory.path + "/db") == Self.whole(directory), "the canary")
        let table = try flip(directory)
        for isFirst in [true, false] {
            // With usual sizes, no compaction reaches the table before the first read.
            let store = try RocksStore(path: directory.path + "/db")
            #expect(store.damage.isEmpty == isFirst)
            let told = Mutex<[StoreDamage]>([])
            store.whenDamaged { damage in told.withLock { $0.append(damage) } }
            let left = readable(store)
            #expect(left > 0 && left < 8, "the other devices are served")
            let damage = try #require(store.damage.first)
            #expect(store.damage.count == 1)
            #expect(damage.table == table && damage.family == "pending")
            #expect(
                damage.partition
                    == PartitionKey.device(
                        DeviceID(
                            try #require(
                                Self.owners.first { owner in
                                    (try? store.mailbox(owner)) == nil
                                }))
                    ).partition(of: store.partitions))
            #expect(damage.concerns == "waiting messages of devices 1 to 8")
            #expect(told.withLock { $0.count } == (isFirst ? 1 : 0))
            let audit = try store.audit()
            #expect(!audit.holds && audit.damaged == [damage])
            try store.apply(.putMessage(Samples.message(99, 1)))
            try store.apply(
                .removeMessage(
                    DeviceID(99), SequenceNumber(1), expiresAt: Samples.now + Samples.day, reason: .delivered)
            )
            try store.close()
        }
        let found = try RocksStore.check(path: directory.path + "/db")
        #expect(found.damaged.map(\.table) == [table] && found.wasMarked && !found.isWhole)
        try flip(directory)
        let mended = try RocksStore.check(path: directory.path + "/db")
        #expect(mended.isWhole && mended.wasMarked)
        let store = try open(directory)
        #expect(store.damage.isEmpty && readable(store) == 8)
        #expect(try store.audit().holds)
    }

    private static func whole(_ directory: ScratchDirectory) throws -> StoreCheck {
        let store = try RocksStore(path: directory.path + "/db")
        let tables = try store.tables()
        try store.close()
        return StoreCheck(tables: tables.count, bytes: tables.reduce(0) { $0 + $1.bytes })
    }

    @Test("a check marks a closed store as damaged, and one that is opened then reports it without a read")
    func checked() throws {
        let directory = try filled()
        let table = try flip(directory)
        #expect(try RocksStore.check(path: directory.path + "/db").damaged.map(\.table) == [table])
        #expect(try open(directory).damage.map(\.table) == [table])
    }

    @Test("the tables are verified one by one, and a damaged one that no request reads is found")
    func scrubbed() throws {
        let directory = try filled()
        let name = try flip(directory)
        let store = try open(directory)
        var failed: [String] = []
        for table in try store.tables() {
            do throws(StoreError) { try store.verify(table) } catch {
                #expect(error.kind == .corrupt)
                failed.append(table.name)
            }
        }
        #expect(failed == [name])
        #expect(store.damage.map(\.table) == [name])
        try store.verify(StoreTable(name: "999999.sst", bytes: 1))
    }

    @Test(
        "a compaction that reaches a damaged block marks the store, which goes on writing, also after a restart"
    )
    func compacted() throws {
        let directory = try filled()
        let table = try flip(directory)
        let store = try open(directory)
        var written: [UInt64] = []
        var refused = 0
        // Nothing is read. The keys lie around those of the damaged table, until the engine merges its tables.
        for number in 1...6_000 as ClosedRange<UInt64> {
            let body = (0..<900).map { _ in UInt8.random(in: 0...255) }
            do {
                try store.apply(
                    .putMessage(Samples.message(number % 2 == 0 ? 1 : 9, 1_000 + number, body: body)),
                    durable: false)
                written.append(number)
            } catch {
                refused += 1
                #expect((error as? StoreError)?.table == table, "\(error)")
            }
            guard store.damage.isEmpty else { break }
        }
        #expect(store.damage.map(\.table) == [table] && refused <= 1, "\(refused) of \(written.count)")
        #expect(store.damage.first?.family == "pending")
        func goesOn(_ store: RocksStore, _ first: UInt64) throws {
            for number in first..<first + 300 {
                let body = (0..<900).map { _ in UInt8.random(in: 0...255) }
                try store.apply(.putMessage(Samples.message(98, number, body: body)), durable: false)
            }
        }
        try goesOn(store, 1)
        try store.close()
        let next = try open(directory)
        #expect(next.damage.map(\.table) == [table])
        try goesOn(next, 1_001)
        #expect(try next.mailbox(98).count == 600)
    }

    @Test(
        "a table that the disk cannot read is named like one with a wrong checksum, and no other failure of the disk is",
        arguments: [
            ("IO error: While pread offset 5 len 9: /a/000012.sst: Input/output error", true),
            ("IO error: While reading file sequentially: /a/000012.sst: Input/output error", false),
            ("IO error: While appending to file: /a/000012.sst: Input/output error", false),
            ("IO error: While open a file for random read: /a/000012.sst: No such file or directory", false),
            ("IO error: No space left on device: While appending to file: /a/000012.sst", false),
        ])
    func unreadable(_ report: String, _ isDamage: Bool) { #expect(isFailedRead(report) == isDamage) }

    @Test("damage that the engine reports as that of its manifest is named by table, if one is damaged")
    func manifest() throws {
        let directory = try filled()
        let folder = directory.path + "/db"
        let report = StoreError(
            .corrupt, "open \(folder): Corruption: properties unsorted in file \(folder)/MANIFEST-000057")
        let whole = Tables.named(report, in: folder)
        #expect(
            whole.table.isEmpty && whole.description == report.description, "canary: all tables are whole")
        let table = try flip(directory)
        let named = Tables.named(report, in: folder)
        #expect(named.table == table && named.description.hasPrefix("damaged: \(folder)/\(table);"))
        #expect(named.description.hasSuffix(report.description))
    }

    @Test("the mark of a damaged store keeps every field, and a mark that cannot be read is damage")
    func mark() throws {
        let tables = [
            StoreDamage(table: "000012.sst", family: "pending", partition: 3, concerns: "a", problem: "b"),
            StoreDamage(table: "000013.sst", family: "", partition: nil, concerns: "c", problem: "d\te\nf"),
        ]
        var read = tables
        read[1].problem = "d e f"
        #expect(DamageMark.tables(in: DamageMark.text(of: tables)) == read)
        let directory = ScratchDirectory()
        #expect(try DamageMark.read(directory.path).isEmpty)
        for table in tables + tables { try DamageMark.add(table, to: directory.path) }
        #expect(try DamageMark.read(directory.path) == read)
        for text in ["", "something", "ccsd damaged store 1\n", "ccsd damaged store 1\nx\ty\n"] {
            try text.write(toFile: directory.path + "/" + DamageMark.name, atomically: true, encoding: .utf8)
            #expect(try DamageMark.read(directory.path).map(\.table) == [DamageMark.name])
        }
    }

    @Test(
        "the name of a table is found in a report of the engine",
        arguments: [
            ("Corruption: bad block in /a/000012.sst offset 5 size 9", "000012.sst"),
            ("Corruption: /old.sst/000007.sst", "000007.sst"), ("Corruption: nothing", nil), (".sst", nil),
            ("12.sst", "12.sst"),
        ])
    func named(_ report: String, _ name: String?) { #expect(Tables.name(in: report) == name) }
}
