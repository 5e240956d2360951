import Basics
import Catalogue
import Glibc
import Operator
import Transport

extension ConfigCheck {
    /// Checks that the data directory exists or can be created, is ours, and has room for a store.
    mutating func checkDirectory() {
        guard isUsable(.dataDirectory) else { return }
        let path = configuration.dataDirectory
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return add(
                    .error, .dataDirectory, "\(path): \(Self.reason)",
                    "make every folder of the path accessible to the user that runs ccsd")
            }
            return checkCanBeMade(path)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return add(.error, .dataDirectory, "\(path) is not a folder", "give the path of a folder")
        }
        checkWritable(path, status)
        checkRoom(in: path)
        let store = configuration.storePath
        var below = stat()
        if unsafe stat(store, &below) == 0, below.st_mode & S_IFMT != S_IFDIR {
            add(
                .error, .dataDirectory, "\(store) is not a folder",
                "move it away, or name another data directory")
        } else if unsafe stat(store, &below) == 0, unsafe access(store, R_OK | W_OK | X_OK) != 0 {
            add(
                .error, .dataDirectory, "the store in \(store) is not writable by this user",
                "chown -R \(store) to the user that runs ccsd")
        }
    }

    /// Checks that the number of partitions is that of the running daemon's store. A store that is not in use is checked at start.
    mutating func checkPartitions() {
        guard isUsable(.storePartitions), let wanted = configuration.storePartitions,
            let found = running?.partitions, found != wanted
        else { return }
        add(
            .error, .storePartitions,
            "the store in \(configuration.storePath) has \(found) partitions, but store_partitions is \(wanted)",
            "remove store_partitions or set it to \(found): a store keeps the number that it was created with"
        )
    }

    private mutating func checkCanBeMade(_ path: String) {
        let parent = Self.parent(of: path)
        var status = stat()
        guard unsafe stat(parent, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return add(
                .error, .dataDirectory, "\(path) is missing, and so is its parent folder \(parent)",
                "create \(parent) first")
        }
        guard unsafe access(parent, W_OK | X_OK) == 0 else {
            return add(
                .error, .dataDirectory,
                "\(path) is missing and cannot be created in \(parent): \(Self.reason)",
                "create it, owned by the user that runs ccsd")
        }
        checkRoom(in: parent)
    }

    private mutating func checkWritable(_ path: String, _ status: stat) {
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            return add(
                .error, .dataDirectory, "\(path) is not writable by this user: \(Self.reason)",
                "chown it to the user that runs ccsd, or run the check as that user")
        }
        if status.st_uid != geteuid() {
            add(
                .warning, .dataDirectory,
                "\(path) belongs to user \(status.st_uid), and this check runs as user \(geteuid())",
                "run ccsd and its check as the same user")
        }
        if status.st_mode & 0o077 != 0 {
            add(.warning, .dataDirectory, "\(path) is accessible to other users", "chmod 700 \(path)")
        }
    }

    private mutating func checkRoom(in path: String) {
        guard let device = DeviceSpace(of: path), device.free < Limits.Store.freeBytes else { return }
        add(
            .error, .dataDirectory, "only \(device.free) bytes are free on the file system of \(path)",
            "free at least \(Limits.Store.freeBytes) bytes, which opening a store needs")
    }

    /// The system's description of the last error.
    static var reason: String { unsafe String(cString: strerror(errno)) }

    /// Returns the parent folder of a path.
    static func parent(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}
