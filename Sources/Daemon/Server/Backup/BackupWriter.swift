import Basics
import Catalogue
import Delivery
import Glibc
import Operator
import RocksStore
import Store
import Transport
import Wire

/// Writes one backup.
struct BackupWriter {
    let store: RocksStore
    let configuration: Configuration
    /// The file of the configuration. `nil` if there is none.
    let configurationFile: String?
    let target: BackupTarget
    let createdAt: UnixMilliseconds
    /// Reports the bytes done and all bytes. An error that it throws ends the backup.
    let report: (Int, Int) throws(BackupFailure) -> Void

    /// A backup that was written.
    struct Made {
        var manifest: BackupManifest
        /// Size of the files that are linked.
        var linkedBytes: Int
    }

    /// A file to be taken into the backup.
    private struct Source {
        var path: String
        var name: String
        var mayLink = false
    }

    /// Writes the backup. If it fails, nothing is left.
    func run() throws(BackupFailure) -> Made {
        let draft = try target.begin()
        defer { try? store.removeCheckpoint() }
        do throws(BackupFailure) {
            let made = try write(try checkpoint(), to: draft.folder)
            try target.complete(draft)
            return made
        } catch {
            target.abandon(draft)
            throw error
        }
    }

    private func checkpoint() throws(BackupFailure) -> StoreCheckpoint {
        do throws(StoreError) { return try store.checkpoint() } catch {
            throw BackupFailure(error, copying: store.path)
        }
    }

    private func write(
        _ checkpoint: StoreCheckpoint, to folder: HeldFolder
    ) throws(BackupFailure) -> Made {
        let sources = try sources(checkpoint)
        let total = sources.reduce(0) { $0 + (BackupFiles.size($1.path) ?? 0) }
        try demandRoom(total)
        var inner: [HeldFolder] = []
        for name in [BackupLayout.store, BackupLayout.apns] { inner.append(try folder.makeFolder(name)) }
        var files: [BackupManifest.File] = []
        var (done, linkedBytes) = (0, 0)
        for source in sources {
            if source.mayLink { try verify(source) }
            let transfer = FileTransfer(
                source: source.path, target: (folder, source.name), mayLink: source.mayLink)
            let taken = try transfer.run { (count) throws(BackupFailure) in
                done += count
                try report(done, total)
            }
            if taken.isLinked { linkedBytes += taken.bytes }
            files.append(.init(path: source.name, bytes: taken.bytes, sha256: Hex.text(taken.sha256)))
        }
        let manifest = BackupManifest(
            version: Program.version, createdAt: createdAt, storeLayout: RocksStore.layout,
            partitions: store.partitions, commit: Int(clamping: checkpoint.commit),
            notIncluded: notIncluded, files: files)
        let content = Array((manifest.json.pretty + "\n").utf8)
        try folder.create(BackupLayout.manifest, content)
        try folder.create(
            BackupLayout.sums,
            BackupLayout.sums(files, manifest: content, digest: Digest.sha256(content)))
        for folder in inner + [folder] { try folder.sync() }
        return Made(manifest: manifest, linkedBytes: linkedBytes)
    }

    /// Returns the files of the backup. Those of the store never change and are linked if possible.
    private func sources(_ checkpoint: StoreCheckpoint) throws(BackupFailure) -> [Source] {
        var sources = checkpoint.files.map {
            Source(path: "\(checkpoint.path)/\($0)", name: "\(BackupLayout.store)/\($0)", mayLink: true)
        }
        for name in BackupLayout.authority {
            let path = "\(configuration.dataDirectory)/\(name)"
            if BackupFiles.kind(path) != nil { sources.append(Source(path: path, name: name)) }
        }
        if BackupFiles.kind(configuration.apnsPath) != nil {
            for name in try BackupFiles.names(in: configuration.apnsPath) where name.hasSuffix(".json") {
                sources.append(
                    Source(path: "\(configuration.apnsPath)/\(name)", name: "\(BackupLayout.apns)/\(name)"))
            }
        }
        return sources
    }

    /// Throws if a table of the store is damaged: its digest in the backup would declare the damage correct.
    private func verify(_ source: Source) throws(BackupFailure) {
        guard source.path.hasSuffix(".sst") else { return }
        do throws(StoreError) { try store.verify(path: source.path) } catch {
            guard error.kind == .corrupt else { throw BackupFailure(error, copying: store.path) }
            throw BackupFailure(
                "the store is damaged, and no backup was made: \(error.description)",
                hint:
                    "keep the previous backups, and see \"A damaged store\" in docs/operations.md; ccsctl health names the table",
                .inputOutput)
        }
    }

    /// Throws if the backup would fill a file system other than that of the store, where files are linked.
    private func demandRoom(_ bytes: Int) throws(BackupFailure) {
        guard let free = DeviceSpace(of: target.partial)?.free, free < bytes,
            !isSameDevice(target.partial, store.path)
        else { return }
        throw BackupFailure(
            "cannot write \(target.path): the backup has \(bytes / 1_024) KiB, and \(free / 1_024) KiB are free",
            hint: "free space on this file system, or give a folder on another one", .inputOutput)
    }

    private func isSameDevice(_ path: String, _ other: String) -> Bool {
        var (a, b) = (stat(), stat())
        guard unsafe stat(path, &a) == 0, unsafe stat(other, &b) == 0 else { return false }
        return a.st_dev == b.st_dev
    }

    /// Files that the server needs and that are not in its data directory.
    private var notIncluded: [String] {
        let files = [configuration.certificateFile, configuration.keyFile].compactMap { $0 }
        return (configurationFile.map { [$0] } ?? []) + files
    }
}
