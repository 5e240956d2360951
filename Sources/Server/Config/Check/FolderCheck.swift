import Basics
import Catalogue
import Glibc
import Operator
import Transport

extension ConfigCheck {
    /// The data directory: it is there or can be made, is ours, and has room for a store.
    mutating func checkDirectory() {
        guard isUsable(.dataDirectory) else { return }
        let path = configuration.dataDirectory
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return add(
                    .error, .dataDirectory, "\(path): \(Self.reason)",
                    "see that every folder of the path may be entered")
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
                .error, .dataDirectory, "the store in \(store) may not be written by this user",
                "chown -R it to the user that runs ccsd")
        }
    }

    /// The number of partitions is fixed when a store is created. A store that no daemon has open is left alone: the start says it.
    mutating func checkPartitions() {
        guard isUsable(.storePartitions), let wanted = configuration.storePartitions,
            let found = running?.partitions, found != wanted
        else { return }
        add(
            .error, .storePartitions,
            "the store in \(configuration.storePath) has \(found) partitions, and store_partitions is \(wanted)",
            "remove it or set it to \(found): a store keeps the number that it was created with")
    }

    private mutating func checkCanBeMade(_ path: String) {
        let parent = Self.parent(of: path)
        var status = stat()
        guard unsafe stat(parent, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return add(
                .error, .dataDirectory, "\(path) is missing, and so is \(parent), in which it would be made",
                "make \(parent) first")
        }
        guard unsafe access(parent, W_OK | X_OK) == 0 else {
            return add(
                .error, .dataDirectory, "\(path) is missing and cannot be made in \(parent): \(Self.reason)",
                "make it yourself, owned by the user that runs ccsd")
        }
        checkRoom(in: parent)
    }

    private mutating func checkWritable(_ path: String, _ status: stat) {
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            return add(
                .error, .dataDirectory, "\(path) may not be written by this user: \(Self.reason)",
                "give it to the user that runs ccsd, or run the check as that user")
        }
        if status.st_uid != geteuid() {
            add(
                .warning, .dataDirectory,
                "\(path) belongs to user \(status.st_uid), and this check runs as user \(geteuid())",
                "run ccsd and its check as the same user")
        }
        if status.st_mode & 0o077 != 0 {
            add(.warning, .dataDirectory, "\(path) is open to other users", "chmod 700 \(path)")
        }
    }

    private mutating func checkRoom(in path: String) {
        guard let device = DeviceSpace(of: path), device.free < Limits.Store.freeBytes else { return }
        add(
            .error, .dataDirectory, "\(device.free) bytes are free on the device of \(path)",
            "a store needs \(Limits.Store.freeBytes) to be opened: make room")
    }

    /// The words of the system for the last failure.
    static var reason: String { unsafe String(cString: strerror(errno)) }

    /// The folder that a path is in.
    static func parent(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}
