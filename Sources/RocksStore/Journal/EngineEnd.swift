import Basics
import CRocksDB
import Glibc
import Store

/// What the engine of a closed store has on the disk. Nothing is written: a store of another layout stays as it is.
struct EngineEnd {
    /// The last commit that it has, with all before it.
    private(set) var commit: UInt64 = 0
    /// The number of partitions; `nil` if the store is new.
    private(set) var partitions: Int?

    /// Looks at a store. Throws `olderFormat` or `newerFormat` if its layout is another than this version's.
    init(_ path: String) throws(StoreError) {
        guard unsafe access("\(path)/CURRENT", F_OK) == 0 else { return }
        let options = EngineOptions(memory: SeenMemory())
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
            throw StoreError(.corrupt, "\(path): meta/partitions is no number of partitions")
        }
        commit =
            try unsafe Self.row(MetaKey.settled, database) { (bytes) throws(StoreError) in
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
                throw StoreError(.corrupt, "meta/\(name) is no number")
            }
            return number
        }
    }

    /// Only the family `meta` is open: the others are passed over, which is what makes looking cheap.
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
