import Basics
import CRocksDB
import Store

/// How much the engine gathers before it writes sorted files, bytes. Tests take less than the service does.
public struct EngineSizes: Sendable {
    /// Of all families together, before the engine is asked to write out what it has; at twice as many commits wait for it.
    public var buffers = Limits.Store.writeBuffersBytes
    /// Of the journal: in one file, with messages that stay in memory, and before the engine is asked to write out what it has.
    public var segment = Limits.Journal.segmentBytes
    public var young = Limits.Journal.recentBytes
    public var journal = Limits.Journal.bytes

    /// Those of the service.
    public init() {}
}

/// The settings of the engine; every other one is its default.
@safe final class EngineOptions {
    /// For the database and the families with small records.
    let database: OpaquePointer
    /// For messages.
    private let messages: OpaquePointer
    /// For what forgets by itself.
    private let forgetful: OpaquePointer
    private let cache: OpaquePointer

    /// Makes them; `memory` decides what the family `seen` forgets, and must outlive the database.
    init(memory: SeenMemory, sizes: EngineSizes = EngineSizes()) {
        unsafe cache = rocksdb_cache_create_lru(Limits.Store.cacheBytes)
        unsafe database = Self.family(cache, sizes, memoryFilter: 0.003)
        unsafe messages = Self.family(cache, sizes, memoryFilter: 0.0125)
        unsafe forgetful = Self.family(cache, sizes, memoryFilter: 0)
        // Nothing is looked for among what was not written out (`YoungIndex`): it is put in order once, when it is.
        unsafe rocksdb_options_set_memtable_vector_rep(forgetful)
        // Devices have numbers at random: two bytes tell most of those apart that are busy at a time.
        unsafe ccs_rocksdb_enable_insert_hints(messages, 2)
        unsafe rocksdb_options_set_compaction_filter(forgetful, memory.filter)
        unsafe Self.setDatabase(database, sizes)
    }

    deinit {
        unsafe rocksdb_options_destroy(database)
        unsafe rocksdb_options_destroy(messages)
        unsafe rocksdb_options_destroy(forgetful)
        unsafe rocksdb_cache_destroy(cache)
    }

    /// The options of a family.
    func options(of family: Family) -> OpaquePointer {
        switch family {
        case .pending, .upstream: unsafe messages
        case .seen: unsafe forgetful
        case .meta, .registry, .senders, .expiry, .groups, .topics, .installations, .fanouts, .contacts:
            unsafe database
        }
    }

    /// What the engine said first, without the line of its source, such as the log that it cannot read on; empty: nothing.
    var firstWarning: String {
        guard let text = unsafe ccs_rocksdb_first_warning(database) else { return "" }
        defer { unsafe rocksdb_free(text) }
        let said = Array(unsafe String(cString: text).utf8)
        let end = said.indices.first { said[$0...].starts(with: "] ".utf8) }
        return String(decoding: said[(end.map { $0 + 2 } ?? 0)...], as: UTF8.self)
    }

    /// A failure to open, with what the engine said before it.
    func explained(_ error: StoreError) -> StoreError {
        let warning = firstWarning
        guard error.kind == .corrupt, !warning.isEmpty else { return error }
        return StoreError(.corrupt, "\(error.description) (\(warning))")
    }

    private static func setDatabase(_ options: OpaquePointer, _ sizes: EngineSizes) {
        unsafe rocksdb_options_set_create_if_missing(options, 1)
        unsafe rocksdb_options_set_create_missing_column_families(options, 1)
        // The engine writes no log: the journal is the one there is.
        // Without a log the families must be written out together, or one would be ahead of the others after a crash.
        unsafe rocksdb_options_set_atomic_flush(options, 1)
        // One thread writes; what is kept without order demands that.
        unsafe rocksdb_options_set_allow_concurrent_memtable_write(options, 0)
        unsafe ccs_rocksdb_disable_auto_resume(options)
        unsafe ccs_rocksdb_disable_flush_at_close(options)
        unsafe rocksdb_options_set_max_open_files(options, Int32(Limits.Store.openFiles))
        unsafe rocksdb_options_set_max_background_jobs(options, Int32(Limits.Store.backgroundJobs))
        unsafe rocksdb_options_set_bytes_per_sync(options, 1_048_576)
        // The engine's own diary goes nowhere: writing it to a full disk a second time ends the process (an assertion of
        // 7.8, which Debian keeps), and what matters in it comes back as errors, or is its first warning.
        unsafe ccs_rocksdb_keep_first_warning(options)
        unsafe rocksdb_options_set_stats_dump_period_sec(options, 0)
        unsafe rocksdb_options_set_stats_persist_period_sec(options, 0)
        unsafe rocksdb_options_set_skip_stats_update_on_db_open(options, 1)
    }

    /// A family's options; `memoryFilter` is the part of its buffer that tells what is not there.
    private static func family(
        _ cache: OpaquePointer, _ sizes: EngineSizes, memoryFilter: Double
    ) -> OpaquePointer {
        let table = unsafe rocksdb_block_based_options_create()
        unsafe rocksdb_block_based_options_set_block_cache(table, cache)
        unsafe rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1)
        unsafe rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1)
        // In pieces: the cache is split into shards of a megabyte, and a filter of a million keys is larger than that. In one
        // piece it is never kept, and each look reads and checks it whole.
        unsafe rocksdb_block_based_options_set_index_type(
            table, Int32(rocksdb_block_based_table_index_type_two_level_index_search))
        unsafe rocksdb_block_based_options_set_partition_filters(table, 1)
        unsafe rocksdb_block_based_options_set_format_version(table, 5)
        // Ten bits a key: one look in a hundred for something that is not there reads a block.
        unsafe rocksdb_block_based_options_set_filter_policy(
            table, rocksdb_filterpolicy_create_bloom_full(10))
        let options = unsafe rocksdb_options_create()
        unsafe rocksdb_options_set_block_based_table_factory(options, table)
        unsafe rocksdb_block_based_options_destroy(table)
        // No family is ever full by itself: the engine writes out when it is told to (`Committer`), and at no other time. What is
        // written out for different reasons at a time ends the process (an assertion of 7.8).
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
