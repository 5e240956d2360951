import Basics
import Delivery
import Store
import Synchronization

/// Writes commits, one after the other: first into the journal, and from there among the young messages and into the engine.
///
/// Two rules keep the store whole whatever power cut comes: the engine is told of a commit only once that is on the disk, in the
/// journal; and what the engine says it has all of (`MetaKey.settled`) it has. After a failure this is worth nothing any more.
///
/// It has one owner, and is used below the lock of that one (`RocksStore`).
struct Committer: ~Copyable, @unchecked Sendable {
    private let engine: Engine
    private let sizes: EngineSizes
    private var journal: Journal
    private(set) var commit: Commit
    /// The last commit that the engine has, with all before it.
    private var settled: UInt64
    /// How far it has been told so, and how far that is on the disk there.
    private var told: UInt64
    private var written: UInt64
    /// How far it had been told when it was last asked to write out what it has, and bytes that it was given since.
    private var asked: UInt64 = 0
    private var given = 0

    /// For a store that was just opened.
    init(_ opened: consuming OpenedStore, _ memory: SeenMemory, _ sizes: EngineSizes) {
        engine = opened.engine
        self.sizes = sizes
        commit = Commit(opened.engine, memory, tallies: opened.tallies, highest: opened.highest)
        settled = opened.journal.commit
        told = settled
        written = settled
        journal = opened.journal
    }

    /// Makes a commit and writes it. With `isDurable` all that was committed so far is on the disk when this returns.
    mutating func write<Result>(
        _ isDurable: Bool, _ young: borrowing Mutex<Young>, _ floor: ExpiryFloor,
        _ make: (inout Commit) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let next = journal.commit + 1
        try commit.begin(next)
        let result = try make(&commit)
        if !commit.repeats.isEmpty {
            try young.withLock { (young) throws(StoreError) in try commit.demandSame(as: young) }
        }
        guard try commit.end() else {
            // A durable batch that changes nothing still promises that what came before it is on disk.
            if isDurable { try journal.sync() }
            return result
        }
        let rotates = journal.isSegmentFull
        if rotates {
            try journal.rotate()
            // What is then written out says how far it goes.
            try note()
        }
        let number = try journal.append(&commit.frame)
        // From here on the batches must not be written again: they may be on the disk.
        do throws(StoreError) {
            try demand(number == next, "a commit was written under another number")
            try finish(number, isDurable, young, floor)
            if rotates || given > sizes.buffers { try retire() }
        } catch { throw error.afterWrite }
        commit.index.forget(upTo: written, atMost: Limits.Store.duplicatesDroppedPerCommit)
        return result
    }

    /// Makes what was appended durable where that is needed, and lets loads see it.
    private mutating func finish(
        _ number: UInt64, _ isDurable: Bool, _ young: borrowing Mutex<Young>, _ floor: ExpiryFloor
    ) throws(StoreError) {
        try commit.index.end(number, bytes: commit.frame.frame.count)
        let survivors = try commit.index.settle(to: sizes.young)
        // The engine hears of what is on the disk only, and what was counted goes with anything that it hears.
        if isDurable || !commit.batch.isEmpty || !survivors.isEmpty { try journal.sync() }
        try show(survivors, young, floor)
    }

    private mutating func note() throws(StoreError) {
        try demand(settled >= told, "the watermark of the engine goes back")
        commit.note(settled: settled)
        told = settled
    }

    /// Lets loads see the commit, and gives the engine what has outlived its time in memory.
    private mutating func show(
        _ survivors: YoungIndex.Survivors, _ young: borrowing Mutex<Young>, _ floor: ExpiryFloor
    ) throws(StoreError) {
        if let last = survivors.commit {
            try demand(last >= settled && last <= journal.commit, "a commit is settled that is not there")
            settled = last
        }
        try young.withLock { (young) throws(StoreError) in
            try young.apply(commit.changes, of: commit.frame.frame.bytes, counted: commit.counted)
            if !survivors.isEmpty {
                try commit.settle(survivors, from: young)
                try note()
            }
            if !commit.batch.isEmpty {
                try demand(
                    journal.synced == journal.commit, "the engine gets a commit that is not on the disk")
                floor.commitBegins(commit.earliestEnds)
                defer { floor.commitEnds() }
                try engine.write(commit.batch)
                given += commit.batch.bytes
            }
            for place in survivors.places { try young.remove(place) }
        }
    }

    /// Lets go of the files whose commits the engine has on the disk, and asks it to write out where they are many.
    private mutating func retire() throws(StoreError) {
        try readWritten()
        if journal.bytes > sizes.journal || given > sizes.buffers {
            let waits = journal.bytes > 2 * sizes.journal || given > 2 * sizes.buffers
            // Once is enough, until it has done so.
            if waits || written >= asked {
                (asked, given) = (told, 0)
                try engine.flush(waits: waits)
            }
            if waits { try readWritten() }
        }
        try demand(written <= journal.synced, "a file goes whose commits are not on the disk")
        journal.retire(upTo: written)
    }

    /// Reads how far the engine has written out what it was given.
    private mutating func readWritten() throws(StoreError) {
        let found = try engine.number(MetaKey.settled, onDisk: true) ?? 0
        try demand(found >= written, "what the engine has on the disk goes back")
        try demand(found <= told, "the engine has commits on the disk that it was not given")
        written = found
    }

    /// Brings everything to the disk, and to the engine: the next opening finds nothing in the journal that is not there.
    mutating func close(_ young: borrowing Mutex<Young>) throws(StoreError) {
        try journal.sync()
        try commit.begin(journal.commit + 1)
        // What is in the journal is safe; should the engine fail now, the next opening does it.
        do throws(StoreError) {
            let survivors = try commit.index.settle(to: -1)
            try demand(commit.index.bytes == 0, "bytes of commits are left at the end")
            if let last = survivors.commit { settled = last }
            try note()
            try show(survivors, young, ExpiryFloor(partitions: engine.partitions))
            try engine.flush(waits: true)
            journal.retire(upTo: settled)
        } catch { if error.kind.isInvariant { throw error.afterWrite } }
    }
}
