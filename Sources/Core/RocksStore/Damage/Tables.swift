import Basics
import CRocksDB
import Glibc
import Store

/// The table files of the engine.
enum Tables {
    static let suffix = ".sst"

    /// Returns the name of the last table that an error message of the engine names. Returns `nil` if it names none.
    static func name(in report: String) -> String? {
        let bytes = Array(report.utf8)
        let mark = Array(suffix.utf8)
        guard
            let end = bytes.indices.reversed().first(where: {
                bytes[$0...].starts(with: mark) && $0 > 0 && isDigit(bytes[$0 - 1])
            })
        else { return nil }
        let start = bytes[..<end].lastIndex { !isDigit($0) }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[start..<end], as: UTF8.self) + suffix
    }

    /// Returns a failure to open a database with the damaged tables in its text, if it names none.
    ///
    /// A table whose properties cannot be read is reported by the engine as damage of the manifest, which lists it.
    static func named(_ error: StoreError, in folder: String) -> StoreError {
        guard error.kind == .corrupt, error.table.isEmpty,
            let names = try? StoreFiles.names(in: folder, beginning: "")
        else { return error }
        let damaged = names.filter { $0.hasSuffix(suffix) }.filter { name in
            do throws(StoreError) {
                try verify("\(folder)/\(name)")
                return false
            } catch { return error.kind == .corrupt }
        }
        guard let first = damaged.first else { return error }
        var named = error
        named.table = first
        named.description =
            "damaged: \(damaged.map { "\(folder)/\($0)" }.joined(separator: ", ")); the engine reports: \(error.description)"
        return named
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Reads all blocks of a table from the disk and compares their checksums. Throws `corrupt` for the first that differs.
    ///
    /// The pages in memory are dropped first: they may be intact where the disk is not.
    static func verify(_ path: String) throws(StoreError) {
        let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            // A table that was compacted meanwhile.
            if errno == ENOENT { return }
            throw .system("read \(path)")
        }
        _ = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
        Glibc.close(file)
        do throws(StoreError) {
            try unsafe check("verify \(path)") { error in unsafe ccs_rocksdb_verify_table(path, error) }
        } catch {
            guard error.kind == .corrupt || !error.table.isEmpty else {
                // It may have been compacted meanwhile.
                if unsafe access(path, F_OK) == 0 { throw error }
                return
            }
            var named = error
            named.table = name(in: path) ?? error.table
            throw named
        }
    }
}

extension Engine {
    /// A table with the first and the last key.
    struct Table {
        var name: String
        var bytes: Int
        var family: Family?
        var first: [UInt8]
        var last: [UInt8]
    }

    /// Returns the tables that the database consists of.
    func tables() -> [Table] {
        guard let list = unsafe rocksdb_livefiles(database) else { return [] }
        defer { unsafe rocksdb_livefiles_destroy(list) }
        var tables: [Table] = []
        let count = unsafe rocksdb_livefiles_count(list)
        for at in 0..<count {
            guard let name = unsafe rocksdb_livefiles_name(list, at),
                let family = unsafe rocksdb_livefiles_column_family_name(list, at)
            else { continue }
            let word = unsafe String(cString: family)
            var (firstLength, lastLength) = (0, 0)
            let first = unsafe rocksdb_livefiles_smallestkey(list, at, &firstLength)
            let last = unsafe rocksdb_livefiles_largestkey(list, at, &lastLength)
            tables.append(
                Table(
                    name: String(unsafe String(cString: name).drop { $0 == "/" }),
                    bytes: unsafe rocksdb_livefiles_size(list, at),
                    family: Family.allCases.first { "\($0.name)" == word },
                    first: unsafe Self.bytes(first, firstLength), last: unsafe Self.bytes(last, lastLength)))
        }
        return tables
    }

    private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
        guard let start = unsafe start else { return [] }
        return unsafe UnsafeBufferPointer(start: start, count: count).map { UInt8(bitPattern: $0) }
    }

    /// Returns what is known about a table that an error names.
    func damage(_ error: StoreError, partition: Int?) -> StoreDamage {
        let table = tables().first { $0.name == error.table }
        return StoreDamage(
            table: error.table, family: table?.family.map { $0.word } ?? "", partition: partition,
            concerns: table?.family.map { $0.concern(table?.first ?? [], table?.last ?? []) }
                ?? "rows of an unknown column family", problem: error.description)
    }

    /// Stops compactions of a column family: one that reaches an unreadable block makes the whole engine refuse writes.
    func stopCompactions(of family: Family) {
        let (key, value) = ("disable_auto_compactions", "true")
        unsafe key.withCString { key in
            unsafe value.withCString { value in
                let keys: [UnsafePointer<CChar>?] = unsafe [key]
                let values: [UnsafePointer<CChar>?] = unsafe [value]
                // If it fails, the next start or reopening sets it.
                try? unsafe check("set options") { error in
                    unsafe rocksdb_set_options_cf(database, handle(family), 1, keys, values, error)
                }
            }
        }
    }
}

extension Family {
    /// The name in errors and documents.
    var word: String { self == .meta ? "meta" : "\(name)" }

    /// Creates the family with a name in errors.
    init?(word: String) {
        guard let family = Family.allCases.first(where: { $0.word == word }) else { return nil }
        self = family
    }

    /// Returns what is stored between two keys, for operators.
    func concern(_ first: [UInt8], _ last: [UInt8]) -> String {
        let range =
            first.count >= 8 && last.count >= 8
            ? " \(first.raw.bigEndian(at: 0)) to \(last.raw.bigEndian(at: 0))" : ""
        return switch self {
        case .meta: "counts of messages and settings of the server"
        case .pending: "waiting messages of devices\(range)"
        case .upstream: "waiting upstream messages of senders\(range)"
        case .registry: "devices\(range) with their registrations and subscriptions"
        case .senders: "senders\(range) with their keys"
        case .seen: "IDs of upstream messages of the last day of devices\(range)"
        case .expiry: "expiry times of messages"
        case .groups: "device groups of senders\(range)"
        case .topics: "subscribers of topics of senders\(range)"
        case .installations: "Firebase installations"
        case .fanouts: "messages to topics and to many, and the subscriptions of iOS apps"
        case .contacts: "last contacts of devices and installations"
        }
    }
}
