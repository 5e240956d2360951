import Glibc
import Store

/// The folder of a checkpoint, inside that of its store: on the same file system, so that files can be linked.
enum CheckpointFolder {
    private static let name = "checkpoint"
    /// The name while the engine writes its part.
    private static let draft = "checkpoint.tmp"

    /// Returns the path of the folder.
    static func path(in store: String) -> String { "\(store)/\(name)" }

    /// Removes the folder with its files, if it exists. What a crash has left of one would keep the space of removed files.
    static func remove(from store: String) throws(StoreError) {
        for name in [name, draft] {
            let path = "\(store)/\(name)"
            guard unsafe access(path, F_OK) == 0 else { continue }
            for file in try StoreFiles.names(in: path, beginning: "") where file != "." && file != ".." {
                guard unsafe unlink("\(path)/\(file)") == 0 else { throw .system("remove \(path)/\(file)") }
            }
            guard unsafe rmdir(path) == 0 else { throw .system("remove \(path)") }
        }
    }
}
