import Glibc
import RocksStore
import Store

/// The folders beside the store of a node while a copy of another node's store replaces it.
///
/// | folder | content |
/// |---|---|
/// | `store.copying` | what has arrived of a copy; removed at the next start |
/// | `store.copied` | a copy that is complete and verified; the next start puts it in the place of the store |
/// | `store.replaced` | the store before that, until the new one is open |
///
/// A copy is never used before it is complete, and a store never changed by one: whenever the process ends, the next start finds either
/// the old store or the new one.
struct CopiedStore {
    let dataDirectory: String

    var store: String { "\(dataDirectory)/store" }
    var draft: String { "\(dataDirectory)/store.copying" }
    var ready: String { "\(dataDirectory)/store.copied" }
    var replaced: String { "\(dataDirectory)/store.replaced" }

    /// Makes the empty folder for a copy, in the place of what an earlier one has left.
    func begin() throws(BackupFailure) {
        try BackupFiles.remove(ready)
        try BackupFiles.remove(draft)
        try BackupFiles.makeFolder(draft)
    }

    /// Marks the copy as complete. From then on the next start uses it.
    func complete() throws(BackupFailure) {
        try BackupFiles.sync(folder: draft)
        try Self.move(draft, to: ready)
        try BackupFiles.sync(folder: dataDirectory)
    }

    /// Removes an incomplete copy.
    func abandon() { try? BackupFiles.remove(draft) }

    /// Puts a complete copy in the place of the store, before that is opened. Returns whether there was one.
    func install() throws(BackupFailure) -> Bool {
        guard BackupFiles.kind(draft) != nil || BackupFiles.kind(ready) != nil else { return false }
        let isThere = BackupFiles.kind(store) != nil
        // Another process may run with this folder: its copy is not ours, and opening the store will name it.
        let lock = isThere ? try? ClosedStore(path: store) : nil
        guard !isThere || lock != nil else { return false }
        defer { extendLifetime(lock) }
        try BackupFiles.remove(draft)
        guard BackupFiles.kind(ready) != nil else { return false }
        if isThere {
            try BackupFiles.remove(replaced)
            try Self.move(store, to: replaced)
        }
        try Self.move(ready, to: store)
        try BackupFiles.sync(folder: dataDirectory)
        return true
    }

    /// Removes the previous store, once the new one is open. What cannot be removed only takes space.
    func removeReplaced() { try? BackupFiles.remove(replaced) }

    private static func move(_ path: String, to target: String) throws(BackupFailure) {
        guard unsafe rename(path, target) == 0 else { throw .system("move \(path) to", target) }
    }
}
