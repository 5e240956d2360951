import Basics
import CRocksDB
import Store

/// Sizes of buffers and files in bytes. Tests use smaller ones than the service.
public struct EngineSizes: Sendable {
    /// Memtables of all column families together, before a flush is requested. At twice the size commits wait for the flush.
    public var buffers = Limits.Store.writeBuffersBytes
    /// One file of the journal.
    public var segment = Limits.Journal.segmentBytes
    /// The part of the journal whose messages stay in memory.
    public var recent = Limits.Journal.recentBytes
    /// The journal, before a flush of the engine is requested.
    public var journal = Limits.Journal.bytes

    /// Creates the sizes of the service.
    public init() {}
}

/// The options of the engine that differ from its defaults.
@safe final class EngineOptions {
    /// Options of the database and of column families with small records.
    let database: OpaquePointer
    /// Options of column families with messages.
    private let messages: OpaquePointer
    /// Options of the column family `seen`, whose rows expire in compactions.
    private let forgetful: OpaquePointer
    private let cache: OpaquePointer
    /// Options of column families that are not compacted, since a table of theirs is damaged.
    private var damaged: [Family: OpaquePointer] = unsafe [:]

    /// Creates the options. `memory` decides which rows of `seen` are dropped, and must outlive the database.
    init(memory: SeenFilter, sizes: EngineSizes = EngineSizes()) {
        unsafe cache = rocksdb_cache_create_lru(Limits.Store.cacheBytes)
        unsafe database = Self.family(cache, sizes, memoryFilter: 0.003)
        unsafe messages = Self.family(cache, sizes, memoryFilter: 0.0125)
        unsafe forgetful = Self.family(cache, sizes, memoryFilter: 0)
        // Lookups in `seen` read its sorted files only (`RecentIndex` has the rest): its memtable is sorted once, by the flush.
        unsafe rocksdb_options_set_memtable_vector_rep(forgetful)
        // Device numbers are random: two bytes distinguish most devices that are active at the same time.
        unsafe ccs_rocksdb_enable_insert_hints(messages, 2)
        unsafe rocksdb_options_set_compaction_filter(forgetful, memory.filter)
        unsafe Self.setDatabase(database, sizes)
    }

    deinit {
        unsafe damaged.values.forEach { unsafe rocksdb_options_destroy($0) }
        unsafe rocksdb_options_destroy(database)
        unsafe rocksdb_options_destroy(messages)
        unsafe rocksdb_options_destroy(forgetful)
        unsafe rocksdb_cache_destroy(cache)
    }

    /// Stops the compactions of column families: one that reaches an unreadable block makes the whole engine refuse writes.
    func stopCompactions(of families: [Family]) {
        for family in Set(families) {
            guard let copy = unsafe rocksdb_options_create_copy(options(of: family)) else { continue }
            unsafe rocksdb_options_set_disable_auto_compactions(copy, 1)
            unsafe damaged[family] = copy
        }
    }

    /// Returns the options of a column family.
    func options(of family: Family) -> OpaquePointer {
        if let options = unsafe damaged[family] { return unsafe options }
        return switch family {
        case .pending, .upstream: unsafe messages
        case .seen: unsafe forgetful
        case .meta, .registry, .senders, .expiry, .groups, .topics, .installations, .fanouts, .contacts:
            unsafe database
        }
    }

    /// The first warning that the engine logged, without its source line. Empty if there is none.
    var firstWarning: String {
        guard let text = unsafe ccs_rocksdb_first_warning(database) else { return "" }
        defer { unsafe rocksdb_free(text) }
        let report = Array(unsafe String(cString: text).utf8)
        let end = report.indices.first { report[$0...].starts(with: "] ".utf8) }
        return String(decoding: report[(end.map { $0 + 2 } ?? 0)...], as: UTF8.self)
    }

    /// Returns a failure to open with the first warning of the engine added.
    func explained(_ error: StoreError) -> StoreError {
        let warning = firstWarning
        guard error.kind == .corrupt, !warning.isEmpty else { return error }
        var explained = error
        explained.description += " (\(warning))"
        return explained
    }

    private static func setDatabase(_ options: OpaquePointer, _ sizes: EngineSizes) {
        unsafe rocksdb_options_set_create_if_missing(options, 1)
        unsafe rocksdb_options_set_create_missing_column_families(options, 1)
        // The engine writes no log of its own: the journal is the only one. Without a log the column families must be flushed
        // together, or one would be ahead of the others after a crash.
        unsafe rocksdb_options_set_atomic_flush(options, 1)
        // One thread writes. The unsorted memtable of `seen` requires that.
        unsafe rocksdb_options_set_allow_concurrent_memtable_write(options, 0)
        unsafe ccs_rocksdb_disable_auto_resume(options)
        unsafe ccs_rocksdb_disable_flush_at_close(options)
        unsafe rocksdb_options_set_max_open_files(options, Int32(Limits.Store.openFiles))
        unsafe rocksdb_options_set_max_background_jobs(options, Int32(Limits.Store.backgroundJobs))
        unsafe rocksdb_options_set_bytes_per_sync(options, 1_048_576)
        // The info log of the engine is discarded: writing it twice to a full disk ends the process (an assertion of 7.8, enabled
        // in Debian). What matters in it is returned as an error, or is its first warning.
        unsafe ccs_rocksdb_keep_first_warning(options)
        unsafe rocksdb_options_set_stats_dump_period_sec(options, 0)
        unsafe rocksdb_options_set_stats_persist_period_sec(options, 0)
        unsafe rocksdb_options_set_skip_stats_update_on_db_open(options, 1)
    }

    /// Returns the options of a column family. `memoryFilter` is the share of the memtable that its Bloom filter takes.
    private static func family(
        _ cache: OpaquePointer, _ sizes: EngineSizes, memoryFilter: Double
    ) -> OpaquePointer {
        let table = unsafe rocksdb_block_based_options_create()
        unsafe rocksdb_block_based_options_set_block_cache(table, cache)
        unsafe rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1)
        unsafe rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1)
        // Index and filter in partitions: the cache has shards of a megabyte, and the filter of a million keys is larger. In one
        // piece it would never be cached, and every lookup would read and check all of it.
        unsafe rocksdb_block_based_options_set_index_type(
            table, Int32(rocksdb_block_based_table_index_type_two_level_index_search))
        unsafe rocksdb_block_based_options_set_partition_filters(table, 1)
        unsafe rocksdb_block_based_options_set_format_version(table, 5)
        // Ten bits per key: one in a hundred lookups of an absent key reads a block.
        unsafe rocksdb_block_based_options_set_filter_policy(
            table, rocksdb_filterpolicy_create_bloom_full(10))
        let options = unsafe rocksdb_options_create()
        unsafe rocksdb_options_set_block_based_table_factory(options, table)
        unsafe rocksdb_block_based_options_destroy(table)
        // No column family ever reaches its own limit: the engine flushes only on request (`Committer`). Two flushes for different
        // reasons at the same time end the process (an assertion of 7.8).
        unsafe rocksdb_options_set_write_buffer_size(options, Limits.Store.columnFamilyBytes)
        unsafe rocksdb_options_set_max_write_buffer_number(options, 3)
        unsafe rocksdb_options_set_memtable_prefix_bloom_size_ratio(
            options, memoryFilter * Double(2 * sizes.buffers) / Double(Limits.Store.columnFamilyBytes))
        unsafe rocksdb_options_set_memtable_whole_key_filtering(options, 1)
        unsafe rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
        unsafe rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        return unsafe options.unsafelyUnwrapped
    }
}
