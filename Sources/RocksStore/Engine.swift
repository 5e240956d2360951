import Basics
import CRocksDB
import Glibc
import Store
import Synchronization

/// An open database: the one owner of the C object, closed when the last user lets go of it.
@safe final class Engine: @unchecked Sendable {
    private let database: OpaquePointer
    private let families: [OpaquePointer]
    private let memory: SeenMemory
    private let reading: OpaquePointer
    private let syncing: OpaquePointer
    private let lazy: OpaquePointer
    private let commits = Mutex(Commits())

    /// The number of the last write, and where those are noted that are on the disk.
    private struct Commits: Sendable {
        var last: UInt64 = 0
        var note: SyncNote?
    }

    /// Opens or creates the database in a directory.
    init(path: String, memory: SeenMemory, sizes: EngineSizes = EngineSizes()) throws(StoreError) {
        self.memory = memory
        let options = EngineOptions(memory: memory, sizes: sizes)
        try Engine.refuseUnknownFamilies(path, options)
        let count = Family.allCases.count
        let names: [UnsafePointer<CChar>?] = unsafe Family.allCases.map {
            unsafe UnsafeRawPointer($0.name.utf8Start).assumingMemoryBound(to: CChar.self)
        }
        let settings: [OpaquePointer?] = unsafe Family.allCases.map { unsafe options.options(of: $0) }
        var handles = unsafe [OpaquePointer?](repeating: nil, count: count)
        let opened: OpaquePointer?
        do throws(StoreError) {
            unsafe opened = try check("open \(path)") { error in
                unsafe rocksdb_open_column_families(
                    options.database, path, Int32(count), names, settings, &handles, error)
            }
        } catch { throw options.explained(error) }
        guard let opened = unsafe opened else {
            throw StoreError(.inputOutput, "open \(path): the engine gave no reason")
        }
        unsafe database = opened
        unsafe families = handles.compactMap { unsafe $0 }
        unsafe reading = rocksdb_readoptions_create()
        unsafe syncing = rocksdb_writeoptions_create()
        unsafe lazy = rocksdb_writeoptions_create()
        unsafe rocksdb_writeoptions_set_sync(syncing, 1)
    }

    deinit {
        unsafe rocksdb_cancel_all_background_work(database, 1)
        unsafe families.forEach { unsafe rocksdb_column_family_handle_destroy($0) }
        unsafe rocksdb_close(database)
        unsafe rocksdb_readoptions_destroy(reading)
        unsafe rocksdb_writeoptions_destroy(syncing)
        unsafe rocksdb_writeoptions_destroy(lazy)
    }

    /// Keeps the engine from counting what this thread does with it, which nobody reads and every step pays for.
    static func countNothing() { rocksdb_set_perf_level(Int32(rocksdb_disable)) }

    /// The handle of a family.
    func handle(_ family: Family) -> OpaquePointer { unsafe families[family.rawValue] }

    /// Looks a key up; the value is borrowed, nil if there is none.
    func get<Result>(
        _ family: Family, _ key: borrowing RawSpan,
        _ body: (borrowing RawSpan) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let slice = unsafe try check("read \(family)") { error in
            unsafe key.withUnsafeBytes { key in
                unsafe rocksdb_get_pinned_cf(
                    database, reading, handle(family), key.baseAddress, key.count, error)
            }
        }
        guard let slice = unsafe slice else { return nil }
        defer { unsafe rocksdb_pinnableslice_destroy(slice) }
        var length = 0
        guard let start = unsafe rocksdb_pinnableslice_value(slice, &length) else { return nil }
        return try body(unsafe RawSpan(_unsafeStart: start, byteCount: length))
    }

    /// From now on writes are numbered, on from the last one that the database has, and noted once they are on disk.
    ///
    /// The note in the folder goes on, or begins anew.
    func numberCommits(_ path: String, goesOn isNoted: Bool) throws(StoreError) {
        let key = MetaKey.commit
        let last = try get(.meta, key.raw) { (bytes) throws(StoreError) in
            try MetaKey.commit(in: bytes)
        }
        let note = try SyncNote(path, first: isNoted ? nil : last ?? 0)
        commits.withLock { $0 = Commits(last: last ?? 0, note: note) }
    }

    /// Writes a batch; with `sync` it is on disk when this returns.
    func write(_ batch: borrowing EngineBatch, sync: Bool) throws(StoreError) {
        // One at a time, so that what has the last number is what a sync has brought to the disk.
        try commits.withLock { (commits) throws(StoreError) in
            // A write that fails may have reached the log all the same: no other one gets its number.
            commits.last += 1
            let key = MetaKey.commit
            batch.put(.meta, key.raw, Key(commits.last).bytes)
            try unsafe check("write") { error in
                unsafe rocksdb_write(database, sync ? syncing : lazy, batch.handle, error)
            }
            if sync { commits.note?.note(commits.last) }
        }
    }

    /// Writes one pair by itself, durably.
    func put(
        _ family: Family, _ key: borrowing RawSpan, _ value: borrowing RawSpan
    ) throws(StoreError) {
        let batch = EngineBatch(self)
        batch.put(family, key, value)
        try write(batch, sync: true)
    }

    /// Brings what was written lazily to the disk.
    func sync() throws(StoreError) {
        try commits.withLock { (commits) throws(StoreError) in
            try unsafe check("sync") { error in unsafe rocksdb_flush_wal(database, 1, error) }
            commits.note?.note(commits.last)
        }
    }

    /// Rewrites a family, dropping what may be dropped.
    func compact(_ family: Family) {
        unsafe rocksdb_compact_range_cf(database, handle(family), nil, 0, nil, 0)
    }

    /// Everything as it is now, for as long as the snapshot lives.
    func snapshot() -> Snapshot { Snapshot(self) }

    /// A database whose families we do not know was written by a newer version.
    private static func refuseUnknownFamilies(_ path: String, _ options: EngineOptions) throws(StoreError) {
        guard unsafe access("\(path)/CURRENT", F_OK) == 0 else { return }
        var count = 0
        let list = unsafe try check("open \(path)") { error in
            unsafe rocksdb_list_column_families(options.database, path, &count, error)
        }
        guard let list = unsafe list else { return }
        defer { unsafe rocksdb_list_column_families_destroy(list, count) }
        let known = Set(Family.allCases.map { "\($0.name)" })
        for index in 0..<count {
            guard let start = unsafe list[index] else { continue }
            let name = unsafe String(cString: start)
            guard known.contains(name) else {
                throw StoreError(.newerFormat, "\(path) holds '\(name)', which this version does not know")
            }
        }
    }

    /// A consistent view of the whole database.
    @safe struct Snapshot: ~Copyable {
        private let engine: Engine
        private let handle: OpaquePointer

        fileprivate init(_ engine: Engine) {
            self.engine = engine
            unsafe handle = rocksdb_create_snapshot(engine.database)
        }

        deinit { unsafe rocksdb_release_snapshot(engine.database, handle) }

        /// Walks over the rows of one owner after the other, each found by `seek(owner:)`.
        func owners(_ family: Family) -> Cursor {
            unsafe Cursor(owners: engine.handle(family), database: engine.database, snapshot: handle)
        }

        /// Walks a family from a key up to, and not with, another; from end to end without them.
        func cursor(_ family: Family, from start: Key? = nil, before end: Key? = nil) -> Cursor {
            unsafe Cursor(
                database: engine.database, family: engine.handle(family), snapshot: handle, start, end)
        }

        /// The same for keys that may be long.
        func cursor(_ family: Family, from start: [UInt8], before end: [UInt8]) -> Cursor {
            unsafe Cursor(
                database: engine.database, family: engine.handle(family), snapshot: handle, start, end)
        }
    }
}
