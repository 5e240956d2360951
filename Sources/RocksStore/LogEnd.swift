import Basics
import CRocksDB
import Glibc
import Store

/// How far the write-ahead log of a closed store can be read, and whether that is as far as it was synced.
///
/// The engine ends its replay at the first record that is not whole: it takes it for the torn end of a power cut, and
/// deletes the log afterwards. An octet that has changed before that end looks just the same to it, and all behind it would be
/// gone without a word. So the log is looked at first, and no more than looked at.
struct LogEnd {
    /// The last commit that can be read.
    private(set) var commit: UInt64 = 0
    /// What the engine said where it stopped, with the name of the log; empty: it saw no fault.
    private var words = ""
    private let path: String

    /// Reads the log as opening the store would, and writes nothing. Refused while another process has the store open.
    init(_ path: String) throws(StoreError) {
        self.path = path
        let lock = try StoreLock(path)
        defer { extendLifetime(lock) }
        guard unsafe access("\(path)/CURRENT", F_OK) == 0 else { return }
        let options = EngineOptions(memory: SeenMemory())
        let database: OpaquePointer?
        do throws(StoreError) {
            unsafe database = try check("read the log of \(path)") { error in
                unsafe rocksdb_open_for_read_only(options.database, path, 0, error)
            }
        } catch { throw options.explained(error) }
        defer { unsafe database.map { unsafe rocksdb_close($0) } }
        words = options.firstWarning
        commit = unsafe try Self.lastCommit(database)
    }

    /// What is wrong where so many commits were synced; nil: nothing is missing.
    func complaint(synced: UInt64) -> StoreError? {
        guard commit < synced else { return nil }
        return StoreError(
            .lost,
            "\(path): commit \(synced) was on the disk, but the write-ahead log can be read up to commit \(commit) only: "
                + place)
    }

    /// Where it ends: as the engine says, otherwise in the newest log.
    private var place: String {
        if !words.isEmpty { return words }
        guard let log = Self.newestLog(in: path) else { return "there is no log" }
        return "\(path)/\(log) is cut short, or a later log is missing"
    }

    private static func newestLog(in path: String) -> String? {
        guard let folder = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(folder) }
        var newest: String?
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // Their numbers have leading zeros.
            if name.hasSuffix(".log"), name > newest ?? "" { newest = name }
        }
        return newest
    }

    /// Only the family `meta` is open: rows of the others are passed over, which is what makes looking cheap.
    private static func lastCommit(_ database: OpaquePointer?) throws(StoreError) -> UInt64 {
        let reading = unsafe rocksdb_readoptions_create()
        defer { unsafe rocksdb_readoptions_destroy(reading) }
        let slice = unsafe try check("read meta/commit") { error in
            unsafe MetaKey.commit.withUnsafeBytes { key in
                unsafe rocksdb_get_pinned(database, reading, key.baseAddress, key.count, error)
            }
        }
        guard let slice = unsafe slice else { return 0 }
        defer { unsafe rocksdb_pinnableslice_destroy(slice) }
        var length = 0
        guard let start = unsafe rocksdb_pinnableslice_value(slice, &length) else { return 0 }
        return try MetaKey.commit(in: unsafe RawSpan(_unsafeStart: start, byteCount: length))
    }
}

/// The lock that an open store holds, taken while somebody looks at a closed one.
@safe struct StoreLock: ~Copyable {
    private let handle: UnsafeMutableRawPointer?

    /// Takes it; `.locked` where another process, or another part of this one, has the store open.
    init(_ path: String) throws(StoreError) {
        unsafe handle = try check("open \(path)") { error in unsafe ccs_rocksdb_lock("\(path)/LOCK", error) }
    }

    deinit { unsafe ccs_rocksdb_unlock(handle) }
}
