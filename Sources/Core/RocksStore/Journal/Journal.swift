import Basics
import Glibc
import Store

/// The write-ahead log of the store: the commits in order, in files of one folder.
///
/// A file is named after its first commit. Frames are appended; a commit is on the disk once `sync` has returned. The engine writes
/// no log of its own: the next start replays from here what the engine had in memory only (`Replay`). A file can be removed once
/// the engine has flushed all of its commits.
struct Journal: ~Copyable, Sendable {
    private struct Segment: Sendable {
        var first: UInt64
        var bytes: Int
    }

    private let path: String
    private let sizes: EngineSizes
    private let syncMark: SyncMark
    private var file: OpenFile
    private var segments: [Segment]
    /// The last commit that was appended.
    private(set) var commit: UInt64
    /// The last commit that is on the disk.
    private(set) var synced: UInt64
    private var syncTimes = SyncTimes()

    /// Starts a journal after a commit up to which the engine has everything on the disk. Older files are removed.
    ///
    /// The sync mark is continued if `keepsMark` is set. Otherwise it is created.
    init(
        _ path: String, _ sizes: EngineSizes, after commit: UInt64, keepsSyncMark keepsMark: Bool
    ) throws(StoreError) {
        let old = try StoreFiles.names(in: path, beginning: JournalFolder.head)
        let syncMark = try SyncMark(path, first: keepsMark ? nil : commit)
        let name = JournalFolder.name(commit + 1)
        file = try Self.begin(path, name)
        self.path = path
        self.sizes = sizes
        self.syncMark = syncMark
        self.commit = commit
        synced = commit
        segments = [Segment(first: commit + 1, bytes: 0)]
        for old in old where old != name && JournalFolder.first(of: old) != nil {
            _ = unsafe unlink("\(path)/\(old)")
        }
        syncMark.update(to: commit)
    }

    /// Size of all files in bytes.
    var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    /// Appends a commit and returns its number. After a failure it is unknown what was written, and the store must be reopened.
    mutating func append(_ writer: inout JournalWriter) throws(StoreError) -> UInt64 {
        let last = segments.count - 1
        try demand(synced <= commit, "the synced commit is after the last one")
        try demand(segments[last].first <= commit + 1, "a journal file starts after the commit that it gets")
        try demand(!writer.isEmpty, "a commit has no entries")
        try demand(
            segments[last].bytes + writer.frame.count <= Limits.Journal.fileBytes,
            "a commit makes a journal file larger than a start can read")
        commit += 1
        writer.seal(commit: commit, segment: segments[last].first)
        try StoreFiles.append(writer.frame.bytes, to: file.descriptor, path)
        segments[last].bytes += writer.frame.count
        return commit
    }

    /// Syncs all appended commits to the disk.
    mutating func sync() throws(StoreError) {
        guard synced < commit else { return }
        let start = Now.read().monotonic.nanoseconds
        guard fdatasync(file.descriptor) == 0 else { throw .system("sync \(path)") }
        syncTimes.count += 1
        syncTimes.nanoseconds += Int(Now.read().monotonic.nanoseconds - start)
        synced = commit
        syncMark.update(to: commit)
    }

    /// Returns the syncs since the last call.
    mutating func takeSyncTimes() -> SyncTimes {
        defer { syncTimes = SyncTimes() }
        return syncTimes
    }

    /// Whether the current file is large enough to start the next one.
    var isSegmentFull: Bool { segments[segments.count - 1].bytes >= sizes.segment }

    /// Starts the next file. The current one is synced first, so that no commit is ever missing before another one.
    mutating func rotate() throws(StoreError) {
        try demand(segments[segments.count - 1].first <= commit, "a journal file ends without commits")
        try sync()
        file = try Self.begin(path, JournalFolder.name(commit + 1))
        segments.append(Segment(first: commit + 1, bytes: 0))
    }

    /// Ends the current file if it has commits. Returns the names of all ended files.
    mutating func endFile() throws(StoreError) -> [String] {
        if segments[segments.count - 1].first <= commit { try rotate() }
        return segments.dropLast().map { JournalFolder.name($0.first) }
    }

    private static func begin(_ path: String, _ name: String) throws(StoreError) -> OpenFile {
        // A file of this name has no complete frame. It is not overwritten: after a failed sync its old content may still reach the
        // disk.
        _ = unsafe unlink("\(path)/\(name)")
        let descriptor = unsafe Glibc.open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open \(path)/\(name)") }
        let file = OpenFile(descriptor: descriptor)
        guard fsync(descriptor) == 0 else { throw .system("sync \(path)/\(name)") }
        try StoreFiles.sync(folder: path)
        return file
    }

    /// Removes the files whose commits the engine has on the disk.
    mutating func retire(upTo applied: UInt64) {
        while segments.count > 1, segments[1].first <= applied + 1 {
            // A file that cannot be removed takes space until the next start, which skips it.
            _ = unsafe unlink("\(path)/\(JournalFolder.name(segments[0].first))")
            segments.removeFirst()
        }
    }
}

/// The names of journal files.
enum JournalFolder {
    static let head = "journal-"
    /// The suffix of a file whose loss was accepted.
    static let lost = ".lost"
    private static let digits = 20

    /// The file that begins with a commit; in the order of names commits are in order.
    static func name(_ first: UInt64) -> String {
        let number = "\(first)"
        return head + String(repeating: "0", count: digits - number.utf8.count) + number
    }

    /// Returns the first commit of a file. Returns `nil` if the name is not that of a journal file.
    static func first(of name: String) -> UInt64? {
        let number = name.utf8.dropFirst(head.utf8.count)
        guard name.hasPrefix(head), number.count == digits else { return nil }
        return UInt64(Substring(number))
    }
}
