import Basics
import Glibc
import Store

/// The last commit that is known to be on the disk, in a small file in the folder of the store.
///
/// It is written after each sync and never synced itself, so it is never ahead of the disk. After `kill -9` it is exactly
/// as far as what was acknowledged, after a power cut at most as much behind as the system leaves unwritten (half a
/// minute). `JournalScan` compares it with the journal.
@safe final class SyncMark: Sendable {
    /// What the file says.
    enum Found: Equatable {
        /// There is none: a new store, one of an older version, or an operator who has removed it.
        case absent
        /// It cannot be read.
        case damaged
        /// That commit is on the disk.
        case synced(UInt64)

        /// That commit; 0 where none is known.
        var commit: UInt64 {
            if case .synced(let commit) = self { return commit }
            return 0
        }
    }

    /// The name of the file; the engine passes over what it does not know.
    static let name = "SYNCED"
    /// Its two places, written in turns, are in different sectors: a write that a power cut tears leaves the other one.
    private static let places = [0, 512]
    private static let magic = UInt64(0x6363_732d_7379_6e63)
    private static let length = 24

    private let file: Int32

    /// Begins the note of a store anew where `first` is given, for good; otherwise goes on with it.
    init(_ path: String, first: UInt64?) throws(StoreError) {
        let name = "\(path)/\(Self.name)"
        file = unsafe Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("open \(name)") }
        guard let first else { return }
        // Otherwise the file itself might be missing after a power cut, and nothing be compared.
        guard Self.places.allSatisfy({ put(first, at: $0) }), fsync(file) == 0 else {
            throw .system("write \(name)")
        }
        try StoreFiles.sync(folder: path)
    }

    deinit { Glibc.close(file) }

    /// Notes that a commit is on the disk. A note that cannot be written stays behind, which is no lie.
    func note(_ commit: UInt64) { _ = put(commit, at: Self.places[Int(commit % 2)]) }

    /// What the note in a store's folder says.
    static func read(_ path: String) throws(StoreError) -> Found {
        let name = "\(path)/\(name)"
        let file = unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw .system("open \(name)") }
            return .absent
        }
        defer { Glibc.close(file) }
        var commits: [UInt64] = []
        var isEmpty = true
        for place in places {
            var bytes = [UInt8](repeating: 0, count: length)
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(file, bytes.baseAddress, bytes.count, off_t(place))
            }
            guard count >= 0 else { throw .system("read \(name)") }
            isEmpty = isEmpty && count == 0
            if let commit = commit(in: bytes.raw) { commits.append(commit) }
        }
        // One that a crash has left empty was made, and never written to.
        return commits.max().map { .synced($0) } ?? (isEmpty ? .absent : .damaged)
    }

    private func put(_ commit: UInt64, at place: Int) -> Bool {
        let record = Self.record(commit)
        return unsafe record.bytes.withUnsafeBytes { record in
            unsafe pwrite(file, record.baseAddress, record.count, off_t(place)) == record.count
        }
    }

    /// A word that says what it is, the number, and a hash of both.
    private static func record(_ commit: UInt64) -> Key {
        var record = Key(magic, commit)
        record.append(hash(record.bytes))
        return record
    }

    private static func commit(in record: borrowing RawSpan) -> UInt64? {
        guard record.bigEndian(at: 0) == magic, record.bigEndian(at: 16) == hash(record.extracting(0..<16))
        else { return nil }
        return record.bigEndian(at: 8)
    }

    private static func hash(_ bytes: borrowing RawSpan) -> UInt64 { SipHash(key: (magic, 1)).hash(bytes) }
}
