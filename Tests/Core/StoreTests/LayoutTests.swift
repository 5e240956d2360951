import Basics
import CRocksDB
import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// A store of another layout is rejected and stays unchanged.
@Suite struct LayoutTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    /// The column families of layout 2.
    private static let families = [
        "default", "pending", "upstream", "registry", "senders", "seen", "expiry", "groups", "topics",
        "installations", "fanouts",
    ]

    /// Creates a store as of the version before partitions: its format, a message with an expiry key of that version, a journal.
    private func makeOlder(format: String) throws {
        let options = rocksdb_options_create()
        defer { rocksdb_options_destroy(options) }
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_set_create_missing_column_families(options, 1)
        let names: [UnsafePointer<CChar>?] = Self.families.map { UnsafePointer(strdup($0)) }
        defer { for name in names { free(UnsafeMutablePointer(mutating: name)) } }
        let settings: [OpaquePointer?] = Self.families.map { _ in options }
        var handles = [OpaquePointer?](repeating: nil, count: names.count)
        var error: UnsafeMutablePointer<CChar>?
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let opened = rocksdb_open_column_families(
            options, path, Int32(names.count), names, settings, &handles, &error)
        let database = try #require(opened, "\(error.map { String(cString: $0) } ?? "")")
        defer { rocksdb_close(database) }
        let writing = rocksdb_writeoptions_create()
        defer { rocksdb_writeoptions_destroy(writing) }
        var record = ByteBuffer()
        let message = Samples.message(5, 1_000)
        MessageRecord.write(message, to: &record)
        var end = Key(UInt64(bitPattern: message.expiresAt) ^ (1 << 63))
        end.append(UInt8(0))
        end.append(UInt64(5))
        end.append(UInt64(1_000))
        let rows: [(family: Int, key: [UInt8], value: [UInt8])] = [
            (0, Array("format".utf8), Array(format.utf8)), (0, Array("settled".utf8), bytes(Key(3))),
            (1, bytes(Key(5, 1_000)), record.copied()), (6, bytes(end), []),
        ]
        for row in rows {
            row.key.withUnsafeBytes { key in
                row.value.withUnsafeBytes { value in
                    rocksdb_put_cf(
                        database, writing, handles[row.family], key.baseAddress, key.count,
                        value.baseAddress ?? key.baseAddress, value.count, &error)
                }
            }
        }
        #expect(error == nil)
        handles.forEach { rocksdb_column_family_handle_destroy($0) }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(path)/\(JournalFolder.name(4))"))
        _ = try SyncMark(path, first: 3)
    }

    private func bytes(_ key: Key) -> [UInt8] { [UInt8](copying: key.bytes) }

    /// Returns the files of the store with their content, without the lock file.
    private func content() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        return files
    }

    @Test("Opening rejects an older layout and changes nothing", arguments: [1, 2, 3, 4])
    func older(_ layout: Int) throws {
        try makeOlder(format: "\(layout)")
        let before = try content()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
            #expect(error?.kind == .olderFormat)
            #expect(error?.description == "\(path) has layout \(layout), expected layout 5")
        }
        let error = #expect(throws: StoreError.self) { try RocksStore.acceptLoss(path: path) }
        #expect(error?.kind == .olderFormat)
        #expect(try content() == before)
    }

    @Test("Opening rejects a newer layout and changes nothing")
    func newer() throws {
        try makeOlder(format: "6")
        let before = try content()
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
        #expect(error?.kind == .newerFormat)
        #expect(error?.description == "\(path) has layout 6, expected layout 5")
        #expect(try content() == before)
    }

    @Test("Opening reports damage when the layout is not a number")
    func damaged() throws {
        try makeOlder(format: "two")
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
        #expect(error?.kind == .damaged)
    }

    @Test("Opening creates the store again when its creation was interrupted")
    func brokenOff() throws {
        do { _ = try Engine(path: path, partitions: 3, memory: SeenFilter()) }
        let store = try RocksStore(path: path, partitions: 5)
        try store.apply(.putMessage(Samples.message(5, 1)))
        #expect(store.partitions == 5)
        #expect(try store.mailbox(5).count == 1)
    }
}
