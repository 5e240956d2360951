import Basics
import CRocksDB
import Glibc
import Store

/// The readable commits of a closed store: those in its engine, and those after them in its journal. It changes nothing.
///
/// The journal is read up to the first incomplete frame. That frame is the torn end of an unsynced write, or it is damage: the sync
/// mark decides which (`SyncMark`).
struct JournalScan {
    /// A file, with the frames of commits that the engine does not have.
    struct Segment {
        var bytes: [UInt8]
        var frames: [Range<Int>] = []
    }

    /// The files in order of their commits.
    private(set) var segments: [Segment] = []
    /// The applied commit: the engine has this one and all before it on the disk.
    let applied: UInt64
    /// Number of partitions. `nil` if the store is new.
    let partitions: Int?
    /// The last commit that can be read.
    private(set) var commit: UInt64
    /// Names of files that cannot be read to their end.
    private(set) var unread: [String] = []
    /// Names of files that are not read because commits are missing before them, and the first commit of the first one. A power
    /// cut cannot cause that: a file is started once all earlier commits are on the disk.
    private(set) var unreachable: [String] = []
    private var firstUnreachable: UInt64?
    private var reason = ""
    private let path: String

    /// Reads a store. Throws `locked` if it is open.
    init(_ path: String) throws(StoreError) {
        self.path = path
        let lock = try StoreLock(path)
        defer { extendLifetime(lock) }
        let end = try EngineState(path)
        (applied, partitions) = (end.commit, end.partitions)
        commit = applied
        var files: [(first: UInt64, name: String)] = []
        for name in try StoreFiles.names(in: path, beginning: JournalFolder.head) {
            if let first = JournalFolder.first(of: name) { files.append((first, name)) }
        }
        try demand(
            zip(files, files.dropFirst()).allSatisfy { $0.first < $1.first },
            "the journal files are unordered", path)
        if files.isEmpty { reason = "no journal file exists" }
        for (at, file) in files.enumerated() {
            // A file whose commits the engine has may be missing or torn.
            if at + 1 < files.count, files[at + 1].first <= applied + 1 { continue }
            guard file.first <= commit + 1 else {
                if unread.isEmpty {
                    reason = "\(path)/\(file.name) is the next file, and the commits before it are missing"
                }
                (firstUnreachable, unreachable) = (file.first, files[at...].map(\.name))
                break
            }
            try read(file.name, file.first)
        }
    }

    private mutating func read(_ name: String, _ first: UInt64) throws(StoreError) {
        guard let bytes = try StoreFiles.read("\(path)/\(name)", limit: Limits.Journal.fileBytes) else {
            throw StoreError(
                .corrupt, "\(path)/\(name) is larger than \(Limits.Journal.fileBytes) bytes, or was removed")
        }
        var segment = Segment(bytes: bytes)
        var (at, next) = (0, first)
        while let entries = JournalFrame.entries(in: bytes.raw, at: at, commit: next, segment: first) {
            if next > commit {
                segment.frames.append(entries)
                commit = next
            }
            at = entries.upperBound
            next += 1
        }
        segments.append(segment)
        if at < bytes.count {
            unread.append(name)
            reason = "\(path)/\(name) cannot be read after byte \(at) of \(bytes.count)"
        } else {
            reason = "\(path)/\(name) is truncated, or a later file is missing"
        }
    }

    /// Returns the commits that were on the disk and are missing. `synced` is the sync mark. Returns `nil` if none is missing.
    func lost(synced: UInt64) -> LostCommits? {
        let last = max(synced, (firstUnreachable ?? 1) - 1)
        return commit < last ? LostCommits(first: commit + 1, last: last) : nil
    }

    /// Returns the failure for lost commits. Returns `nil` if none is missing.
    func failure(synced: UInt64) -> StoreError? {
        guard let lost = lost(synced: synced) else { return nil }
        return StoreError(
            .lost,
            "\(path): commit \(lost.last) was on the disk, but the journal can be read up to commit \(commit) only: \(reason)"
        )
    }

    /// Renames or links unreadable files, so that they are kept and the next start skips them.
    func setAside() throws(StoreError) {
        for name in unread {
            // The start of the file may be good: it is read again under its own name.
            let (old, new) = names(name)
            guard unsafe link(old, new) == 0 || errno == EEXIST else { throw .system("link \(new)") }
        }
        for name in unreachable {
            let (old, new) = names(name)
            guard unsafe rename(old, new) == 0 else { throw .system("rename \(new)") }
        }
        try StoreFiles.sync(folder: path)
    }

    /// Returns the path of a file, and the path under which it is kept.
    private func names(_ name: String) -> (old: String, new: String) {
        ("\(path)/\(name)", "\(path)/\(name)\(JournalFolder.lost)")
    }
}
