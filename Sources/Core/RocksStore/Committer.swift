import Basics
import Delivery
import Store
import Synchronization

/// Writes commits one at a time: to the journal first, then to the recent messages and the engine.
///
/// Two rules keep the store consistent after a power cut: a commit reaches the engine only once it is synced in the journal, and
/// the engine contains every commit up to the one that it records as applied (`MetaKey.applied`). After a failure the committer
/// must be dropped.
///
/// Its owner, `RocksStore`, uses it under a lock.
struct Committer: ~Copyable, @unchecked Sendable {
    private let engine: Engine
    private let sizes: EngineSizes
    private var journal: Journal
    private(set) var commit: Commit
    /// The applied commit: the engine has this one and all before it.
    private var applied: UInt64
    /// The applied commit that is recorded in the engine, and the one that is on the disk there.
    private var recorded: UInt64
    private var flushed: UInt64
    /// The value of `recorded` at the last flush request, and bytes written to the engine since.
    private var requestedFlush: UInt64 = 0
    private var unflushedBytes = 0

    /// Creates the committer of a store that was just opened.
    init(_ opened: consuming OpenedStore, _ memory: SeenFilter, _ sizes: EngineSizes) {
        engine = opened.engine
        self.sizes = sizes
        commit = Commit(opened.engine, memory, tallies: opened.tallies, highest: opened.highest)
        applied = opened.journal.commit
        recorded = applied
        flushed = applied
        journal = opened.journal
    }

    /// The number of the last commit.
    var last: UInt64 { journal.commit }

    /// Returns the syncs since the last call.
    mutating func takeSyncTimes() -> SyncTimes { journal.takeSyncTimes() }

    /// Makes a commit and writes it. If `isDurable` is set, this and all earlier commits are on the disk when it returns.
    mutating func write<Result>(
        _ isDurable: Bool, _ recent: borrowing Mutex<RecentMessages>, _ watermark: ExpiryWatermark,
        _ make: (inout Commit) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let next = journal.commit + 1
        try commit.begin(next)
        let result = try make(&commit)
        if !commit.repeats.isEmpty {
            try recent.withLock { (recent) throws(StoreError) in try commit.demandSame(as: recent) }
        }
        guard try commit.end() else {
            // A durable batch that changes nothing still promises that all earlier commits are on the disk.
            if isDurable { try journal.sync() }
            return result
        }
        let rotates = journal.isSegmentFull
        if rotates {
            try journal.rotate()
            // The next flush must contain the applied commit that belongs to its rows.
            try recordApplied()
        }
        let number = try journal.append(&commit.frame)
        // From here on the batches must not be written again, since they may be on the disk.
        do throws(StoreError) {
            try demand(number == next, "a commit was written with an unexpected number")
            try finish(number, isDurable, recent, watermark)
            if rotates || unflushedBytes > sizes.buffers { try retire() }
        } catch { throw error.afterWrite.ofWholeStore }
        commit.index.forget(upTo: flushed, atMost: Limits.Store.duplicatesDroppedPerCommit)
        return result
    }

    /// Syncs the appended commit if needed, and makes it visible to loads.
    private mutating func finish(
        _ number: UInt64, _ isDurable: Bool, _ recent: borrowing Mutex<RecentMessages>,
        _ watermark: ExpiryWatermark
    ) throws(StoreError) {
        try commit.index.end(number, bytes: commit.frame.frame.count)
        let survivors = try commit.index.evict(to: sizes.recent)
        // The engine may get synced commits only. The tallies are part of every write to the engine.
        if isDurable || !commit.batch.isEmpty || !survivors.isEmpty { try journal.sync() }
        try publish(survivors, recent, watermark)
    }

    private mutating func recordApplied() throws(StoreError) {
        try demand(applied >= recorded, "the applied commit moves backward")
        commit.recordApplied(applied)
        recorded = applied
    }

    /// Makes the commit visible to loads, and moves messages that leave memory to the engine.
    private mutating func publish(
        _ survivors: RecentIndex.Survivors, _ recent: borrowing Mutex<RecentMessages>,
        _ watermark: ExpiryWatermark
    ) throws(StoreError) {
        if let last = survivors.commit {
            try demand(last >= applied && last <= journal.commit, "the applied commit is outside the journal")
            applied = last
        }
        try recent.withLock { (recent) throws(StoreError) in
            try recent.apply(commit.changes, of: commit.frame.frame.bytes, counted: commit.counted)
            if !survivors.isEmpty {
                try commit.moveToEngine(survivors, from: recent)
                try recordApplied()
            }
            if !commit.batch.isEmpty {
                try demand(
                    journal.synced == journal.commit, "the engine gets an unsynced commit")
                watermark.commitBegins(commit.earliestExpiries)
                defer { watermark.commitEnds() }
                try engine.write(commit.batch)
                unflushedBytes += commit.batch.bytes
            }
            for messageKey in survivors.keys { try recent.remove(messageKey) }
        }
    }

    /// Removes journal files whose commits the engine has on the disk. Requests a flush if they are too many.
    private mutating func retire() throws(StoreError) {
        try readFlushed()
        if journal.bytes > sizes.journal || unflushedBytes > sizes.buffers {
            let waits = journal.bytes > 2 * sizes.journal || unflushedBytes > 2 * sizes.buffers
            // One request is enough until it is done.
            if waits || flushed >= requestedFlush {
                (requestedFlush, unflushedBytes) = (recorded, 0)
                try engine.flush(waits: waits)
            }
            if waits { try readFlushed() }
        }
        try demand(flushed <= journal.synced, "a journal file is removed before its commits are synced")
        journal.retire(upTo: flushed)
    }

    /// Reads the applied commit that the engine has on the disk.
    private mutating func readFlushed() throws(StoreError) {
        let found = try engine.number(MetaKey.applied, onDisk: true) ?? 0
        try demand(found >= flushed, "the flushed commit of the engine moves backward")
        try demand(found <= recorded, "the engine has flushed a commit that it never got")
        flushed = found
    }

    /// Ends the current journal file. Returns the last commit, which is synced, and the names of the ended files: they have all
    /// commits that the engine may not have on the disk, and never change again.
    mutating func endJournalFile() throws(StoreError) -> (commit: UInt64, files: [String]) {
        let files = try journal.endFile()
        try demand(journal.synced == journal.commit, "a journal file ends with unsynced commits")
        return (journal.commit, files)
    }

    /// Syncs all commits and moves them to the engine, so that the next start has nothing to replay.
    mutating func close(_ recent: borrowing Mutex<RecentMessages>) throws(StoreError) {
        try journal.sync()
        try commit.begin(journal.commit + 1)
        // The journal is synced: if the engine fails now, the next start replays it.
        do throws(StoreError) {
            let survivors = try commit.index.evict(to: -1)
            try demand(commit.index.bytes == 0, "recent commits are left when the store closes")
            if let last = survivors.commit { applied = last }
            try recordApplied()
            try publish(survivors, recent, ExpiryWatermark(partitions: engine.partitions))
            try engine.flush(waits: true)
            journal.retire(upTo: applied)
        } catch { if error.kind.isInvariant { throw error.afterWrite } }
    }
}
