import Basics
import CRocksDB
import Glibc
import Store

/// A store that was opened: its engine has everything that was acknowledged, and its journal is empty.
struct OpenedStore: ~Copyable {
    var engine: Engine
    var journal: Journal
    /// The tallies of the partitions.
    var tallies: [Tally]
    /// The highest sequence in the engine.
    var highest: UInt64
}

/// A range of commits that were on the disk and cannot be read any more.
public struct LostCommits: Sendable, Equatable {
    /// The first lost commit.
    public var first: UInt64
    /// The last lost commit.
    public var last: UInt64
}

/// A finding about a store that was opened nevertheless.
public enum OpeningRemark: Sendable, Equatable {
    /// The sync mark could not be read: it is unknown whether the journal was complete.
    case unreadableSyncMark
    /// The manifest of this name had a torn end. The original is kept under this name with the suffix `.torn`.
    case tornManifest(String)
}

/// Opens a store: checks its lock and format, replays its journal and reads its tallies.
enum Recovery {
    /// The failure of a call to a store that is not open.
    static let closed = StoreError(.inputOutput, "the store is closed")

    /// Returns the failure for a store that was replaced by another one while it was closed.
    static func replaced(_ path: String) -> StoreError {
        StoreError(.damaged, "\(path) has another number of partitions than before it was reopened")
    }

    /// Opens a store, or creates one with `wanted` partitions. Adds what the operator should see to `remarks`.
    ///
    /// If an unreadable block of a table prevents that, such as one that a compaction has reached, the table is marked as damaged, and
    /// the store is opened without compactions there.
    static func open(
        _ path: String, partitions wanted: Int, _ memory: SeenFilter, _ sizes: EngineSizes,
        _ remarks: inout [OpeningRemark]
    ) throws(StoreError) -> OpenedStore {
        let known = try DamageMark.read(path).count
        do throws(StoreError) { return try attempt(path, wanted, memory, sizes, &remarks) } catch {
            guard try DamageMark.read(path).count > known else { throw error }
            return try attempt(path, wanted, memory, sizes, &remarks)
        }
    }

    private static func attempt(
        _ path: String, _ wanted: Int, _ memory: SeenFilter, _ sizes: EngineSizes,
        _ remarks: inout [OpeningRemark]
    ) throws(StoreError) -> OpenedStore {
        try demandRoom(path)
        let syncMark = try SyncMark.read(path)
        if syncMark == .damaged { remarks.append(.unreadableSyncMark) }
        let (scan, engine): (JournalScan, Engine)
        do throws(StoreError) {
            (scan, engine) = try look(path, wanted, syncMark, memory, sizes)
        } catch {
            // A power cut may have torn the manifest in a way that the engine takes for damage.
            guard error.kind == .corrupt, let list = try TornManifest.mend(path) else {
                throw error.kind == .locked ? locked(path, error) : error
            }
            remarks.append(.tornManifest(list))
            (scan, engine) = try look(path, wanted, syncMark, memory, sizes)
        }
        do throws(StoreError) { return try replayed(path, scan, engine, syncMark, sizes) } catch {
            if !error.table.isEmpty { try? DamageMark.add(engine.damage(error, partition: nil), to: path) }
            throw error
        }
    }

    /// Brings the engine to the end of the journal, and begins a new journal.
    private static func replayed(
        _ path: String, _ scan: JournalScan, _ engine: Engine, _ syncMark: SyncMark.Found,
        _ sizes: EngineSizes
    ) throws(StoreError) -> OpenedStore {
        try demand(scan.commit >= scan.applied, "the journal ends before the applied commit", path)
        var highest = try engine.number(MetaKey.highest) ?? 0
        // The frames that were read may not be synced. After the replay the engine has them on the disk.
        if scan.partitions == nil || scan.commit > scan.applied {
            var replay = Replay(engine, highest: highest)
            highest = try replay.run(scan)
            try demand(
                try engine.number(MetaKey.applied, onDisk: true) == scan.commit,
                "the replayed commits are not on the disk", path)
        }
        let tallies = try tallies(of: engine)
        try demand(tallies.count == engine.partitions, "a partition has no tally", path)
        let journal = try Journal(path, sizes, after: scan.commit, keepsSyncMark: syncMark.commit > 0)
        try demand(
            journal.commit == scan.commit, "the new journal does not continue at the last commit", path)
        return OpenedStore(engine: engine, journal: journal, tallies: tallies, highest: highest)
    }

    /// Opens the engine if no synced commit is missing.
    private static func look(
        _ path: String, _ wanted: Int, _ syncMark: SyncMark.Found, _ memory: SeenFilter, _ sizes: EngineSizes
    ) throws(StoreError) -> (JournalScan, Engine) {
        let scan = try JournalScan(path)
        if let failure = scan.failure(synced: syncMark.commit) { throw failure }
        let partitions = scan.partitions ?? wanted
        let damaged = try DamageMark.read(path).compactMap { Family(word: $0.family) }
        let engine = try Engine(
            path: path, partitions: partitions, memory: memory, sizes: sizes, access: .full(damaged: damaged))
        return (scan, engine)
    }

    /// Accepts that the journal has lost commits, so that the store can be opened. Returns `nil` if none is missing.
    ///
    /// Unreadable files are kept under another name, and the sync mark is lowered. Nothing else changes.
    static func acceptLoss(_ path: String) throws(StoreError) -> LostCommits? {
        let syncMark = try SyncMark.read(path)
        do throws(StoreError) {
            let scan = try JournalScan(path)
            guard let lost = scan.lost(synced: syncMark.commit) else { return nil }
            try scan.setAside()
            _ = try SyncMark(path, first: scan.commit)
            return lost
        } catch { throw error.kind == .locked ? locked(path, error) : error.ofWholeStore }
    }

    /// Returns the failure for a store that is open, with the process that has it open.
    static func locked(_ path: String, _ error: StoreError) -> StoreError {
        StoreError(.locked, holder(of: path, report: error.description))
    }

    /// Throws `full` if the device has too little space: the engine would end the process (see `EngineOptions`).
    private static func demandRoom(_ path: String) throws(StoreError) {
        guard let free = DeviceSpace(of: path)?.free, free < Limits.Store.freeBytes else { return }
        throw StoreError(
            .full,
            "\(path) has \(free / 1_024) KiB free: expected at least \(Limits.Store.freeBytes / 1_024) KiB to open the store"
        )
    }

    /// Reads the tallies of the partitions as of the last commit.
    static func tallies(of engine: Engine) throws(StoreError) -> [Tally] {
        var tallies: [Tally] = []
        for partition in 0..<engine.partitions {
            let key = MetaKey.tally(partition)
            let tally = try engine.get(.meta, key.raw) { (bytes) throws(StoreError) -> Tally in
                do throws(RecordFault) {
                    return try Tally(reading: bytes, of: partition)
                } catch { throw StoreError(.corrupt, "meta/tally/\(partition): \(error.rawValue)") }
            }
            let counted = tally ?? Tally()
            try counted.demandFollows(Tally(), partition: partition)
            tallies.append(counted)
        }
        return tallies
    }

    /// Returns the text for a store that is locked, with the process that has it open.
    private static func holder(of path: String, report: String) -> String {
        // Closing any descriptor of the lock file releases the lock of the whole process: if this process holds it, the file must
        // not be opened.
        if report.utf8.indices.contains(where: { report.utf8[$0...].starts(with: "by current process".utf8) })
        {
            return "\(path) is already open in this process"
        }
        let file = unsafe Glibc.open("\(path)/LOCK", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return report }
        defer { Glibc.close(file) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard unsafe fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return report }
        return "\(path) is open in process \(lock.l_pid)"
    }
}
