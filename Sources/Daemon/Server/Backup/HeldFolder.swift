import Basics
import Catalogue
import Glibc

/// An open folder. What is done in it does not depend on what its path leads to by then, and never follows a symbolic link.
///
/// Names are relative to the folder and may have folders in front, such as `store/CURRENT`. Each of these is opened without
/// following a link.
final class HeldFolder {
    let descriptor: Int32
    /// The path, for messages.
    let path: String

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    /// Opens a folder that an operator gave, whose path may have links.
    convenience init(_ path: String) throws(BackupFailure) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open the folder", path) }
        self.init(descriptor, path)
    }

    /// Opens a folder in this one.
    func folder(_ name: String) throws(BackupFailure) -> HeldFolder {
        let found = unsafe openat(descriptor, name, Self.flags)
        guard found >= 0 else {
            guard errno != ENOTDIR, errno != ELOOP else {
                throw BackupFailure(
                    "\(path)/\(name) is not a folder", hint: "a symbolic link is not followed", .badData)
            }
            throw .system("open the folder", "\(path)/\(name)")
        }
        return HeldFolder(found, "\(path)/\(name)")
    }

    /// Creates a folder for its owner only, and opens it. Throws if what is opened is not what was created.
    func makeFolder(_ name: String, hint: String? = nil) throws(BackupFailure) -> HeldFolder {
        guard unsafe mkdirat(descriptor, name, 0o700) == 0 else {
            throw .system("create", "\(path)/\(name)", hint: hint)
        }
        let made = try folder(name)
        try made.demandOwn()
        return made
    }

    /// Throws if a user owns the folder who is neither that of the process nor `other`.
    func demandOwn(orOf other: UInt32? = nil) throws(BackupFailure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("read", path) }
        guard [geteuid(), other].contains(status.st_uid) else { throw Self.foreign(path, status.st_uid) }
    }

    static func foreign(_ path: String, _ user: UInt32) -> BackupFailure {
        BackupFailure(
            "\(path) belongs to user \(user), not to the user of ccsd (\(geteuid()))",
            hint: "remove it, or give a folder that no other user may write to", .noPermission)
    }

    /// Returns the sorted names in the folder.
    func names() throws(BackupFailure) -> [String] {
        let copy = unsafe openat(descriptor, ".", Self.flags)
        guard copy >= 0, let folder = unsafe fdopendir(copy) else { throw .system("list", path) }
        defer { unsafe closedir(folder) }
        return unsafe BackupFiles.names(of: folder)
    }

    /// Returns the status of an entry, without following a link. Returns `nil` if it does not exist.
    private func status(_ name: String) -> stat? {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Removes an entry with everything in it. Does nothing if it does not exist. Throws if a user owns it who is neither that of the
    /// process nor `other`.
    func remove(_ name: String, orOf other: UInt32? = nil) throws(BackupFailure) {
        guard let status = status(name) else { return }
        guard status.st_uid == geteuid() || status.st_uid == other else {
            throw Self.foreign("\(path)/\(name)", status.st_uid)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return try unlink(name, 0) }
        let content = try folder(name)
        for inner in try content.names() { try content.remove(inner, orOf: other) }
        try unlink(name, AT_REMOVEDIR)
    }

    /// Gives the folder and everything in it to a user, the folder last: until then no other user can enter it.
    func give(to owner: FileOwner) throws(BackupFailure) {
        for name in try names() {
            if let status = status(name), status.st_mode & S_IFMT == S_IFDIR {
                try folder(name).give(to: owner)
            } else if unsafe fchownat(descriptor, name, owner.user, owner.group, AT_SYMLINK_NOFOLLOW) != 0 {
                throw .system("give away", "\(path)/\(name)")
            }
        }
        guard fchown(descriptor, owner.user, owner.group) == 0 else { throw .system("give away", path) }
    }

    /// Lets everyone read a regular file. Does nothing if it does not exist.
    func publish(_ name: String) throws(BackupFailure) {
        guard status(name) != nil else { return }
        let file = try open(name).file
        defer { close(file) }
        guard fchmod(file, 0o644) == 0 else { throw .system("change the mode of", "\(path)/\(name)") }
    }

    /// Removes a folder unless something is in it.
    func removeIfEmpty(_ name: String) { _ = unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }

    /// Moves an entry to another folder. Returns whether it was moved, else `errno` has the reason.
    func move(_ name: String, to folder: HeldFolder) -> Bool {
        unsafe renameat(descriptor, name, folder.descriptor, name) == 0
    }

    private func unlink(_ name: String, _ flags: Int32) throws(BackupFailure) {
        guard unsafe unlinkat(descriptor, name, flags) == 0 else {
            throw .system("remove", "\(path)/\(name)")
        }
    }

    /// Gives an entry of this folder, which must be an open one, another name. Throws if it was exchanged.
    func rename(_ held: HeldFolder, from name: String, to other: String, hint: String?) throws(BackupFailure)
    {
        guard unsafe renameat(descriptor, name, descriptor, other) == 0 else {
            throw .system("create", "\(path)/\(other)", hint: errno == EBUSY ? hint : nil)
        }
        var own = stat()
        guard unsafe fstat(held.descriptor, &own) == 0, let found = status(other), found.st_ino == own.st_ino,
            found.st_dev == own.st_dev
        else {
            throw BackupFailure(
                "\(path)/\(name) was exchanged by another user while it was written",
                hint: "give a folder that no other user may write to", .noPermission)
        }
    }

    /// Calls a closure with the folder of a file and its name there.
    private func reach<Result>(
        _ name: String, _ body: (HeldFolder, String) throws(BackupFailure) -> Result
    ) throws(BackupFailure) -> Result {
        let parts = name.split(separator: "/").map(String.init)
        var place = self
        for part in parts.dropLast() { place = try place.folder(part) }
        return try body(place, parts.last ?? "")
    }

    /// Creates a file for its owner only. Returns its descriptor.
    func create(_ name: String) throws(BackupFailure) -> Int32 {
        try reach(name) { (folder, last) throws(BackupFailure) in
            let file = unsafe openat(
                folder.descriptor, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .system("create", "\(path)/\(name)") }
            return file
        }
    }

    /// Creates a file with a content, and syncs it.
    func create(_ name: String, _ content: [UInt8]) throws(BackupFailure) {
        let file = try create(name)
        defer { close(file) }
        try BackupFiles.write(content.raw, to: file, "\(path)/\(name)")
        guard fsync(file) == 0 else { throw .system("write", "\(path)/\(name)") }
    }

    /// Links a file of another folder. Returns the error number, or 0.
    func link(_ source: String, as name: String) throws(BackupFailure) -> Int32 {
        try reach(name) { (folder, last) throws(BackupFailure) in
            unsafe linkat(AT_FDCWD, source, folder.descriptor, last, 0) == 0 ? 0 : errno
        }
    }

    /// Opens a regular file for reading, without waiting for the writer of a pipe. Returns its descriptor and its size.
    func open(_ name: String) throws(BackupFailure) -> (file: Int32, bytes: Int) {
        try reach(name) { (folder, last) throws(BackupFailure) in
            let file = unsafe openat(folder.descriptor, last, BackupFiles.reading)
            return (file, try BackupFiles.demandRegular(file, "\(path)/\(name)"))
        }
    }

    /// Syncs the folder, so that created and renamed files are durable.
    func sync() throws(BackupFailure) {
        guard fsync(descriptor) == 0 else { throw .system("sync", path) }
    }
}
