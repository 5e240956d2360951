import Basics
import Catalogue
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
        return unsafe names(of: folder)
    }

    /// Returns the sorted names in an open folder.
    static func names(of folder: OpaquePointer) -> [String] {
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

    /// Returns the type bits of a path, without following a link. Returns `nil` if it does not exist.
    static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Returns a path without links, `.` and `..`. Returns `nil` if it does not exist.
    static func real(_ path: String) -> String? {
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// Whether a path is a folder or leads into it; both are real paths.
    static func isWithin(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder == "/" ? folder : folder + "/")
    }

    /// Returns the user who owns a symbolic link. Returns `nil` for anything else.
    static func linkOwner(_ path: String) -> uid_t? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        return status.st_uid
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

    /// Creates a file for its owner only. Returns its descriptor.
    static func open(new path: String) throws(BackupFailure) -> Int32 {
        let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("create", path) }
        return file
    }

    /// How a file is opened for reading: never through a link, and without waiting for the writer of a pipe.
    static let reading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC

    /// Returns the size of a file that was opened for reading. Throws if it could not be opened, or is no regular file.
    static func demandRegular(_ file: Int32, _ path: String) throws(BackupFailure) -> Int {
        guard file >= 0 else {
            guard errno != ELOOP else {
                throw BackupFailure(
                    "\(path) is a symbolic link", hint: "replace it by the file that it leads to", .badData)
            }
            throw .system("read", path)
        }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw BackupFailure("\(path) is not a regular file", hint: "remove it", .badData)
        }
        return Int(status.st_size)
    }

    /// Returns the content of an open file, at most `limit` bytes of it.
    static func read(_ file: Int32, limit: Int, _ path: String) throws(BackupFailure) -> [UInt8] {
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while content.count < limit {
            let count = unsafe Glibc.read(file, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path) }
            guard count > 0 else { break }
            content += part[..<count]
        }
        return content
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
