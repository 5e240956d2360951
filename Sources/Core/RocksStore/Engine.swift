import Basics
import CRocksDB
import Glibc
import Store
import Synchronization

/// An open RocksDB database. It is closed with the last reference.
@safe final class Engine: @unchecked Sendable {
    /// Number of partitions of the store.
    let partitions: Int
    let database: OpaquePointer
    private let families: [OpaquePointer]
    private let memory: SeenFilter
    private let reading: OpaquePointer
    private let writtenOut: OpaquePointer
    private let writing: OpaquePointer

    /// How a database is opened.
    enum Access {
        /// A missing database is created. Column families with damaged tables are not compacted.
        case full(damaged: [Family])
        /// Nothing is changed.
        case readOnly
    }

    /// Opens the database in a directory.
    init(
        path: String, partitions: Int = Limits.Partition.count, memory: SeenFilter,
        sizes: EngineSizes = EngineSizes(), access: Access = .full(damaged: [])
    ) throws(StoreError) {
        self.partitions = partitions
        self.memory = memory
        let options = EngineOptions(memory: memory, sizes: sizes)
        if case .full(let damaged) = access { options.stopCompactions(of: damaged) }
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
                switch access {
                case .full:
                    unsafe rocksdb_open_column_families(
                        options.database, path, Int32(count), names, settings, &handles, error)
                case .readOnly:
                    unsafe rocksdb_open_for_read_only_column_families(
                        options.database, path, Int32(count), names, settings, &handles, 0, error)
                }
            }
        } catch { throw Tables.named(options.explained(error), in: path) }
        guard let opened = unsafe opened else {
            throw StoreError(.inputOutput, "open \(path): the engine reported no error")
        }
        unsafe database = opened
        unsafe families = handles.compactMap { unsafe $0 }
        unsafe reading = rocksdb_readoptions_create()
        unsafe writtenOut = rocksdb_readoptions_create()
        unsafe rocksdb_readoptions_set_read_tier(writtenOut, 2)
        unsafe writing = rocksdb_writeoptions_create()
        unsafe rocksdb_writeoptions_disable_WAL(writing, 1)
    }

    deinit {
        unsafe rocksdb_cancel_all_background_work(database, 1)
        unsafe families.forEach { unsafe rocksdb_column_family_handle_destroy($0) }
        unsafe rocksdb_close(database)
        unsafe rocksdb_readoptions_destroy(reading)
        unsafe rocksdb_readoptions_destroy(writtenOut)
        unsafe rocksdb_writeoptions_destroy(writing)
    }

    /// Turns off the performance counters of the engine for this thread: they are not read, and cost time with every call.
    static func disablePerformanceCounters() { rocksdb_set_perf_level(Int32(rocksdb_disable)) }

    /// Returns the handle of a column family.
    func handle(_ family: Family) -> OpaquePointer { unsafe families[family.rawValue] }

    /// Calls a closure with the value of a key. Returns `nil` if there is none. `onDisk` ignores rows that are in memory only.
    func get<Result>(
        _ family: Family, _ key: borrowing RawSpan, onDisk: Bool = false,
        _ body: (borrowing RawSpan) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let slice = unsafe try check("read \(family)") { error in
            unsafe key.withUnsafeBytes { key in
                unsafe rocksdb_get_pinned_cf(
                    database, onDisk ? writtenOut : reading, handle(family), key.baseAddress, key.count, error
                )
            }
        }
        guard let slice = unsafe slice else { return nil }
        defer { unsafe rocksdb_pinnableslice_destroy(slice) }
        var length = 0
        guard let start = unsafe rocksdb_pinnableslice_value(slice, &length) else { return nil }
        return try body(unsafe RawSpan(_unsafeStart: start, byteCount: length))
    }

    /// Writes a batch to the memtables. It needs no log: its content is on the disk in the journal.
    func write(_ batch: borrowing EngineBatch) throws(StoreError) {
        try unsafe check("write") { error in unsafe rocksdb_write(database, writing, batch.handle, error) }
    }

    /// Flushes the memtables to the disk. Without `waits` it only starts the flush.
    func flush(waits: Bool) throws(StoreError) {
        try unsafe check("write out") { error in
            unsafe families.withUnsafeBufferPointer { families in
                unsafe families.withMemoryRebound(to: OpaquePointer?.self) { families in
                    unsafe ccs_rocksdb_flush(
                        database, families.baseAddress, families.count, waits ? 1 : 0, error)
                }
            }
        }
    }

    /// Returns a number from the column family `meta`. Returns `nil` if it was never put.
    func number(_ key: [UInt8], onDisk: Bool = false) throws(StoreError) -> UInt64? {
        try get(.meta, key.raw, onDisk: onDisk) { (bytes) throws(StoreError) in try MetaKey.number(in: bytes)
        }
    }

    /// Adds the applied commit and the highest sequence to the batch that brings the engine there.
    func recordApplied(_ commit: UInt64, highest: UInt64, in batch: borrowing EngineBatch) {
        let (applied, last) = (MetaKey.applied, MetaKey.highest)
        batch.put(.meta, applied.raw, Key(commit).bytes)
        batch.put(.meta, last.raw, Key(highest).bytes)
    }

    /// Returns the approximate size of a column family in bytes: its sorted files and its memtables.
    ///
    /// Memtables grow in steps of a megabyte. As long as they are small their size is estimated from the number of rows.
    func size(of family: Family) throws(StoreError) -> UInt64 {
        let files = try property("rocksdb.live-sst-files-size", of: family)
        let rows =
            try property("rocksdb.num-entries-active-mem-table", of: family)
            + property("rocksdb.num-entries-imm-mem-tables", of: family)
        let taken = try property("rocksdb.cur-size-all-mem-tables", of: family)
        let beyondStart = taken - min(taken, UInt64(Limits.Registry.memtableBytes))
        return files + max(rows * UInt64(Limits.Registry.rowBytes), beyondStart)
    }

    private func property(_ name: String, of family: Family) throws(StoreError) -> UInt64 {
        var value: UInt64 = 0
        guard unsafe rocksdb_property_int_cf(database, handle(family), name, &value) == 0 else {
            throw StoreError(.inputOutput, "measure \(family): the engine has no property \(name)")
        }
        return value
    }

    /// Requests a compaction of a column family in the background, which drops removed rows.
    func suggestCompaction(of family: Family) throws(StoreError) {
        try unsafe check("compact \(family)") { error in
            unsafe rocksdb_suggest_compact_range_cf(database, handle(family), nil, 0, nil, 0, error)
        }
    }

    /// Creates a copy of the database in a folder that does not exist: hard links of the sorted files, and copies of the rest.
    ///
    /// The memtables are not flushed. What only they have is in the journal.
    func checkpoint(to path: String) throws(StoreError) {
        let maker = unsafe try check("copy to \(path)") { error in
            unsafe rocksdb_checkpoint_object_create(database, error)
        }
        guard let maker = unsafe maker else {
            throw StoreError(.inputOutput, "copy to \(path): the engine reported no error")
        }
        defer { unsafe rocksdb_checkpoint_object_destroy(maker) }
        try unsafe check("copy to \(path)") { error in
            unsafe rocksdb_checkpoint_create(maker, path, .max, error)
        }
    }

    /// Returns a snapshot of the whole database.
    func snapshot() -> Snapshot { Snapshot(self) }

    /// Throws `newerFormat` if the database has unknown column families: a newer version wrote it.
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
                throw StoreError(
                    .newerFormat, "\(path) has the unknown column family '\(name)': a newer version wrote it")
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

        /// Number of partitions of the store.
        var partitions: Int { engine.partitions }

        /// Returns a cursor for the rows of one owner at a time, positioned by `seek(owner:)`.
        func owners(_ family: Family) -> Cursor {
            unsafe Cursor(owners: engine.handle(family), database: engine.database, snapshot: handle)
        }

        /// Returns a cursor over a column family, from a key up to another one, which is excluded.
        func cursor(_ family: Family, from start: Key? = nil, before end: Key? = nil) -> Cursor {
            unsafe Cursor(
                database: engine.database, family: engine.handle(family), snapshot: handle, start, end)
        }

        /// Returns the same for keys of any length.
        func cursor(_ family: Family, from start: [UInt8], before end: [UInt8]) -> Cursor {
            unsafe Cursor(
                database: engine.database, family: engine.handle(family), snapshot: handle, start, end)
        }
    }
}
