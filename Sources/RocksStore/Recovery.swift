import Basics
import CRocksDB
import Glibc
import Store

/// Opening: who else holds the store, which format it has, what it had counted.
enum Recovery {
    /// What a store that is not open says.
    static let closed = StoreError(.inputOutput, "the store is closed")

    /// Opens a database of this format, or makes one; what was odd about it goes to `remarks`.
    static func open(
        _ path: String, _ memory: SeenMemory, _ sizes: EngineSizes, _ remarks: inout [OpeningRemark]
    ) throws(StoreError) -> Engine {
        try demandRoom(path)
        let note = try SyncNote.read(path)
        if note == .damaged { remarks.append(.unreadableNote) }
        let engine: Engine
        do throws(StoreError) {
            engine = try look(path, note, memory, sizes)
        } catch {
            // A power cut may have torn the list of files in a way that the engine takes for damage.
            guard error.kind == .corrupt, let list = try TornList.mend(path) else {
                throw error.kind == .locked ? locked(path, error) : error
            }
            remarks.append(.tornList(list))
            engine = try look(path, note, memory, sizes)
        }
        switch note {
        case .synced: try engine.numberCommits(path, goesOn: true)
        case .absent, .damaged: try engine.numberCommits(path, goesOn: false)
        }
        try demandFormat(path, engine)
        return engine
    }

    /// Opens it where the log is as long as it was synced.
    private static func look(
        _ path: String, _ note: SyncNote.Found, _ memory: SeenMemory, _ sizes: EngineSizes
    ) throws(StoreError) -> Engine {
        if case .synced(let commit) = note, let complaint = try LogEnd(path).complaint(synced: commit) {
            throw complaint
        }
        return try Engine(path: path, memory: memory, sizes: sizes)
    }

    private static func demandFormat(_ path: String, _ engine: Engine) throws(StoreError) {
        let key = MetaKey.format
        let format = try engine.get(.meta, key.raw) { (bytes) throws(StoreError) in
            String(validating: [UInt8](copying: bytes), as: UTF8.self).flatMap { Int($0) }
        }
        switch format {
        case .none:
            let now = [UInt8]("\(MetaKey.formatNow)".utf8)
            try engine.put(.meta, key.raw, now.raw)
        case .some(.none): throw StoreError(.corrupt, "\(path): meta/format is no number")
        case .some(.some(let found)) where found > MetaKey.formatNow:
            throw StoreError(
                .newerFormat, "\(path) has format \(found); this version reads up to \(MetaKey.formatNow)")
        case .some(.some): break
        }
    }

    /// Gives up the commits that the log has lost, so that the store can be opened again; nil: none is missing.
    ///
    /// Nothing but the note is changed. The next opening replays what can be read, and the engine deletes the rest.
    static func acceptLoss(_ path: String) throws(StoreError) -> LostCommits? {
        guard case .synced(let synced) = try SyncNote.read(path) else { return nil }
        do throws(StoreError) {
            let end = try LogEnd(path)
            guard end.complaint(synced: synced) != nil else { return nil }
            _ = try SyncNote(path, first: end.commit)
            return LostCommits(first: end.commit + 1, last: synced)
        } catch { throw error.kind == .locked ? locked(path, error) : error.ofWholeStore }
    }

    private static func locked(_ path: String, _ error: StoreError) -> StoreError {
        StoreError(.locked, holder(of: path, said: error.description))
    }

    /// Opening on a full device would end the process (see `EngineOptions`), so it is not tried.
    private static func demandRoom(_ path: String) throws(StoreError) {
        var device = statvfs()
        guard unsafe statvfs(path, &device) == 0 else { return }
        let free = UInt64(device.f_bavail) * UInt64(device.f_frsize)
        guard free < Limits.storeRoomBytes else { return }
        throw StoreError(
            .full,
            "\(path) has \(free / 1_024) KiB free; opening the store takes \(Limits.storeRoomBytes / 1_024) KiB"
        )
    }

    /// What was counted when the last commit was written.
    static func tally(of engine: Engine) throws(StoreError) -> Tally {
        let key = MetaKey.tally
        let tally = try engine.get(.meta, key.raw) { (bytes) throws(StoreError) -> Tally in
            do throws(RecordFault) {
                return try Tally(reading: bytes)
            } catch { throw StoreError(.corrupt, "meta/tally: \(error.rawValue)") }
        }
        return tally ?? Tally()
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
