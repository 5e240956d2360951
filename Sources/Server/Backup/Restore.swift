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
    private var partial: String { "\(dataDirectory)/\(Self.draft)" }

    /// Restores or verifies the backup. If it fails, the data directory is unchanged.
    func run(report: (_ done: Int, _ total: Int) -> Void) throws(BackupFailure) -> Restored {
        let backup = try BackupReader(folder)
        guard !verifies else {
            try backup.transfer(to: nil, report: report)
            return Restored(backup: backup)
        }
        let isNew = BackupFiles.kind(dataDirectory) == nil
        if isNew { try BackupFiles.makeFolder(dataDirectory) }
        do throws(BackupFailure) {
            return try restore(backup, report: report)
        } catch {
            try? BackupFiles.remove(partial)
            if isNew { _ = unsafe rmdir(dataDirectory) }
            throw error
        }
    }

    private func restore(
        _ backup: BackupReader, report: (_ done: Int, _ total: Int) -> Void
    ) throws(BackupFailure) -> Restored {
        let lock = try demandUnused()
        defer { extendLifetime(lock) }
        try BackupFiles.remove(partial)
        let old = try demandReplaceable()
        try BackupFiles.makeFolder(partial)
        for name in [BackupLayout.store, BackupLayout.apns] {
            try BackupFiles.makeFolder("\(partial)/\(name)")
        }
        try backup.transfer(to: partial, report: report)
        let audit = try audit(backup)
        try openCertificates()
        try giveToOwner()
        for name in ["/\(BackupLayout.store)", "/\(BackupLayout.apns)", ""] {
            try BackupFiles.sync(folder: partial + name)
        }
        let aside = try exchange(old)
        try BackupFiles.remove(partial)
        try BackupFiles.sync(folder: dataDirectory)
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
        guard BackupFiles.kind(store) != nil else { return nil }
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
    private func exchange(_ old: [String]) throws(BackupFailure) -> String? {
        var moves: [(from: String, to: String)] = []
        let time = Timestamp.text(now).filter { $0 != ":" && $0 != "." && $0 != "-" }
        let folder = "\(dataDirectory)/\(Self.aside)\(time)"
        if !old.isEmpty {
            try BackupFiles.makeFolder(folder)
            try give(folder)
            moves += old.map { ("\(dataDirectory)/\($0)", "\(folder)/\($0)") }
        }
        // The store last: without it ccsd does not start (`interruption`), and it never uses half of this one.
        let names = try BackupFiles.names(in: partial)
        moves += (names.filter { $0 != BackupLayout.store } + [BackupLayout.store]).map {
            ("\(partial)/\($0)", "\(dataDirectory)/\($0)")
        }
        for (at, move) in moves.enumerated() where unsafe rename(move.from, move.to) != 0 {
            let failure = BackupFailure.system("move \(move.from) to", move.to)
            for done in moves[..<at].reversed() { _ = unsafe rename(done.to, done.from) }
            if !old.isEmpty { _ = unsafe rmdir(folder) }
            throw failure
        }
        return old.isEmpty ? nil : folder
    }

    /// Opens the copy, which replays its journal, and counts its messages.
    private func audit(_ backup: BackupReader) throws(BackupFailure) -> StoreAudit {
        do throws(StoreError) {
            let opened = try RocksStore(path: "\(partial)/\(BackupLayout.store)")
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

    /// Gives the certificates the mode that ccsd creates them with; everything else stays private.
    private func openCertificates() throws(BackupFailure) {
        for name in BackupLayout.certificates where BackupFiles.kind("\(partial)/\(name)") == S_IFREG {
            guard unsafe chmod("\(partial)/\(name)", 0o644) == 0 else { throw .system("open", name) }
        }
    }

    /// Gives all files to the owner of the data directory, so that ccsd can use what root has restored.
    private func giveToOwner() throws(BackupFailure) {
        try BackupFiles.walk(partial) { (path) throws(BackupFailure) in try give(path) }
    }

    private func give(_ path: String) throws(BackupFailure) {
        var owner = stat()
        guard unsafe stat(dataDirectory, &owner) == 0 else { throw .system("read", dataDirectory) }
        guard geteuid() == 0 else { return }
        guard unsafe lchown(path, owner.st_uid, owner.st_gid) == 0 else { throw .system("give away", path) }
    }
}
