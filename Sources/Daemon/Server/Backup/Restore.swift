import Basics
import Catalogue
import Delivery
import Glibc
import RocksStore
import Store
import Transport

/// Restores a backup to a data directory that no ccsd uses.
struct Restore {
    /// What a restore did.
    struct Restored {
        var backup: BackupReader
        /// The counts of the restored store. `nil` if the backup was only verified.
        var audit: StoreAudit?
        /// The folder with the previous content of the data directory. `nil` if there was none.
        var replaced: String?
    }

    let folder: String
    let dataDirectory: String
    /// Whether the content of a data directory that is not empty is moved aside.
    var replaces = false
    /// Whether the backup is only verified.
    var verifies = false
    var now: UnixMilliseconds

    /// The name of the folder for files that are not verified yet.
    private static let draft = ".restore.partial"

    private var store: String { "\(dataDirectory)/\(BackupLayout.store)" }

    /// Restores or verifies the backup. If it fails, the data directory is unchanged.
    func run(report: (_ done: Int, _ total: Int) -> Void) throws(BackupFailure) -> Restored {
        let backup = try BackupReader(folder)
        guard !verifies else {
            try backup.transfer(to: nil, report: report)
            return Restored(backup: backup)
        }
        try demandApart()
        let isNew = BackupFiles.kind(dataDirectory) == nil
        if isNew { try BackupFiles.makeFolder(dataDirectory) }
        do throws(BackupFailure) {
            return try restore(backup, report: report)
        } catch {
            if let directory = try? HeldFolder(dataDirectory), let owner = try? self.owner() {
                try? directory.remove(Self.draft, orOf: owner.user)
            }
            if isNew { _ = unsafe rmdir(dataDirectory) }
            throw error
        }
    }

    /// Throws if one of the backup and the data directory is in the other: moving the old content aside would take the backup apart.
    private func demandApart() throws(BackupFailure) {
        let parts = dataDirectory.split(separator: "/")
        let parent = (dataDirectory.hasPrefix("/") ? "/" : "./") + parts.dropLast().joined(separator: "/")
        // A data directory that does not exist is made in the folder above it.
        let data =
            BackupFiles.real(dataDirectory) ?? BackupFiles.real(parent).map { "\($0)/\(parts.last ?? "")" }
        guard let data, let backup = BackupFiles.real(folder) else { return }
        let place: String
        if data == backup {
            place = "is the backup itself"
        } else if BackupFiles.isWithin(data, backup) {
            place = "is inside the backup \(backup)"
        } else if BackupFiles.isWithin(backup, data) {
            place = "contains the backup \(backup)"
        } else {
            return
        }
        throw BackupFailure(
            "the data directory \(dataDirectory) \(place)",
            hint:
                "nothing was changed: give another folder with --data-directory, or move the backup out of it",
            .usage)
    }

    private func restore(
        _ backup: BackupReader, report: (_ done: Int, _ total: Int) -> Void
    ) throws(BackupFailure) -> Restored {
        let lock = try demandUnused()
        defer { extendLifetime(lock) }
        let directory = try HeldFolder(dataDirectory)
        try directory.remove(Self.draft, orOf: try owner().user)
        let old = try demandReplaceable()
        let draft = try directory.makeFolder(Self.draft)
        var inner: [HeldFolder] = []
        for name in [BackupLayout.store, BackupLayout.apns] { inner.append(try draft.makeFolder(name)) }
        try backup.transfer(to: draft, report: report)
        let audit = try audit(draft)
        // Clients are given them: they get the mode that ccsd creates them with.
        for name in BackupLayout.certificates { try draft.publish(name) }
        if geteuid() == 0 { try draft.give(to: try owner()) }
        for folder in inner + [draft] { try folder.sync() }
        let aside = try exchange(old, draft, directory)
        try directory.remove(Self.draft, orOf: try owner().user)
        try directory.sync()
        return Restored(backup: backup, audit: audit, replaced: aside)
    }

    /// Returns the failure of a start in a data directory whose restore was interrupted while files were moved. `nil` if none was.
    static func interruption(of dataDirectory: String) -> BackupFailure? {
        guard BackupFiles.kind("\(dataDirectory)/\(draft)") != nil,
            BackupFiles.kind("\(dataDirectory)/\(BackupLayout.store)") == nil
        else { return nil }
        return BackupFailure(
            "a restore to \(dataDirectory) was interrupted, and its store is not there",
            hint: "run ccsd restore --replace again; the previous content is in a folder replaced-TIME there",
            .inputOutput)
    }

    /// Takes the lock of the store in the data directory. Throws if a ccsd uses it.
    private func demandUnused() throws(BackupFailure) -> ClosedStore? {
        guard let kind = BackupFiles.kind(store) else { return nil }
        // A link would lead the lock out of the data directory.
        for (path, isRight, what) in [
            (store, kind == S_IFDIR, "folder"),
            ("\(store)/LOCK", [nil, S_IFREG].contains(BackupFiles.kind("\(store)/LOCK")), "file"),
        ] where !isRight {
            throw BackupFailure(
                "\(path) is no \(what)",
                hint: "look at what it is, and remove it or give another --data-directory",
                .inputOutput)
        }
        do throws(StoreError) { return try ClosedStore(path: store) } catch {
            guard error.kind == .locked else {
                throw BackupFailure(
                    "cannot lock the store: \(error.description)",
                    hint: "run the restore as root or as the user of ccsd", .inputOutput)
            }
            throw BackupFailure(
                "the data directory is in use: \(error.description)",
                hint: "stop ccsd first, or restore to another folder with --data-directory", .inputOutput)
        }
    }

    /// Returns what is in the data directory. Throws if it is not empty and must not be replaced.
    private func demandReplaceable() throws(BackupFailure) -> [String] {
        let names = try BackupFiles.names(in: dataDirectory)
        guard names.isEmpty || replaces else {
            throw BackupFailure(
                "\(dataDirectory) is not empty",
                hint: "give an empty folder, or move its content aside with --replace", .inputOutput)
        }
        return names.filter { !$0.hasPrefix(Self.aside) }
    }

    private static let aside = "replaced-"

    /// Moves the old content of the data directory to a folder, and the restored content to its place. Returns that folder, or `nil`
    /// if there was no old content.
    private func exchange(
        _ old: [String], _ draft: HeldFolder, _ directory: HeldFolder
    ) throws(BackupFailure) -> String? {
        let time = Timestamp.text(now).filter { $0 != ":" && $0 != "." && $0 != "-" }
        var moves: [(name: String, from: HeldFolder, to: HeldFolder)] = []
        if !old.isEmpty {
            let folder = try directory.makeFolder("\(Self.aside)\(time)")
            if geteuid() == 0 { try folder.give(to: try owner()) }
            moves += old.map { ($0, directory, folder) }
        }
        // The store last: without it ccsd does not start (`interruption`), and it never uses half of this one.
        let names = try draft.names()
        moves += (names.filter { $0 != BackupLayout.store } + [BackupLayout.store]).map {
            ($0, draft, directory)
        }
        for (at, move) in moves.enumerated() where !move.from.move(move.name, to: move.to) {
            let failure = BackupFailure.system(
                "move \(move.from.path)/\(move.name) to", "\(move.to.path)/\(move.name)")
            for done in moves[..<at].reversed() { _ = done.to.move(done.name, to: done.from) }
            if !old.isEmpty { directory.removeIfEmpty("\(Self.aside)\(time)") }
            throw failure
        }
        return old.isEmpty ? nil : "\(dataDirectory)/\(Self.aside)\(time)"
    }

    /// Opens the copy, which replays its journal, and counts its messages.
    ///
    /// The folder is reached through its descriptor: the user of the data directory may exchange its name.
    private func audit(_ draft: HeldFolder) throws(BackupFailure) -> StoreAudit {
        do throws(StoreError) {
            let opened = try RocksStore(path: "/proc/self/fd/\(draft.descriptor)/\(BackupLayout.store)")
            let audit = try opened.audit()
            try opened.close()
            return audit
        } catch {
            let isOfDisk = error.kind == .full || error.kind == .inputOutput
            guard !isOfDisk else {
                throw BackupFailure(
                    "cannot open the restored store: \(error.description)",
                    hint: "free space on the file system of \(dataDirectory), and check the disk",
                    .inputOutput)
            }
            throw .damaged("its store cannot be opened: \(error.description)")
        }
    }

    /// The owner of the data directory, who gets what root has restored, so that ccsd can use it.
    private func owner() throws(BackupFailure) -> FileOwner {
        var owner = stat()
        guard unsafe stat(dataDirectory, &owner) == 0 else { throw .system("read", dataDirectory) }
        return FileOwner(user: owner.st_uid, group: owner.st_gid)
    }
}
