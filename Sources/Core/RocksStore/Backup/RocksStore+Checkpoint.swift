import Glibc
public import Store

/// A copy of an open store as of one commit, which can be opened as a store. Its files never change.
public struct StoreCheckpoint: Sendable, Equatable {
    /// The folder with the files, inside that of the store.
    public let path: String
    /// The names of the files, in order.
    public let files: [String]
    /// The copy has this commit and all before it, and none after it.
    public let commit: UInt64
}

extension RocksStore {
    /// The layout of the stores that this version reads and writes.
    public static var layout: Int { MetaKey.formatNow }

    /// Makes a copy of the open store between two commits. It replaces the previous one. One thread at a time may call this.
    ///
    /// Nothing is flushed: the sorted files and the ended journal files are linked, so that commits wait for some milliseconds only.
    /// Links keep the space of files that the store removes: the caller removes the copy with `removeCheckpoint`.
    public func checkpoint() throws(StoreError) -> StoreCheckpoint {
        try CheckpointFolder.remove(from: path)
        let folder = CheckpointFolder.path(in: path)
        do throws(StoreError) {
            // A failure of the journal requires that the store is reopened. A failed copy does not concern the store.
            let commit = try withCommitter { (committer) throws(StoreError) in
                let ended = try committer.endJournalFile()
                return Result { () throws(StoreError) -> UInt64 in
                    try withEngine { (engine) throws(StoreError) in try engine.checkpoint(to: folder) }
                    for name in ended.files { try linkFile(name, to: folder) }
                    return ended.commit
                }
            }.get()
            // The mark that a start compares the journal with: a truncated one is detected.
            _ = try SyncMark(folder, first: commit)
            let files = try StoreFiles.names(in: folder, beginning: "").filter { $0 != "." && $0 != ".." }
            return StoreCheckpoint(path: folder, files: files, commit: commit)
        } catch {
            try? CheckpointFolder.remove(from: path)
            throw error
        }
    }

    /// Removes the copy that `checkpoint` has made.
    public func removeCheckpoint() throws(StoreError) { try CheckpointFolder.remove(from: path) }

    private func linkFile(_ name: String, to folder: String) throws(StoreError) {
        guard unsafe link("\(path)/\(name)", "\(folder)/\(name)") == 0 else {
            throw .system("link \(folder)/\(name)")
        }
    }
}

/// The lock of a store that no process has open. It is released with its last reference.
public final class ClosedStore {
    private let lock: StoreLock

    /// Takes the lock of the store in an existing folder. Throws `locked` if a process has the store open, and names it.
    public init(path: String) throws(StoreError) {
        do throws(StoreError) { lock = try StoreLock(path) } catch {
            throw error.kind == .locked ? Recovery.locked(path, error) : error
        }
    }
}
