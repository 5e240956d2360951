import Basics
import Glibc
import Store

/// What commits did, in files of a folder, in order: the one log of the store.
///
/// A file is named after its first commit. Frames are written behind each other; a commit is on the disk once `sync` has returned.
/// The engine writes no log of its own: what it has only in memory is found here again by the next opening (`Replay`), and a file
/// may go once the engine has written out all that its commits did.
struct Journal: ~Copyable, Sendable {
    private struct Segment: Sendable {
        var first: UInt64
        var bytes: Int
    }

    private let path: String
    private let sizes: EngineSizes
    private let note: SyncMark
    private var file: OpenFile
    private var segments: [Segment]
    /// The last commit that was written.
    private(set) var commit: UInt64
    /// The last commit that is on the disk.
    private(set) var synced: UInt64

    /// Goes on behind a commit, up to which all is in the engine and on the disk: the files that were there go.
    ///
    /// The note of what was synced goes on, or begins anew.
    init(
        _ path: String, _ sizes: EngineSizes, after commit: UInt64, noteGoesOn isNoted: Bool
    ) throws(StoreError) {
        let old = try StoreFiles.names(in: path, beginning: JournalFolder.head)
        let note = try SyncMark(path, first: isNoted ? nil : commit)
        let name = JournalFolder.name(commit + 1)
        file = try Self.begin(path, name)
        self.path = path
        self.sizes = sizes
        self.note = note
        self.commit = commit
        synced = commit
        segments = [Segment(first: commit + 1, bytes: 0)]
        for old in old where old != name && JournalFolder.first(of: old) != nil {
            _ = unsafe unlink("\(path)/\(old)")
        }
        note.note(commit)
    }

    /// Bytes in all files.
    var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    /// Writes a commit; its number. After a failure nobody knows what of it is there, and the store is to be opened anew.
    mutating func append(_ writer: inout JournalWriter) throws(StoreError) -> UInt64 {
        let last = segments.count - 1
        try demand(synced <= commit, "more commits are on the disk than were written")
        try demand(segments[last].first <= commit + 1, "a file of the journal begins behind its commit")
        try demand(!writer.isEmpty, "a commit without entries is written")
        try demand(
            segments[last].bytes + writer.frame.count <= Limits.Journal.fileBytes,
            "a commit makes a file of the journal too large to be read back")
        commit += 1
        writer.seal(commit: commit, segment: segments[last].first)
        try StoreFiles.append(writer.frame.bytes, to: file.descriptor, path)
        segments[last].bytes += writer.frame.count
        return commit
    }

    /// Brings all that was written to the disk.
    mutating func sync() throws(StoreError) {
        guard synced < commit else { return }
        guard fdatasync(file.descriptor) == 0 else { throw .system("sync \(path)") }
        synced = commit
        note.note(commit)
    }

    /// Whether the file is large enough for another one to be begun.
    var isSegmentFull: Bool { segments[segments.count - 1].bytes >= sizes.segment }

    /// Begins the next file; what the one before holds is on the disk first, so that no commit is ever missing before another.
    mutating func rotate() throws(StoreError) {
        try demand(segments[segments.count - 1].first <= commit, "a file of the journal without commits ends")
        try sync()
        file = try Self.begin(path, JournalFolder.name(commit + 1))
        segments.append(Segment(first: commit + 1, bytes: 0))
    }

    private static func begin(_ path: String, _ name: String) throws(StoreError) -> OpenFile {
        // Only one without a whole frame has this name already. It is not written over: where a sync of it has failed, nobody knows
        // what of it may still come.
        _ = unsafe unlink("\(path)/\(name)")
        let descriptor = unsafe Glibc.open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("open \(path)/\(name)") }
        let file = OpenFile(descriptor: descriptor)
        guard fsync(descriptor) == 0 else { throw .system("sync \(path)/\(name)") }
        try StoreFiles.sync(folder: path)
        return file
    }

    /// Removes the files whose commits are all in the engine, and on the disk there.
    mutating func retire(upTo settled: UInt64) {
        while segments.count > 1, segments[1].first <= settled + 1 {
            // One that cannot be removed costs room until the next opening, and is passed over there.
            _ = unsafe unlink("\(path)/\(JournalFolder.name(segments[0].first))")
            segments.removeFirst()
        }
    }
}

/// What the files of a journal are called.
enum JournalFolder {
    static let head = "journal-"
    /// Behind the name of a file whose loss was accepted.
    static let lost = ".lost"
    private static let digits = 20

    /// The file that begins with a commit; in the order of names commits are in order.
    static func name(_ first: UInt64) -> String {
        let number = "\(first)"
        return head + String(repeating: "0", count: digits - number.utf8.count) + number
    }

    /// The first commit of a file; nil: it is none of the journal's.
    static func first(of name: String) -> UInt64? {
        let number = name.utf8.dropFirst(head.utf8.count)
        guard name.hasPrefix(head), number.count == digits else { return nil }
        return UInt64(Substring(number))
    }
}
