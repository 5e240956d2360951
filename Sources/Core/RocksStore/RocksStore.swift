public import Basics
public import Delivery
import Glibc
public import Store
import Synchronization

/// The store on disk: a journal and RocksDB in one directory.
///
/// A record that cannot be read is never removed. Loads skip such messages and `audit` names them. A device or registration that
/// cannot be read fails the load: it must not seem absent.
public final class RocksStore: Store {
    /// The directory of the store.
    public let path: String
    /// Number of partitions, fixed when the store was created.
    public let partitions: Int
    private let sizes: EngineSizes
    private let memory = SeenFilter()
    private let watermark: ExpiryWatermark
    private let open: ReadWriteLock<Engine?>
    /// The recent messages. They are read in the same lock as a snapshot of the engine is taken, so that a load sees each message
    /// exactly once while it moves.
    let recent: Mutex<RecentMessages>
    private let writer: Mutex<Writer>
    /// The unreadable records that loads, lists and commits have skipped.
    private let skipped = Atomic<Int>(0)
    /// Findings for the operator that did not prevent the store from opening.
    public let remarks: [OpeningRemark]

    /// Called when commits that loads have shown are gone, since they were not durable and a sync has failed.
    private let lost = Mutex<@Sendable (StoreError) -> Void>({ _ in })

    /// The tables with blocks that cannot be read.
    let damageState: Mutex<DamageState>

    /// State of the committing thread.
    private struct Writer: ~Copyable {
        /// `nil` after a failed write until the store is reopened, since it is unknown what reached the disk.
        var committer: Committer?
        /// The last commit that loads have shown before a write failed.
        var shown: UInt64 = 0
        var isClosed = false
        /// The syncs of all committers.
        var syncTimes = SyncTimes()
    }

    /// Opens the store in a directory. A missing directory is created with access for its owner only.
    ///
    /// A new store gets `wanted` partitions. An existing one keeps its number of partitions.
    public init(
        path: String, partitions wanted: Int = Limits.Partition.count, sizes: EngineSizes = EngineSizes()
    ) throws(StoreError) {
        precondition(
            (1...Limits.Partition.maximumCount).contains(wanted),
            "invalid number of partitions: expected 1 to \(Limits.Partition.maximumCount)")
        self.path = path
        self.sizes = sizes
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw StoreError(.inputOutput, "make \(path): \(unsafe String(cString: strerror(errno)))")
        }
        do throws(StoreError) {
            var remarks: [OpeningRemark] = []
            let opened = try Recovery.open(path, partitions: wanted, memory, sizes, &remarks)
            // Only now: the folder of an open store may belong to a running backup. What cannot be removed only takes space.
            try? CheckpointFolder.remove(from: path)
            self.remarks = remarks
            partitions = opened.engine.partitions
            watermark = ExpiryWatermark(partitions: opened.engine.partitions)
            open = ReadWriteLock(opened.engine)
            recent = Mutex(RecentMessages(tallies: opened.tallies))
            writer = Mutex(Writer(committer: Committer(opened, memory, sizes)))
            damageState = Mutex(DamageState(tables: try DamageMark.read(path)))
        } catch { throw error.ofWholeStore }
    }

    /// Accepts that the journal of a closed store has lost commits, so that it can be opened (`StoreError.Kind.lost`).
    ///
    /// Unreadable files are kept under another name, and the sync mark is lowered. Returns `nil` if no commit is missing.
    public static func acceptLoss(path: String) throws(StoreError) -> LostCommits? {
        try Recovery.acceptLoss(path)
    }

    public func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        let isDurable = batches.contains { $0.isDurable }
        return try commit(isDurable) { (commit) throws(StoreError) in
            var outcomes: [CommitOutcome] = []
            outcomes.reserveCapacity(batches.count)
            for batch in batches { outcomes.append(try commit.add(batch)) }
            return outcomes
        }
    }

    private func commit<Result: Sendable>(
        _ isDurable: Bool, _ make: (inout Commit) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withCommitter { (committer) throws(StoreError) in
            let result = try withEngine { (_) throws(StoreError) in
                try committer.write(isDurable, recent, watermark, make)
            }
            skipped.add(committer.commit.unreadable, ordering: .relaxed)
            return result
        }
    }

    /// Calls a closure between two commits. If it throws, the store is reopened, as after a failed write.
    func withCommitter<Result: Sendable>(
        _ body: (inout Committer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try writer.withLock { (writer) throws(StoreError) in
            guard !writer.isClosed else { throw Recovery.closed }
            if writer.committer == nil { try reopen(&writer) }
            guard var committer = writer.committer.take() else { throw Recovery.closed }
            let shown = committer.last
            do throws(StoreError) {
                let result = try body(&committer)
                let times = committer.takeSyncTimes()
                writer.syncTimes.count += times.count
                writer.syncTimes.nanoseconds += times.nanoseconds
                writer.committer = consume committer
                return result
            } catch {
                // Before the caller sees the failure: from then on reads must show what reached the disk.
                _ = consume committer
                writer.shown = shown
                try? reopen(&writer)
                throw error
            }
        }
    }

    /// Reopens the store after a failed write, to read what reached the disk.
    ///
    /// Until that succeeds, reads fail: they might show what is not on the disk.
    private func reopen(_ writer: inout Writer) throws(StoreError) {
        defer { adoptMark() }
        do throws(StoreError) {
            try open.write { (engine) throws(StoreError) in
                engine = nil
                var remarks: [OpeningRemark] = []
                let opened = try Recovery.open(path, partitions: partitions, memory, sizes, &remarks)
                guard opened.engine.partitions == partitions else { throw Recovery.replaced(path) }
                engine = opened.engine
                recent.withLock { $0 = RecentMessages(tallies: opened.tallies) }
                let committer = Committer(opened, memory, sizes)
                if committer.last < writer.shown {
                    let words = "commits \(committer.last + 1) to \(writer.shown) were lost by a failed sync"
                    lost.withLock { $0 }(StoreError(.lost, words))
                }
                writer.committer = consume committer
            }
        } catch { throw error.ofWholeStore }
    }

    /// Has a closure called, before anything else is written, when commits without a sync were lost that loads have shown: nothing was
    /// promised for them, but who counts on their order must begin again.
    public func whenCommitsAreLost(_ act: @escaping @Sendable (StoreError) -> Void) {
        lost.withLock { $0 = act }
    }

    public func load(_ load: StoreQuery) throws(StoreError) -> StoreResult {
        try self.load([load])[0].get()
    }

    public func load(_ loads: [StoreQuery]) -> [Result<StoreResult, StoreError>] {
        do throws(StoreError) {
            return try withEngine { (engine) throws(StoreError) in
                var parts: [RecentPart] = []
                var reader = SnapshotReader(
                    try view(engine) { recent in parts = loads.map { recent.part(of: $0) } })
                defer { skipped.add(reader.unreadable, ordering: .relaxed) }
                var results: [Result<StoreResult, StoreError>] = []
                results.reserveCapacity(loads.count)
                for (load, part) in zip(loads, parts) {
                    do throws(StoreError) {
                        results.append(.success(try checkedAnswer(load, part, &reader, engine)))
                    } catch {
                        note(error, engine, by: load)
                        results.append(.failure(error))
                    }
                }
                try demand(results.count == loads.count, "the number of answers is not the number of loads")
                return results
            }
        } catch {
            return loads.map { _ in .failure(error) }
        }
    }

    /// Returns a snapshot of the engine, taken under the same lock as a look at the recent messages.
    private func view(
        _ engine: Engine, _ look: (inout RecentMessages) throws(StoreError) -> Void
    ) throws(StoreError) -> Engine.Snapshot {
        try recent.withLock { (recent) throws(StoreError) in
            try look(&recent)
            return engine.snapshot()
        }
    }

    private func answer(
        _ load: StoreQuery, _ part: RecentPart, _ reader: inout SnapshotReader, _ engine: Engine
    ) throws(StoreError) -> StoreResult {
        switch load {
        case .device(let device): return try reader.device(device, part)
        case .messages(let device, let after, let limit):
            return try reader.messages(device, after: after, limit: limit, part)
        case .gatewayMessage(let device, let sequence):
            return try reader.gatewayMessage(device, sequence, part)
        case .named(let device, let id, let lookup):
            return .named(device, try reader.named(id, of: device, part), lookup: lookup)
        case .schedule(let after, let limit, let partition):
            return try reader.schedule(after: after, limit: limit, of: partition)
        case .gatewayDevices(let start, let limit, let partition):
            return try reader.gatewayDevices(from: start, limit: limit, of: partition)
        case .upstream(let sender, let after, let limit):
            return try reader.upstream(sender, after: after, limit: limit, part)
        case .unseen(let time, let unusedBefore, let start, let examine, let limit, let partition):
            return try reader.unseen(
                before: time, unusedBefore: unusedBefore, from: start, examine: examine, limit: limit,
                of: partition)
        case .group(let name, let isForChange):
            return .group(name, try reader.group(name), isForChange: isForChange)
        case .groupLabelled(let sender, let label):
            return .groupLabelled(sender, label, try reader.group(of: sender, label: label))
        case .installation(let installation, let limit, let isForChange):
            let (record, names) = try reader.installation(installation, limit: limit)
            return .installation(installation, record, names, isForChange: isForChange)
        case .unusedInstallations(
            let before, let unlinkedBefore, let start, let examine, let limit, let partition):
            let (found, next) = try reader.unusedInstallations(
                before, unlinkedBefore, from: start, examine, limit, of: partition)
            return .unusedInstallations(found, next: next, before: before, unlinkedBefore: unlinkedBefore)
        case .topicMessages(let after, let limit, let partition):
            return try reader.topicMessages(after: after, limit: limit, of: partition)
        case .topicEntries(let after, let limit, let partition):
            return try reader.topicEntries(after: after, limit: limit, of: partition)
        case .topicDevices(let sender, let topic, let after, let limit, let partition):
            return try reader.topicDevices(sender, topic, after: after, limit: limit, of: partition)
        case .expired(let time, let limit, let partition):
            return try sweep(engine, by: time, limit, of: partition)
        }
    }

    private func checkedAnswer(
        _ load: StoreQuery, _ part: RecentPart, _ reader: inout SnapshotReader, _ engine: Engine
    ) throws(StoreError) -> StoreResult {
        try load.demandAnswerable(among: partitions)
        let answer = try answer(load, part, &reader, engine)
        try load.demandAnswered(by: answer, among: partitions)
        return answer
    }

    /// Reads the watermark before the snapshot is taken: a commit in between lowers it again.
    private func sweep(
        _ engine: Engine, by time: UnixMilliseconds, _ limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let start = watermark.sweepBegins(partition)
        guard let start else { return try sweep(engine, from: .min, by: time, limit, of: partition).answer }
        do throws(StoreError) {
            let (answer, first) = try sweep(engine, from: start, by: time, limit, of: partition)
            try demand(first >= start, "the watermark of a sweep moves backward", "partition \(partition)")
            try watermark.sweepEnds(partition, first: first)
            return answer
        } catch {
            try watermark.sweepEnds(partition, first: nil)
            throw error
        }
    }

    private func sweep(
        _ engine: Engine, from start: UnixMilliseconds, by time: UnixMilliseconds, _ limit: Int,
        of partition: Int
    ) throws(StoreError) -> (answer: StoreResult, first: UnixMilliseconds) {
        // In most sweeps nothing expires: they need no snapshot.
        if start > time, !recent.withLock({ $0.mayEnd(by: time, of: partition) }) {
            return (.expired([]), start)
        }
        var ends: [ExpiryKey] = []
        var rows: [ExpiryKey: RecentRow] = [:]
        let snapshot = try view(engine) { (recent) throws(StoreError) in
            ends = try recent.ends(by: time, of: partition, limit: limit)
            for end in ends where end.kind == .upstream { rows[end] = recent.row(at: MessageKey(end))?.row }
        }
        var reader = SnapshotReader(snapshot)
        let (stored, first) = try reader.expired(from: start, by: time, limit: limit, of: partition)
        skipped.add(reader.unreadable, ordering: .relaxed)
        var entries: [ExpiredEntry] = []
        for end in merged(stored, ends, by: <).prefix(limit) {
            entries.append(end.entry(in: partition, author: try reader.author(of: end, rows[end])))
        }
        return (.expired(entries), first)
    }

    public func senders() throws(StoreError) -> [SenderRecord] {
        let senders = try withEngine { (engine) throws(StoreError) in
            try SnapshotReader(engine.snapshot()).senders()
        }
        try ListChecks.demandOrdered(senders)
        return senders
    }

    /// Reads a page of a list from one snapshot, and checks it.
    private func page<Row>(
        _ read: (inout SnapshotReader) throws(StoreError) -> [Row],
        check: ([Row]) throws(StoreError) -> Void
    ) throws(StoreError) -> [Row] {
        try withEngine { (engine) throws(StoreError) in
            var reader = SnapshotReader(engine.snapshot())
            defer { skipped.add(reader.unreadable, ordering: .relaxed) }
            let rows = try read(&reader)
            try check(rows)
            return rows
        }
    }

    public func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        try page { (reader) throws(StoreError) in
            try reader.devices(after: after, limit: limit)
        } check: { (rows) throws(StoreError) in
            try ListChecks.demandOrdered(rows, after: after, limit: limit)
        }
    }

    public func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] {
        try page { (reader) throws(StoreError) in
            try reader.installations(after: after, limit: limit)
        } check: { (rows) throws(StoreError) in
            try ListChecks.demandOrdered(rows, after: after, limit: limit)
        }
    }

    public func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord] {
        try page { (reader) throws(StoreError) in
            try reader.groups(after: after, limit: limit)
        } check: { (rows) throws(StoreError) in
            try ListChecks.demandOrdered(rows, after: after, limit: limit)
        }
    }

    public func feedback(
        of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) -> [APNsFeedback] {
        try page { (reader) throws(StoreError) in
            try reader.feedback(of: sender, after: after, limit: limit)
        } check: { (rows) throws(StoreError) in
            try ListChecks.demandOrdered(rows, of: sender, after: after, limit: limit)
        }
    }

    public func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {
        try commit(true) { (commit) throws(StoreError) in commit.put(setting: name, value) }
    }

    public func figures() throws(StoreError) -> StoreFigures {
        var figures = StoreFigures()
        figures.add(recent.withLock { $0.tallies })
        figures.skippedRecords = skipped.load(ordering: .relaxed)
        figures.bytes = try StoreFiles.bytes(in: path, beginning: "")
        figures.journalBytes = try StoreFiles.bytes(in: path, beginning: JournalFolder.head)
        return figures
    }

    public var syncTimes: SyncTimes { writer.withLock { $0.syncTimes } }

    public func audit() throws(StoreError) -> StoreAudit {
        try withEngine { (engine) throws(StoreError) in
            var audit = StoreAudit()
            var auditor = Auditor(try view(engine) { $0.count(in: &audit) }, audit)
            audit = auditor.run()
            for error in auditor.failures { note(error, engine) }
            audit.damaged = damage
            return audit
        }
    }

    public func close() throws(StoreError) {
        try writer.withLock { (writer) throws(StoreError) in
            guard !writer.isClosed else { return }
            if var committer = writer.committer.take() { try committer.close(recent) }
            writer.isClosed = true
            open.write { $0 = nil }
        }
    }

    /// Calls a closure with the engine, which cannot be replaced meanwhile.
    func withEngine<Result>(
        _ body: (Engine) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try open.read { (engine) throws(StoreError) in
            guard let engine else { throw Recovery.closed }
            Engine.disablePerformanceCounters()
            do throws(StoreError) { return try body(engine) } catch {
                note(error, engine)
                throw error
            }
        }
    }
}
