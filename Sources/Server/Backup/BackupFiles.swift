import Basics
import Glibc
import Transport

/// The owner of the files that are created.
struct FileOwner: Equatable {
    var user: UInt32
    var group: UInt32
}

/// Files and folders of backups: private, synced, and never reached through symbolic links.
enum BackupFiles {
    /// Creates a folder for its owner only.
    static func makeFolder(_ path: String, hint: String? = nil) throws(BackupFailure) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw .system("create", path, hint: hint) }
    }

    /// Returns the sorted names in a folder.
    static func names(in path: String) throws(BackupFailure) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .system("list", path) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a file, or a folder with everything in it. Does nothing if it does not exist.
    static func remove(_ path: String) throws(BackupFailure) {
        guard let kind = kind(path) else { return }
        guard kind == S_IFDIR else {
            guard unsafe unlink(path) == 0 else { throw .system("remove", path) }
            return
        }
        for name in try names(in: path) { try remove("\(path)/\(name)") }
        guard unsafe rmdir(path) == 0 else { throw .system("remove", path) }
    }

    /// Calls a closure with each file and folder of a tree, folders last.
    static func walk(_ path: String, _ body: (String) throws(BackupFailure) -> Void) throws(BackupFailure) {
        if kind(path) == S_IFDIR {
            for name in try names(in: path) { try walk("\(path)/\(name)", body) }
        }
        try body(path)
    }

    /// Returns the type bits of a path, without following a link. Returns `nil` if it does not exist.
    static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Returns the size of a file. Returns `nil` if it does not exist.
    static func size(_ path: String) -> Int? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Syncs a folder, so that created and renamed files are durable.
    static func sync(folder path: String) throws(BackupFailure) {
        let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .system("open", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .system("sync", path) }
    }

    /// Creates a file with a content, and syncs it.
    static func create(_ path: String, _ content: [UInt8]) throws(BackupFailure) {
        let file = try open(new: path)
        defer { close(file) }
        try write(content.raw, to: file, path)
        guard fsync(file) == 0 else { throw .system("write", path) }
    }

    /// Creates a file for its owner only. Returns its descriptor.
    static func open(new path: String) throws(BackupFailure) -> Int32 {
        let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("create", path) }
        return file
    }

    /// Writes all bytes to an open file.
    static func write(_ bytes: borrowing RawSpan, to file: Int32, _ path: String) throws(BackupFailure) {
        try unsafe bytes.withUnsafeBytes { (bytes) throws(BackupFailure) in
            var at = 0
            while at < bytes.count {
                let count = unsafe Glibc.write(
                    file, bytes.baseAddress.unsafelyUnwrapped + at, bytes.count - at)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw BackupFailure.system("write", path) }
                at += count
            }
        }
    }
}
