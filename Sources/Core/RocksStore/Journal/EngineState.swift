import Basics
import CRocksDB
import Glibc
import Store

/// What the engine of a closed store has on the disk. It only reads, so that a store of another layout stays unchanged.
struct EngineState {
    /// The applied commit: the engine has this one and all before it.
    private(set) var commit: UInt64 = 0
    /// Number of partitions. `nil` if the store is new.
    private(set) var partitions: Int?

    /// Reads the state of a store. Throws `olderFormat` or `newerFormat` if another version wrote its layout.
    init(_ path: String) throws(StoreError) {
        guard unsafe access("\(path)/CURRENT", F_OK) == 0 else { return }
        let options = EngineOptions(memory: SeenFilter())
        let database: OpaquePointer?
        do throws(StoreError) {
            unsafe database = try check("read \(path)") { error in
                unsafe rocksdb_open_for_read_only(options.database, path, 0, error)
            }
        } catch { throw options.explained(error) }
        defer { unsafe database.map { unsafe rocksdb_close($0) } }
        guard let format = try unsafe Self.decimal(MetaKey.format, "format", database) else { return }
        try Self.demandLayout(format, path)
        partitions = try unsafe Self.decimal(MetaKey.partitions, "partitions", database)
        guard let partitions, (1...Limits.Partition.maximumCount).contains(partitions) else {
            throw StoreError(
                .corrupt, "\(path): invalid meta/partitions: expected 1 to \(Limits.Partition.maximumCount)")
        }
        commit =
            try unsafe Self.row(MetaKey.applied, database) { (bytes) throws(StoreError) in
                try MetaKey.number(in: bytes)
            } ?? 0
    }

    private static func demandLayout(_ found: Int, _ path: String) throws(StoreError) {
        guard found != MetaKey.formatNow else { return }
        throw StoreError(
            found < MetaKey.formatNow ? .olderFormat : .newerFormat,
            "\(path) has layout \(found), expected layout \(MetaKey.formatNow)")
    }

    private static func decimal(
        _ key: [UInt8], _ name: String, _ database: OpaquePointer?
    ) throws(StoreError) -> Int? {
        try unsafe row(key, database) { (bytes) throws(StoreError) in
            guard let number = Int(String(decoding: [UInt8](copying: bytes), as: UTF8.self)) else {
                throw StoreError(.corrupt, "invalid meta/\(name): expected a number")
            }
            return number
        }
    }

    /// Reads a row of the column family `meta`, the only one that is open here. That makes the check cheap.
    private static func row<Value>(
        _ key: [UInt8], _ database: OpaquePointer?,
        _ body: (borrowing RawSpan) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        let reading = unsafe rocksdb_readoptions_create()
        defer { unsafe rocksdb_readoptions_destroy(reading) }
        let slice = unsafe try check("read meta") { error in
            unsafe key.withUnsafeBytes { key in
                unsafe rocksdb_get_pinned(database, reading, key.baseAddress, key.count, error)
            }
        }
        guard let slice = unsafe slice else { return nil }
        defer { unsafe rocksdb_pinnableslice_destroy(slice) }
        var length = 0
        guard let start = unsafe rocksdb_pinnableslice_value(slice, &length) else { return nil }
        return try body(unsafe RawSpan(_unsafeStart: start, byteCount: length))
    }
}
