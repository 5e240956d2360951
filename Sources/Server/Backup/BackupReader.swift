import Basics
import Catalogue
import Glibc
import Operator
import RocksStore
import Transport
import Wire

/// A backup to be restored, whose manifest has been checked.
struct BackupReader {
    let folder: String
    let manifest: BackupManifest

    /// Reads and checks the manifest of a backup.
    init(_ folder: String) throws(BackupFailure) {
        self.folder = folder
        guard BackupFiles.kind(folder) != nil else {
            throw .system("read", folder, hint: "give the folder of a backup")
        }
        // By its name alone: its content may look complete before it is durable.
        guard folder.split(separator: "/").last?.hasSuffix(BackupLayout.partial) != true else {
            throw BackupFailure(
                "\(folder) is a backup that was interrupted", hint: "use another one, and remove this one",
                .badData)
        }
        guard BackupFiles.kind("\(folder)/\(BackupLayout.manifest)") != nil else {
            throw BackupFailure(
                "\(folder) is not a backup: it has no \(BackupLayout.manifest)",
                hint: "give the folder that ccsctl backup has made", .badData)
        }
        let content = try Self.read("\(folder)/\(BackupLayout.manifest)")
        let sums = try Self.read("\(folder)/\(BackupLayout.sums)")
        // The format first: another one may have other digests.
        let json = try Self.json(content)
        try Self.demandFormat(json, folder)
        guard BackupLayout.manifestDigest(in: sums) == Hex.text(Digest.sha256(content)) else {
            throw .damaged("\(BackupLayout.manifest) does not match its digest in \(BackupLayout.sums)")
        }
        do throws(FieldProblem) { manifest = try BackupManifest(json: json) } catch {
            throw .damaged("\(BackupLayout.manifest): \(error.text)")
        }
        try demandLayout()
        try demandPaths()
    }

    /// Reads all files, compares them with the manifest, and copies them to a folder if one is given.
    func transfer(
        to target: String?, report: (_ done: Int, _ total: Int) -> Void
    ) throws(BackupFailure) {
        for file in manifest.files {
            let path = "\(folder)/\(file.path)"
            guard let size = BackupFiles.size(path) else { throw .damaged("\(file.path) is missing") }
            guard size == file.bytes else {
                throw .damaged("\(file.path) has \(size) bytes, expected \(file.bytes)")
            }
        }
        let total = manifest.files.reduce(0) { $0 + $1.bytes }
        var done = 0
        for file in manifest.files {
            let transfer = FileTransfer(
                source: "\(folder)/\(file.path)", target: target.map { "\($0)/\(file.path)" })
            let taken = try transfer.run { (count) throws(BackupFailure) in
                done += count
                report(done, total)
            }
            guard Hex.text(taken.sha256) == file.sha256 else {
                throw .damaged("the content of \(file.path) does not match its digest")
            }
        }
    }

    private static func read(_ path: String) throws(BackupFailure) -> [UInt8] {
        do throws(TransportError) {
            return try SmallFile.read(path, limit: Limits.Backup.manifestBytes)
        } catch {
            if error.code == ENOENT { throw .damaged("\(path) is missing") }
            throw BackupFailure(
                error.description, hint: "run the restore as a user that may read the backup",
                error.exitCode)
        }
    }

    private static func json(_ content: [UInt8]) throws(BackupFailure) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: content.raw) } catch {
            throw .damaged(
                "invalid JSON at byte \(error.offset) of \(BackupLayout.manifest): \(error.fault.rawValue)")
        }
    }

    private static func demandFormat(_ json: JSONValue, _ folder: String) throws(BackupFailure) {
        guard let format = json["format"]?.integer else {
            throw .damaged("\(BackupLayout.manifest) has no format")
        }
        guard format != BackupManifest.formatNow else { return }
        let version = json["ccsd"]?.text.map { " (made by ccsd \(Printable.text($0, limit: 40)))" } ?? ""
        throw BackupFailure(
            "\(folder) has backup format \(format)\(version), expected format \(BackupManifest.formatNow)",
            hint: "restore it with the version of ccsd that made it", .badData)
    }

    /// Throws unless this version can open the store in the backup.
    private func demandLayout() throws(BackupFailure) {
        guard manifest.storeLayout != RocksStore.layout else { return }
        let age = manifest.storeLayout > RocksStore.layout ? "a newer" : "an older"
        throw BackupFailure(
            "the store in \(folder) has layout \(manifest.storeLayout), written by ccsd \(Printable.text(manifest.version)), expected layout \(RocksStore.layout)",
            hint:
                "\(age) version of ccsd made the backup: restore it with that version; ccsctl export and import move senders and devices between versions",
            .badData)
    }

    private func demandPaths() throws(BackupFailure) {
        var names: Set<String> = []
        for file in manifest.files {
            guard BackupLayout.isValid(file.path) else {
                throw .damaged("invalid path \"\(Printable.text(file.path))\" in \(BackupLayout.manifest)")
            }
            guard names.insert(file.path).inserted else {
                throw .damaged("\(file.path) is twice in \(BackupLayout.manifest)")
            }
        }
        guard names.contains("\(BackupLayout.store)/CURRENT") else {
            throw .damaged("\(BackupLayout.manifest) has no store")
        }
    }
}
