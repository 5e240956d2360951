import Basics
import Glibc
import Store

/// The sync mark: the last commit that is known to be on the disk, in a small file in the folder of the store.
///
/// It is written after each sync and not synced itself, so that it is never ahead of the disk. After `kill -9` it equals the last
/// acknowledged commit. After a power cut it is behind by what the system had not written back (up to half a minute).
/// `JournalScan` compares it with the journal.
@safe final class SyncMark: Sendable {
    /// The content of the file.
    enum Found: Equatable {
        /// The file does not exist: the store is new, or of an older version, or an operator has removed the file.
        case absent
        /// The file cannot be read.
        case damaged
        /// This commit and all before it are on the disk.
        case synced(UInt64)

        /// The commit, or 0 if it is unknown.
        var commit: UInt64 {
            if case .synced(let commit) = self { return commit }
            return 0
        }
    }

    /// The name of the file. The engine ignores unknown files.
    static let name = "SYNCED"
    /// The offsets of the two copies, which are written alternately. They are in different sectors: a torn write damages one.
    private static let offsets = [0, 512]
    private static let magic = UInt64(0x6363_732d_7379_6e63)
    private static let length = 24

    private let file: Int32

    /// Opens the mark of a store. If `first` is given, the mark is reset to it durably.
    init(_ path: String, first: UInt64?) throws(StoreError) {
        let name = "\(path)/\(Self.name)"
        file = unsafe Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("open \(name)") }
        guard let first else { return }
        // Without this sync the file might be missing after a power cut, and lost commits would not be noticed.
        guard Self.offsets.allSatisfy({ put(first, at: $0) }), fsync(file) == 0 else {
            throw .system("write \(name)")
        }
        try StoreFiles.sync(folder: path)
    }

    deinit { Glibc.close(file) }

    /// Records that a commit is on the disk. A failed write is ignored: an older mark is still correct.
    func update(to commit: UInt64) { _ = put(commit, at: Self.offsets[Int(commit % 2)]) }

    /// Reads the mark in the folder of a store.
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
        for offset in offsets {
            var bytes = [UInt8](repeating: 0, count: length)
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe pread(file, bytes.baseAddress, bytes.count, off_t(offset))
            }
            guard count >= 0 else { throw .system("read \(name)") }
            isEmpty = isEmpty && count == 0
            if let commit = commit(in: bytes.raw) { commits.append(commit) }
        }
        // An empty file is one that a crash interrupted before its first write.
        return commits.max().map { .synced($0) } ?? (isEmpty ? .absent : .damaged)
    }

    private func put(_ commit: UInt64, at offset: Int) -> Bool {
        let record = Self.record(commit)
        return unsafe record.bytes.withUnsafeBytes { record in
            unsafe pwrite(file, record.baseAddress, record.count, off_t(offset)) == record.count
        }
    }

    /// Returns a copy of the mark: a magic number, the commit, and a hash of both.
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
