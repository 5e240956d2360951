import Basics
import Delivery
import Glibc
public import Store
import Synchronization

/// The damaged tables of an open store, and who is to be notified of another one.
struct DamageState: Sendable {
    var tables: [StoreDamage]
    var act: @Sendable (StoreDamage) -> Void = { _ in }

    /// Adds a table. Returns `false` if it is known.
    mutating func add(_ damage: StoreDamage) -> Bool {
        guard tables.count < Limits.Store.damagedTables, !tables.contains(where: { $0.table == damage.table })
        else { return false }
        tables.append(damage)
        return true
    }
}

/// What `RocksStore.check` has read.
public struct StoreCheck: Sendable, Equatable {
    /// Number and bytes of the tables.
    public var tables = 0
    public var bytes = 0
    /// The tables with blocks that cannot be read.
    public var damaged: [StoreDamage] = []
    /// Records that cannot be read although the blocks around them can.
    public var unreadable: [String] = []
    /// Whether the store was marked as damaged before.
    public var wasMarked = false

    /// Whether everything can be read.
    public var isWhole: Bool { damaged.isEmpty && unreadable.isEmpty }
}

extension RocksStore {
    /// The tables with blocks that cannot be read, as far as is known. The state survives restarts.
    public var damage: [StoreDamage] { damageState.withLock { $0.tables } }

    /// Has a closure called for each table that is found to be damaged, on any thread.
    public func whenDamaged(_ act: @escaping @Sendable (StoreDamage) -> Void) {
        damageState.withLock { $0.act = act }
    }

    /// Returns the tables of the store.
    public func tables() throws(StoreError) -> [StoreTable] {
        try withEngine { (engine) throws(StoreError) in
            engine.tables().map { StoreTable(name: $0.name, bytes: $0.bytes) }
        }
    }

    /// Reads all blocks of a table from the disk. A table that does not exist any more is ignored.
    public func verify(_ table: StoreTable) throws(StoreError) { try verify(path: "\(path)/\(table.name)") }

    /// Reads all blocks of a table, or of a link to it, from the disk.
    public func verify(path: String) throws(StoreError) {
        // Outside of the lock of the engine: reading a table may take a second.
        do throws(StoreError) { try Tables.verify(path) } catch {
            try withEngine { (engine) throws(StoreError) in note(error, engine) }
            throw error
        }
    }

    /// Records the table that an error names, durably, and stops the compactions of its column family.
    func note(_ error: StoreError, _ engine: Engine, by query: StoreQuery? = nil) {
        guard !error.table.isEmpty, !damage.contains(where: { $0.table == error.table }) else { return }
        let found = engine.damage(error, partition: query?.partition(among: partitions))
        let act = damageState.withLock { state -> (@Sendable (StoreDamage) -> Void)? in
            guard state.add(found) else { return nil }
            // Without space the state is kept in memory, and the next finding writes it.
            try? DamageMark.write(state.tables, to: path)
            return state.act
        }
        if let family = Family(word: found.family) { engine.stopCompactions(of: family) }
        act?(found)
    }

    /// Takes over the tables of the mark that an opening of the engine has written.
    func adoptMark() {
        for damage in (try? DamageMark.read(path)) ?? [] {
            let act = damageState.withLock { $0.add(damage) ? $0.act : nil }
            act?(damage)
        }
    }

    /// Reads all blocks and all records of a closed store. A store that can be read as a whole loses its mark of damage, another one
    /// gets it. Nothing else changes. Throws if the store cannot be opened, is open, or its journal has lost commits.
    public static func check(path: String, report: (StoreTable) -> Void = { _ in }) throws(StoreError)
        -> StoreCheck
    {
        do throws(StoreError) {
            let scan = try JournalScan(path)
            if let failure = scan.failure(synced: try SyncMark.read(path).commit) { throw failure }
            let lock = try StoreLock(path)
            defer { extendLifetime(lock) }
            var result = StoreCheck()
            result.wasMarked = unsafe access("\(path)/\(DamageMark.name)", F_OK) == 0
            // A new store, whose journal has everything.
            if unsafe access("\(path)/CURRENT", F_OK) == 0 {
                try read(path, scan.partitions ?? Limits.Partition.count, &result, report)
            }
            if !result.damaged.isEmpty {
                try DamageMark.write(Array(result.damaged.prefix(Limits.Store.damagedTables)), to: path)
            } else if result.isWhole, result.wasMarked {
                try DamageMark.remove(from: path)
            }
            return result
        } catch { throw error.kind == .locked ? Recovery.locked(path, error) : error.ofWholeStore }
    }

    private static func read(
        _ path: String, _ partitions: Int, _ result: inout StoreCheck, _ report: (StoreTable) -> Void
    ) throws(StoreError) {
        let engine = try Engine(
            path: path, partitions: partitions, memory: SeenFilter(), access: .readOnly)
        for table in engine.tables() {
            report(StoreTable(name: table.name, bytes: table.bytes))
            result.tables += 1
            result.bytes += table.bytes
            do throws(StoreError) { try Tables.verify("\(path)/\(table.name)") } catch {
                guard error.kind == .corrupt || !error.table.isEmpty else { throw error }
                result.damaged.append(engine.damage(error, partition: nil))
            }
        }
        // Records have checksums of their own. With damaged tables they cannot all be read.
        guard result.damaged.isEmpty else { return }
        var auditor = Auditor(engine.snapshot(), StoreAudit())
        result.unreadable = auditor.run().unreadable
    }
}
