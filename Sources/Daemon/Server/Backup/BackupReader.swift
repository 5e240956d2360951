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
    /// The open folder: its files are read from there, and no link is followed.
    private let held: HeldFolder

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
        held = try HeldFolder(folder)
        let content = try Self.read(BackupLayout.manifest, held)
        let sums = try Self.read(BackupLayout.sums, held)
        // The format first: another one may have other digests.
        let json = try Self.json(content)
        try Self.demandFormat(json, folder)
        guard BackupLayout.manifestDigest(in: sums) == Hex.text(Digest.sha256(content)) else {
            throw .damaged("\(BackupLayout.manifest) does not match its digest in \(BackupLayout.sums)")
        }
        do throws(FieldProblem) { manifest = try BackupManifest(json: json) } catch {
            throw .damaged("\(BackupLayout.manifest): \(error.text)")
        }
        let expected = BackupLayout.sums(manifest.files, manifest: content, digest: Digest.sha256(content))
        guard sums == expected else {
            throw .damaged("\(BackupLayout.sums) does not have the digests of \(BackupLayout.manifest)")
        }
        try demandLayout()
        try demandPaths()
    }

    /// Reads all files, compares them with the manifest, and copies them to a folder if one is given.
    func transfer(
        to target: HeldFolder?, report: (_ done: Int, _ total: Int) -> Void
    ) throws(BackupFailure) {
        for file in manifest.files {
            guard let size = try Self.size(file.path, held) else { throw .damaged("\(file.path) is missing") }
            guard size == file.bytes else {
                throw .damaged("\(file.path) has \(size) bytes, expected \(file.bytes)")
            }
        }
        let total = manifest.files.reduce(0) { $0 + $1.bytes }
        var done = 0
        for file in manifest.files {
            let transfer = FileTransfer(
                folder: held, source: file.path, target: target.map { ($0, file.path) })
            let taken = try transfer.run { (count) throws(BackupFailure) in
                done += count
                report(done, total)
            }
            guard Hex.text(taken.sha256) == file.sha256 else {
                throw .damaged("the content of \(file.path) does not match its digest")
            }
        }
    }

    /// Returns the size of a regular file. Returns `nil` if it does not exist.
    private static func size(_ name: String, _ folder: HeldFolder) throws(BackupFailure) -> Int? {
        do throws(BackupFailure) {
            let (file, bytes) = try folder.open(name)
            close(file)
            return bytes
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    private static func read(_ name: String, _ folder: HeldFolder) throws(BackupFailure) -> [UInt8] {
        guard let size = try size(name, folder) else { throw .damaged("\(name) is missing") }
        guard size <= Limits.Backup.manifestBytes else {
            throw .damaged("\(name) has \(size) bytes, expected at most \(Limits.Backup.manifestBytes)")
        }
        let (file, _) = try folder.open(name)
        defer { close(file) }
        return try BackupFiles.read(file, limit: Limits.Backup.manifestBytes, "\(folder.path)/\(name)")
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
