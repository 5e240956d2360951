import Basics
import Catalogue
import Delivery
import Glibc
import NodeProtocol
import RocksStore
import Store
import Transport

/// Receives a copy of another node's store, on a thread of its own: that of the cluster must not wait for the disk.
final class StoreTaker: Sendable {
    /// What a copy must be.
    struct Expected {
        var description: CopyDescription
        var partitions: Int
        /// The setting with the ID of the cluster.
        var cluster: [UInt8]
        /// How much of each log it must have.
        var least: [UInt64]
    }

    private enum Item {
        case bytes([UInt8])
        case ended(isComplete: Bool)
        case stopped(String)
    }

    private let folder: CopiedStore
    private let expected: Expected
    /// What has arrived and is not stored: the link lets no more through than its window.
    private let items = Monitor([Item]())
    /// The store of this node: what belongs to the node is taken from there.
    private let own: any Store
    /// Called with the bytes that are stored, so that as many more may come.
    private let stored: @Sendable (Int) -> Void

    init(
        _ folder: CopiedStore, _ expected: Expected, of own: any Store,
        stored: @escaping @Sendable (Int) -> Void
    ) {
        self.folder = folder
        self.expected = expected
        self.own = own
        self.stored = stored
    }

    /// Adds the next bytes of the copy.
    func receive(_ bytes: [UInt8]) { items.change { $0.append(.bytes(bytes)) } }

    /// The other node has ended the copy.
    func end(isComplete: Bool) { items.change { $0.append(.ended(isComplete: isComplete)) } }

    /// Gives the copy up.
    func stop(_ reason: String) { items.change { $0 = [.stopped(reason)] } }

    /// Receives and verifies the copy. If it fails, nothing of it is left.
    func run() throws(BackupFailure) {
        do throws(BackupFailure) {
            try folder.begin()
            try demandRoom()
            try receive()
            try verify()
            try folder.complete()
        } catch {
            folder.abandon()
            throw error
        }
    }

    private func demandRoom() throws(BackupFailure) {
        let bytes = expected.description.bytes
        guard let free = DeviceSpace(of: folder.draft)?.free,
            UInt64(clamping: free - Limits.Store.freeBytes) < bytes
        else { return }
        throw BackupFailure(
            "the copy has \(bytes / 1_024) KiB, and \(free / 1_024) KiB are free in \(folder.dataDirectory)",
            hint: "free space there: \(Limits.Store.freeBytes / 1_024) KiB stay free for the store",
            .inputOutput)
    }

    private func receive() throws(BackupFailure) {
        var reader = CopyReader(expected.description)
        var file: CopiedFile?
        var digest = RunningDigest()
        while true {
            switch try next() {
            case .bytes(let bytes):
                let parts: [CopyPart]
                do throws(NodeProtocolFault) { parts = try reader.read(bytes.raw) } catch {
                    throw .damaged("it cannot be read: \(error.description)")
                }
                for part in parts { try take(part, of: bytes, &file, &digest) }
                stored(bytes.count)
            case .ended(let isComplete):
                guard isComplete else { throw Self.failure("the other node has broken it off") }
                guard reader.isComplete else { throw .damaged("files are missing") }
                return
            case .stopped(let reason): throw Self.failure(reason)
            }
        }
    }

    private func next() throws(BackupFailure) -> Item {
        let end = Now.read().monotonic.advanced(milliseconds: Limits.StoreCopy.stallMilliseconds)
        let item = items.wait { items -> Monitor<[Item]>.Step<Item?> in
            if !items.isEmpty { return .done(items.removeFirst()) }
            return Now.read().monotonic >= end ? .done(nil) : .wait(until: end)
        }
        guard let item else {
            throw Self.failure("nothing has arrived for \(Limits.StoreCopy.stallMilliseconds / 1_000) s")
        }
        return item
    }

    private func take(
        _ part: CopyPart, of bytes: [UInt8], _ file: inout CopiedFile?, _ digest: inout RunningDigest
    ) throws(BackupFailure) {
        switch part {
        case .file(let name, _): file = try CopiedFile("\(folder.draft)/\(name)")
        case .bytes(let range):
            digest.add(bytes.raw.extracting(range))
            try file?.write(bytes.raw.extracting(range))
        case .digest(let expected):
            let found = digest.finish()
            digest = RunningDigest()
            try file?.finish(isRight: found == expected)
            file = nil
        case .end: break
        }
    }

    /// Opens the copy, which replays its journal, checks that this node can go on with it, and gives it the settings of this node.
    private func verify() throws(BackupFailure) {
        do throws(StoreError) {
            let store = try RocksStore(path: folder.draft, partitions: expected.partitions)
            let progress = try store.logProgress()
            let cluster = try store.setting(Startup.clusterSetting)
            for name in Self.nodeSettings { try store.setSetting(name, try own.setting(name) ?? []) }
            try store.close()
            guard store.partitions == expected.partitions, cluster == expected.cluster else {
                throw StoreError(.inconsistent, "it belongs to another cluster")
            }
            for (partition, least) in expected.least.enumerated() {
                let position = progress[partition]?.position ?? 0
                guard position >= least else {
                    throw StoreError(
                        .inconsistent,
                        "it has partition \(partition) up to position \(position), and \(least) is needed")
                }
            }
        } catch {
            throw BackupFailure(
                "the copied store cannot be used: \(error.description)", hint: "", .inputOutput)
        }
    }

    /// The settings that each node has of its own: those of another one would let its operators in.
    private static let nodeSettings = [OperatorAccounts.setting, Backups.setting]

    private static func failure(_ text: String) -> BackupFailure {
        BackupFailure(text, hint: "", .unavailable)
    }
}

/// A file of a copy that is being written.
private final class CopiedFile {
    private let path: String
    private let file: Int32

    init(_ path: String) throws(BackupFailure) {
        self.path = path
        file = try BackupFiles.open(new: path)
    }

    deinit { close(file) }

    func write(_ bytes: borrowing RawSpan) throws(BackupFailure) {
        try BackupFiles.write(bytes, to: file, path)
    }

    /// Syncs the file. Throws if its content is not what was sent.
    func finish(isRight: Bool) throws(BackupFailure) {
        guard isRight else {
            throw .damaged("the content of \(path) does not match its digest")
        }
        guard fsync(file) == 0 else { throw .system("sync", path) }
    }
}
