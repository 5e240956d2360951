import Basics
import CRocksDB
import Glibc
import Store

/// A store that was opened: all that was acknowledged is in its engine, and its journal is empty.
struct OpenedStore: ~Copyable {
    var engine: Engine
    var journal: Journal
    /// What each partition has counted.
    var tallies: [Tally]
    /// The highest sequence that the engine has.
    var highest: UInt64
}

/// Opening: who else holds the store, which format it has, what its journal has, what it had counted.
enum Recovery {
    /// What a store that is not open says.
    static let closed = StoreError(.inputOutput, "the store is closed")

    /// The error for a store in whose place there is another one.
    static func replaced(_ path: String) -> StoreError {
        StoreError(.damaged, "\(path) has another number of partitions than before")
    }

    /// Opens a database of this layout, or makes one with `wanted` partitions; what was odd about it goes to `remarks`.
    static func open(
        _ path: String, partitions wanted: Int, _ memory: SeenMemory, _ sizes: EngineSizes,
        _ remarks: inout [OpeningRemark]
    ) throws(StoreError) -> OpenedStore {
        try demandRoom(path)
        let note = try SyncMark.read(path)
        if note == .damaged { remarks.append(.unreadableSyncMark) }
        let (scan, engine): (JournalScan, Engine)
        do throws(StoreError) {
            (scan, engine) = try look(path, wanted, note, memory, sizes)
        } catch {
            // A power cut may have torn the list of files in a way that the engine takes for damage.
            guard error.kind == .corrupt, let list = try TornList.mend(path) else {
                throw error.kind == .locked ? locked(path, error) : error
            }
            remarks.append(.tornList(list))
            (scan, engine) = try look(path, wanted, note, memory, sizes)
        }
        try demand(scan.commit >= scan.settled, "the journal ends before the engine does", path)
        var highest = try engine.number(MetaKey.highest) ?? 0
        // Frames that were read may not be on the disk: from here on they are, in the engine.
        if scan.partitions == nil || scan.commit > scan.settled {
            var replay = Replay(engine, highest: highest)
            highest = try replay.run(scan)
            try demand(
                try engine.number(MetaKey.settled, onDisk: true) == scan.commit,
                "what was replayed is not on the disk", path)
        }
        let tallies = try tallies(of: engine)
        try demand(tallies.count == engine.partitions, "a partition has no tally", path)
        let journal = try Journal(path, sizes, after: scan.commit, noteGoesOn: note.commit > 0)
        try demand(journal.commit == scan.commit, "the journal goes on elsewhere than it ended", path)
        return OpenedStore(engine: engine, journal: journal, tallies: tallies, highest: highest)
    }

    /// Opens it where it is as long as it was synced.
    private static func look(
        _ path: String, _ wanted: Int, _ note: SyncMark.Found, _ memory: SeenMemory, _ sizes: EngineSizes
    ) throws(StoreError) -> (JournalScan, Engine) {
        let scan = try JournalScan(path)
        if let complaint = scan.complaint(synced: note.commit) { throw complaint }
        let partitions = scan.partitions ?? wanted
        return (scan, try Engine(path: path, partitions: partitions, memory: memory, sizes: sizes))
    }

    /// Gives up the commits that the journal has lost, so that the store can be opened again; nil: none is missing.
    ///
    /// What cannot be read is kept under another name, and the note changed; nothing else.
    static func acceptLoss(_ path: String) throws(StoreError) -> LostCommits? {
        let note = try SyncMark.read(path)
        do throws(StoreError) {
            let scan = try JournalScan(path)
            guard let lost = scan.lost(synced: note.commit) else { return nil }
            try scan.setAside()
            _ = try SyncMark(path, first: scan.commit)
            return lost
        } catch { throw error.kind == .locked ? locked(path, error) : error.ofWholeStore }
    }

    private static func locked(_ path: String, _ error: StoreError) -> StoreError {
        StoreError(.locked, holder(of: path, said: error.description))
    }

    /// Opening on a full device would end the process (see `EngineOptions`), so it is not tried.
    private static func demandRoom(_ path: String) throws(StoreError) {
        guard let free = DeviceSpace(of: path)?.free, free < Limits.Store.freeBytes else { return }
        throw StoreError(
            .full,
            "\(path) has \(free / 1_024) KiB free; opening the store takes \(Limits.Store.freeBytes / 1_024) KiB"
        )
    }

    /// What each partition had counted when the last commit was written.
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

    /// Names the process that holds the lock.
    private static func holder(of path: String, said: String) -> String {
        // Closing any descriptor of the lock file gives up the lock of the whole process, so where the holder is
        // this process the file must not be touched.
        if said.utf8.indices.contains(where: { said.utf8[$0...].starts(with: "by current process".utf8) }) {
            return "\(path) is already open in this process"
        }
        let file = unsafe Glibc.open("\(path)/LOCK", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return said }
        defer { Glibc.close(file) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard unsafe fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return said }
        return "\(path) is held by process \(lock.l_pid)"
    }
}
