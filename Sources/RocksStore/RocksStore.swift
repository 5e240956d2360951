public import Basics
public import Delivery
import Glibc
public import Store
import Synchronization

/// Commits that were on the disk and cannot be read any more, both ends included.
public struct LostCommits: Sendable, Equatable {
    public var first: UInt64
    public var last: UInt64
}

/// What was odd about a store that was opened all the same.
public enum OpeningRemark: Sendable, Equatable {
    /// The note of what was synced could not be read: nobody knows whether the log was whole.
    case unreadableSyncMark
    /// The list of files, by this name, had a torn end; as it was it is kept beside it, with `.torn` behind its name.
    case tornList(String)
}

/// The embedded store: RocksDB in a directory of ours.
///
/// A record that cannot be read is never removed: loads pass over such messages, `audit` names them, and a device
/// or registration that cannot be read fails the load, so that nobody is told that it does not exist.
public final class RocksStore: Store {
    /// The directory.
    public let path: String
    /// The number of partitions that the store was created with.
    public let partitions: Int
    private let sizes: EngineSizes
    private let memory = SeenMemory()
    private let floor: ExpiryFloor
    private let open: ReadWriteLock<Engine?>
    /// Changed, and looked at together with a snapshot of the engine, so that nothing is missed on its way there.
    let young: Mutex<Young>
    private let writer: Mutex<Writer>
    private let passedOver = Atomic<Int>(0)
    /// What an operator should hear of, and did not keep the store from being opened.
    public let remarks: [OpeningRemark]

    /// What only the committing thread touches.
    private struct Writer: ~Copyable {
        /// Nil after a write has failed, until the store is opened anew: nobody knows what of it reached the disk.
        var committer: Committer?
        var isClosed = false
    }

    /// Opens the store in a directory, which is made (for nobody else's eyes) where it is missing.
    ///
    /// A store that is created gets `wanted` partitions; one that is there keeps the number that it has.
    public init(
        path: String, partitions wanted: Int = Limits.Partition.count, sizes: EngineSizes = EngineSizes()
    ) throws(StoreError) {
        precondition((1...Limits.Partition.maximumCount).contains(wanted), "no number of partitions")
        self.path = path
        self.sizes = sizes
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw StoreError(.inputOutput, "make \(path): \(unsafe String(cString: strerror(errno)))")
        }
        do throws(StoreError) {
            var remarks: [OpeningRemark] = []
            let opened = try Recovery.open(path, partitions: wanted, memory, sizes, &remarks)
            self.remarks = remarks
            partitions = opened.engine.partitions
            floor = ExpiryFloor(partitions: opened.engine.partitions)
            open = ReadWriteLock(opened.engine)
            young = Mutex(Young(tallies: opened.tallies))
            writer = Mutex(Writer(committer: Committer(opened, memory, sizes)))
        } catch { throw error.ofWholeStore }
    }

    /// Gives up what the journal of a closed store has lost, so that it can be opened (`StoreError.Kind.lost`); nil: nothing
    /// is missing. What cannot be read is kept under another name, and the note of what was synced changed.
    public static func acceptLoss(path: String) throws(StoreError) -> LostCommits? {
        try Recovery.acceptLoss(path)
    }

    /// Unreadable messages that loads have passed over since the store was opened. Only tests read it: nothing else shows
    /// whether a damaged row was met, and counted once.
    public var unreadablePassedOver: Int { passedOver.load(ordering: .relaxed) }

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
        try writer.withLock { (writer) throws(StoreError) in
            guard !writer.isClosed else { throw Recovery.closed }
            if writer.committer == nil { try reopen(&writer) }
            guard var committer = writer.committer.take() else { throw Recovery.closed }
            do throws(StoreError) {
                let result = try withEngine { (_) throws(StoreError) in
                    try committer.write(isDurable, young, floor, make)
                }
                passedOver.add(committer.commit.unreadable, ordering: .relaxed)
                writer.committer = consume committer
                return result
            } catch {
                // Before anybody hears of the failure: from then on reads must show what became of the batches.
                _ = consume committer
                try? reopen(&writer)
                throw error.ofWholeStore
            }
        }
    }

    /// A failed write leaves the store without a word on what reached the disk: it is asked anew.
    ///
    /// Until that has worked, reads fail: they might show what is not so.
    private func reopen(_ writer: inout Writer) throws(StoreError) {
        do throws(StoreError) {
            try open.write { (engine) throws(StoreError) in
                engine = nil
                var remarks: [OpeningRemark] = []
                let opened = try Recovery.open(path, partitions: partitions, memory, sizes, &remarks)
                guard opened.engine.partitions == partitions else { throw Recovery.replaced(path) }
                engine = opened.engine
                young.withLock { $0 = Young(tallies: opened.tallies) }
                writer.committer = Committer(opened, memory, sizes)
            }
        } catch { throw error.ofWholeStore }
    }

    public func load(_ load: StoreQuery) throws(StoreError) -> StoreResult {
        try self.load([load])[0].get()
    }

    public func load(_ loads: [StoreQuery]) -> [Result<StoreResult, StoreError>] {
        do throws(StoreError) {
            return try withEngine { (engine) throws(StoreError) in
                var parts: [YoungPart] = []
                var loading = SnapshotReader(
                    try view(engine) { young in parts = loads.map { young.part(of: $0) } })
                defer { passedOver.add(loading.unreadable, ordering: .relaxed) }
                var results: [Result<StoreResult, StoreError>] = []
                results.reserveCapacity(loads.count)
                for (load, part) in zip(loads, parts) {
                    do throws(StoreError) {
                        results.append(.success(try checkedAnswer(load, part, &loading, engine)))
                    } catch { results.append(.failure(error)) }
                }
                try demand(results.count == loads.count, "a question has no answer, or two")
                return results
            }
        } catch {
            return loads.map { _ in .failure(error) }
        }
    }

    /// A snapshot of the engine, taken at the moment at which the young messages are looked at.
    private func view(
        _ engine: Engine, _ look: (inout Young) throws(StoreError) -> Void
    ) throws(StoreError) -> Engine.Snapshot {
        try young.withLock { (young) throws(StoreError) in
            try look(&young)
            return engine.snapshot()
        }
    }

    private func answer(
        _ load: StoreQuery, _ part: YoungPart, _ loading: inout SnapshotReader, _ engine: Engine
    ) throws(StoreError) -> StoreResult {
        switch load {
        case .device(let device): return try loading.device(device, part)
        case .messages(let device, let after, let limit):
            return try loading.messages(device, after: after, limit: limit, part)
        case .upstream(let sender, let after, let limit):
            return try loading.upstream(sender, after: after, limit: limit, part)
        case .unseen(let time, let unusedBefore, let start, let examine, let limit, let partition):
            return try loading.unseen(
                before: time, unusedBefore: unusedBefore, from: start, examine: examine, limit: limit,
                of: partition)
        case .group(let name, let isForChange):
            return .group(name, try loading.group(name), isForChange: isForChange)
        case .groupLabelled(let sender, let label):
            return .groupLabelled(sender, label, try loading.group(of: sender, label: label))
        case .installation(let installation, let limit, let isForChange):
            let (record, names) = try loading.installation(installation, limit: limit)
            return .installation(installation, record, names, isForChange: isForChange)
        case .unusedInstallations(
            let before, let unlinkedBefore, let start, let examine, let limit, let partition):
            let (found, next) = try loading.unusedInstallations(
                before, unlinkedBefore, from: start, examine, limit, of: partition)
            return .unusedInstallations(found, next: next, before: before, unlinkedBefore: unlinkedBefore)
        case .topicPage(let job, let topic, let after, let limit):
            return try loading.topicPage(job, topic, after: after, limit: limit)
        case .topicJobs(let after, let limit, let partition):
            return try loading.topicJobs(after: after, limit: limit, of: partition)
        case .expired(let time, let limit, let partition):
            return try sweep(engine, by: time, limit, of: partition)
        }
    }

    private func checkedAnswer(
        _ load: StoreQuery, _ part: YoungPart, _ loading: inout SnapshotReader, _ engine: Engine
    ) throws(StoreError) -> StoreResult {
        try load.demandAnswerable(among: partitions)
        let answer = try answer(load, part, &loading, engine)
        try load.demandAnswered(by: answer, among: partitions)
        return answer
    }

    /// The floor is asked before the snapshot is made: what is committed in between lowers it again.
    private func sweep(
        _ engine: Engine, by time: UnixMilliseconds, _ limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let start = floor.sweepBegins(partition)
        guard let start else { return try sweep(engine, from: .min, by: time, limit, of: partition).answer }
        do throws(StoreError) {
            let (answer, first) = try sweep(engine, from: start, by: time, limit, of: partition)
            try demand(first >= start, "the watermark of a sweep goes back", "partition \(partition)")
            try floor.sweepEnds(partition, first: first)
            return answer
        } catch {
            try floor.sweepEnds(partition, first: nil)
            throw error
        }
    }

    private func sweep(
        _ engine: Engine, from start: UnixMilliseconds, by time: UnixMilliseconds, _ limit: Int,
        of partition: Int
    ) throws(StoreError) -> (answer: StoreResult, first: UnixMilliseconds) {
        // Most sweeps are of partitions in which nothing ends: these cost no snapshot.
        if start > time, !young.withLock({ $0.mayEnd(by: time, of: partition) }) {
            return (.expired([]), start)
        }
        var ends: [ExpiryKey] = []
        var rows: [ExpiryKey: YoungRow] = [:]
        let snapshot = try view(engine) { (young) throws(StoreError) in
            ends = try young.ends(by: time, of: partition, limit: limit)
            for end in ends where end.kind == .upstream { rows[end] = young.row(at: Place(end))?.row }
        }
        var loading = SnapshotReader(snapshot)
        let (settled, first) = try loading.expired(from: start, by: time, limit: limit, of: partition)
        passedOver.add(loading.unreadable, ordering: .relaxed)
        var entries: [ExpiredEntry] = []
        for end in merged(settled, ends, by: <).prefix(limit) {
            entries.append(end.entry(author: try loading.author(of: end, rows[end])))
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

    public func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        try withEngine { (engine) throws(StoreError) in
            var loading = SnapshotReader(engine.snapshot())
            defer { passedOver.add(loading.unreadable, ordering: .relaxed) }
            let devices = try loading.devices(after: after, limit: limit)
            try ListChecks.demandOrdered(devices, after: after, limit: limit)
            return devices
        }
    }

    public func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] {
        try withEngine { (engine) throws(StoreError) in
            var loading = SnapshotReader(engine.snapshot())
            defer { passedOver.add(loading.unreadable, ordering: .relaxed) }
            let installations = try loading.installations(after: after, limit: limit)
            try ListChecks.demandOrdered(installations, after: after, limit: limit)
            return installations
        }
    }

    public func topics(from place: TopicPlace?, examine: Int) throws(StoreError) -> TopicCounts {
        try withEngine { (engine) throws(StoreError) in
            let page = try SnapshotReader(engine.snapshot()).topics(from: place, examine: examine)
            try ListChecks.demandCounted(page, examined: examine)
            return page
        }
    }

    public func setting(_ name: String) throws(StoreError) -> [UInt8]? {
        try withEngine { (engine) throws(StoreError) in
            try engine.get(.meta, MetaKey.setting(name).raw) { (bytes) throws(StoreError) in
                [UInt8](copying: bytes)
            }
        }
    }

    public func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {
        try commit(true) { (commit) throws(StoreError) in commit.put(setting: name, value) }
    }

    public func registryBytes() throws(StoreError) -> UInt64 {
        try withEngine { (engine) throws(StoreError) in
            var bytes: UInt64 = 0
            for family in Family.allCases where family.isRegistry { bytes += try engine.size(of: family) }
            return bytes
        }
    }

    public func reclaimRegistry() throws(StoreError) {
        try withEngine { (engine) throws(StoreError) in
            for family in Family.allCases where family.isRegistry { try engine.suggestCompaction(of: family) }
        }
    }

    public func audit() throws(StoreError) -> StoreAudit {
        try withEngine { (engine) throws(StoreError) in
            var audit = StoreAudit()
            var auditor = Auditor(try view(engine) { $0.count(in: &audit) }, audit)
            return auditor.run()
        }
    }

    public func close() throws(StoreError) {
        try writer.withLock { (writer) throws(StoreError) in
            guard !writer.isClosed else { return }
            if var committer = writer.committer.take() { try committer.close(young) }
            writer.isClosed = true
            open.write { $0 = nil }
        }
    }

    /// Makes the next commit open the engine anew, as after a failed write: a door for tests, which cannot make a disk fail.
    func breakWriter() { writer.withLock { $0.committer = nil } }

    /// Uses the engine while nobody replaces it.
    func withEngine<Result>(
        _ body: (Engine) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try open.read { (engine) throws(StoreError) in
            guard let engine else { throw Recovery.closed }
            Engine.countNothing()
            return try body(engine)
        }
    }
}
