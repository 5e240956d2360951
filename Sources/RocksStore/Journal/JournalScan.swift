import Basics
import CRocksDB
import Glibc
import Store

/// How far a closed store can be read: what its engine has, and behind it what stands in its journal. Nothing is changed.
///
/// The journal is read up to the first frame that is not whole. That is the torn end of what was never synced, or it is damage:
/// the note of what was synced tells which (`SyncMark`).
struct JournalScan {
    /// A file, with the frames that count: those of commits that the engine does not have.
    struct Segment {
        var bytes: [UInt8]
        var frames: [Range<Int>] = []
    }

    /// In order of their commits.
    private(set) var segments: [Segment] = []
    /// The last commit that the engine has on the disk, with all before it.
    let settled: UInt64
    /// The number of partitions; `nil` if the store is new.
    let partitions: Int?
    /// The last commit that can be read.
    private(set) var commit: UInt64
    /// Files of the journal that cannot be read to their end.
    private(set) var unread: [String] = []
    /// Files that are not read since commits are missing before them, and the first commit of the first one. They are never the
    /// end of a power cut: a file is begun when all before it is on the disk.
    private(set) var strays: [String] = []
    private var stray: UInt64?
    private var words = ""
    private let path: String

    /// Looks at a store; refused while another process has it open.
    init(_ path: String) throws(StoreError) {
        self.path = path
        let lock = try StoreLock(path)
        defer { extendLifetime(lock) }
        let end = try EngineEnd(path)
        (settled, partitions) = (end.commit, end.partitions)
        commit = settled
        var files: [(first: UInt64, name: String)] = []
        for name in try StoreFiles.names(in: path, beginning: JournalFolder.head) {
            if let first = JournalFolder.first(of: name) { files.append((first, name)) }
        }
        try demand(
            zip(files, files.dropFirst()).allSatisfy { $0.first < $1.first },
            "the files of the journal are out of order", path)
        if files.isEmpty { words = "there is no journal" }
        for (at, file) in files.enumerated() {
            // What the engine has need not be there any more, nor be whole.
            if at + 1 < files.count, files[at + 1].first <= settled + 1 { continue }
            guard file.first <= commit + 1 else {
                if unread.isEmpty {
                    words = "\(path)/\(file.name) is the next, and what comes before it is missing"
                }
                (stray, strays) = (file.first, files[at...].map(\.name))
                break
            }
            try read(file.name, file.first)
        }
    }

    private mutating func read(_ name: String, _ first: UInt64) throws(StoreError) {
        guard let bytes = try StoreFiles.read("\(path)/\(name)", limit: Limits.Journal.fileBytes) else {
            throw StoreError(
                .corrupt, "\(path)/\(name) is larger than \(Limits.Journal.fileBytes) bytes, or gone")
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
            words = "\(path)/\(name) cannot be read behind byte \(at) of \(bytes.count)"
        } else {
            words = "\(path)/\(name) is cut short, or a later one is missing"
        }
    }

    /// The commits that were on the disk and are missing, where so many are noted as synced; nil: none.
    func lost(synced: UInt64) -> LostCommits? {
        let last = max(synced, (stray ?? 1) - 1)
        return commit < last ? LostCommits(first: commit + 1, last: last) : nil
    }

    /// The same in words.
    func complaint(synced: UInt64) -> StoreError? {
        guard let lost = lost(synced: synced) else { return nil }
        return StoreError(
            .lost,
            "\(path): commit \(lost.last) was on the disk, but the journal can be read up to commit \(commit) only: \(words)"
        )
    }

    /// Keeps what cannot be read under names that the next opening passes over.
    func setAside() throws(StoreError) {
        for name in unread {
            // Its begin may be good; under its own name it is read once more.
            let (old, new) = names(name)
            guard unsafe link(old, new) == 0 || errno == EEXIST else { throw .system("link \(new)") }
        }
        for name in strays {
            let (old, new) = names(name)
            guard unsafe rename(old, new) == 0 else { throw .system("rename \(new)") }
        }
        try StoreFiles.sync(folder: path)
    }

    /// The path of a file, and where it is kept.
    private func names(_ name: String) -> (old: String, new: String) {
        ("\(path)/\(name)", "\(path)/\(name)\(JournalFolder.lost)")
    }
}
