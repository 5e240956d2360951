public import Basics
import Catalogue
public import Delivery
import Glibc
public import Store
import Synchronization
public import Transport

/// The store's two threads: one commits the batches of all partitions, the other one runs their queries.
///
/// Group commit: one commit with one sync covers all batches that arrived during the previous one. Outcomes and results are
/// reported in the order of submission, on these threads, in one call per round. A query sees every batch whose outcome was
/// reported before the query was submitted. The querying thread also measures the registry every few seconds.
public final class StoreThreads: CommitLog {
    /// Gets the reports of a round, in order per partition.
    public typealias Report = @Sendable ([StoreReport]) -> Void

    private let store: any Store
    /// The store, for reading at the start.
    var contents: any Store { store }
    private let metrics: MetricShard
    private let log: Log
    private let report: Report
    /// Called after each measurement of the store, on the querying thread.
    private let measured: @Sendable () -> Void
    /// Gets the positions up to which logs are applied.
    private let applied: @Sendable ([AppliedReport]) -> Void
    private let lease: SequenceLease?
    /// The size and the limit of the registry.
    public let registry: RegistryQuota
    private let commits = Monitor(CommitQueue())
    private let loads = Monitor(QueryQueue())
    private let failing = Atomic<Bool>(false)
    private let failure = Mutex<StoreError?>(nil)
    private let threads = Mutex<[Transport.Thread]>([])
    private let scrubber: StoreScrubber

    /// Starts the threads of a store; from then on all commits must go through this object. Throws if a thread cannot be created.
    ///
    /// With a lease, commits keep its mark above the stored sequences. The registry is measured before this returns.
    public init(
        store: any Store, metrics: MetricShard, log: Log, lease: SequenceLease? = nil,
        registry: RegistryQuota = RegistryQuota(limit: 0), measured: @escaping @Sendable () -> Void = {},
        applied: @escaping @Sendable ([AppliedReport]) -> Void = { _ in },
        report: @escaping Report
    ) throws(TransportError) {
        self.applied = applied
        self.lease = lease
        self.registry = registry
        self.store = store
        self.metrics = metrics
        self.log = log
        self.report = report
        self.measured = measured
        scrubber = StoreScrubber(store: store, metrics: metrics) { error in
            Self.record(failedRead: error, metrics, log)
        }
        metrics.set(.storeHealthy, to: 1)
        reportDamage()
        var census = CensusState()
        measure(&census)
        let committing = try Transport.Thread(name: "ccsd-commit") { [self] in runCommits() }
        threads.withLock { $0.append(committing) }
        let answering = try Transport.Thread(name: "ccsd-load") { [self] in runQueries() }
        threads.withLock { $0.append(answering) }
        let scrubbing = try Transport.Thread(name: "ccsd-scrub") { [scrubber] in scrubber.run() }
        threads.withLock { $0.append(scrubbing) }
    }

    /// Logs and counts the damaged tables: those known from the last run, and each that is found.
    private func reportDamage() {
        let report = { @Sendable [weak store, metrics, log] (damage: StoreDamage) in
            metrics.set(.storeDamagedTables, to: store?.damage.count ?? 0)
            log.error(
                "store_damaged",
                [
                    "table": .text(damage.table), "family": .text(damage.family),
                    "partition": .text(damage.partition.map { "\($0)" } ?? "unknown"),
                    "concerns": .text(damage.concerns), "problem": .text(damage.problem),
                    "hint": .text("restore a backup: see \"A damaged store\" in docs/operations.md"),
                ])
        }
        store.whenDamaged(report)
        for damage in store.damage { report(damage) }
    }

    /// The tables of the store with blocks that cannot be read.
    public var damage: [StoreDamage] { store.damage }

    /// Whether the last commit succeeded; can be called on any thread.
    public var isHealthy: Bool { !failing.load(ordering: .relaxed) }

    /// The error of the last commit; `nil` if it succeeded.
    public var lastFailure: StoreError? { failure.withLock { $0 } }

    /// Submits the batches of one reactor's partitions.
    ///
    /// If too many writes are waiting, or during shutdown, the batches fail at once, and the outcomes are reported on the calling
    /// thread.
    public func submit(_ batches: [PartitionBatch]) {
        guard !batches.isEmpty else { return }
        submit(
            batches.map { CommitQueue.Entry(batch: $0.batch, listener: .partition($0.partition)) })
    }

    /// Submits a batch of the control plane; `completed` is called on the store's thread.
    public func submit(_ batch: WriteBatch, completed: @escaping @Sendable (CommitOutcome) -> Void) {
        submit([CommitQueue.Entry(batch: batch, listener: .caller(completed))])
    }

    /// Applies batches that the log of a partition has confirmed, in the order of the log. They are never refused. If one cannot be
    /// written the process ends: other nodes have it, and this one must not go on without.
    func apply(_ batches: [(batch: WriteBatch, of: CommitQueue.LogBatch)]) {
        submit(batches.map { CommitQueue.Entry(batch: $0.batch, listener: .log($0.of)) })
    }

    private func submit(_ entries: [CommitQueue.Entry]) {
        let refused = commits.change { queue in
            entries.compactMap { entry in queue.add(entry).map { (entry.listener, $0) } }
        }
        if refused.count < entries.count {
            metrics.add(entries.count - refused.count, to: .storeWaitingWrites)
        }
        guard !refused.isEmpty else { return }
        metrics.add(refused.count, to: .storeFailures)
        notify(refused.map(\.0), refused.map(\.1))
    }

    /// Submits the queries of one reactor's partitions.
    ///
    /// If too many queries are waiting, or during shutdown, they fail at once, and the failures are reported on the calling
    /// thread.
    public func load(_ requests: [PartitionQuery]) {
        guard !requests.isEmpty else { return }
        let now = Now.read().monotonic
        let isTaken = loads.change { queue in
            guard queue.takes(requests.count) else { return false }
            queue.requests += requests.map { ($0, now) }
            return true
        }
        if !isTaken {
            report(requests.map { StoreReport(partition: $0.partition, .loaded(.failed($0.query))) })
        }
    }

    /// Runs a job on the querying thread, for callers that must not wait for the disk. Returns whether it is taken: not if too many
    /// queries are waiting, or during shutdown.
    func perform(_ job: @escaping QueryQueue.Job) -> Bool {
        loads.change { queue in
            guard queue.takes(1) else { return false }
            queue.jobs.append(job)
            return true
        }
    }

    /// Completes all submitted batches and queries, then closes the store. Returns the error, if any.
    @discardableResult
    public func stop() -> StoreError? {
        commits.change { $0.isStopping = true }
        loads.change { $0.isStopping = true }
        scrubber.stop()
        let ending = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in ending { thread.join() }
        do throws(StoreError) {
            try store.close()
            return lastFailure
        } catch { return error }
    }

    // MARK: Committing

    private func runCommits() {
        var synced = SyncTimes()
        while true {
            let entries = commits.wait { $0.next() }
            guard !entries.isEmpty else { return }
            var listeners = entries.map(\.listener)
            let batches = entries.map(\.batch)
            let isConfirmed = entries.contains { $0.isConfirmed }
            _ = consume entries
            var outcomes = commit(batches, of: listeners, isConfirmed: isConfirmed, &synced)
            if outcomes.contains(where: \.hasFailed) { commits.change { $0.fail(&listeners, &outcomes) } }
            // Releases our references before the reports, so that each partition frees its objects on its own thread.
            _ = consume batches
            metrics.add(-listeners.count, to: .storeWaitingWrites)
            notify(listeners, outcomes)
        }
    }

    /// Commits batches. `synced` has the syncs up to the last commit.
    private func commit(
        _ batches: [WriteBatch], of listeners: [CommitQueue.Listener], isConfirmed: Bool,
        _ synced: inout SyncTimes
    ) -> [CommitOutcome] {
        let start = Now.read().monotonic.nanoseconds
        do throws(StoreError) {
            let outcomes = try write(batches)
            observeCommit(since: start, &synced)
            metrics.add(batches.count, to: .storeWrites)
            if !isHealthy { recovered() }
            return outcomes
        } catch {
            // An unreadable or occupied key fails only its own batch and the later ones of its partition, so each batch is retried
            // separately.
            if error.kind.isOfOneBatch, batches.count > 1 {
                var failed: Set<Int> = []
                return zip(batches, listeners).flatMap { batch, listener -> [CommitOutcome] in
                    if let partition = listener.partition, failed.contains(partition) {
                        return [.failed(batch.batchNumber)]
                    }
                    let outcomes = commit([batch], of: [listener], isConfirmed: isConfirmed, &synced)
                    if let partition = listener.partition, outcomes.contains(where: \.hasFailed) {
                        failed.insert(partition)
                    }
                    return outcomes
                }
            }
            recordFailure(error)
            // A batch that collides or breaks an invariant does so on every node.
            if isConfirmed, error.kind != .occupied, error.kind != .invariant { Self.endProcess(error, log) }
            return batches.map { .failed($0.batchNumber) }
        }
    }

    /// Measures a commit and its syncs.
    private func observeCommit(since start: Int64, _ synced: inout SyncTimes) {
        let nanoseconds = Now.read().monotonic.nanoseconds - start
        metrics.observe(microseconds: Int(nanoseconds / 1_000), in: .storeCommitTimes)
        let times = store.syncTimes
        let count = times.count - synced.count
        if count > 0 {
            metrics.observe(
                microseconds: (times.nanoseconds - synced.nanoseconds) / 1_000 / count, in: .storeSyncTimes,
                count: count)
        }
        synced = times
    }

    /// Writes batches, together with a new sequence mark if they pass the current one.
    private func write(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        guard let lease, let mark = lease.mark(for: batches) else { return try store.commit(batches) }
        let first = WriteBatch(batchNumber: 0, mutations: [.putMark(.sequence, mark)], isDurable: false)
        let outcomes = try store.commit([first] + batches)
        lease.written(mark)
        return Array(outcomes.dropFirst())
    }

    /// Counts and logs a broken invariant.
    private func recordInvariant(_ error: StoreError) {
        metrics.add(1, to: .invariantFailures, 1)
        log.repeating(
            .error, "invariant_broken", by: error.description,
            ["problem": .text(error.description), "owner": .text(error.owner)])
    }

    private func recordFailure(_ error: StoreError) {
        if error.kind.isInvariant { recordInvariant(error) }
        metrics.add(1, to: .storeFailures)
        log.repeating(
            .error, "store_failed", by: error.kind.rawValue,
            ["kind": .text(error.kind.rawValue), "problem": .text(error.description)])
        // An error of one batch does not make the store as a whole unhealthy.
        guard !error.kind.isOfOneBatch else { return }
        failure.withLock { $0 = error }
        failing.store(true, ordering: .relaxed)
        metrics.set(.storeHealthy, to: 0)
        let pause = Now.read().monotonic.advanced(milliseconds: Int64(Limits.Store.retryMilliseconds))
        let isAdded = commits.change { queue in
            queue.pausedUntil = pause
            return queue.ensureNext()
        }
        if isAdded { metrics.add(1, to: .storeWaitingWrites) }
    }

    private func recovered() {
        failure.withLock { $0 = nil }
        failing.store(false, ordering: .relaxed)
        metrics.set(.storeHealthy, to: 1)
        // A disk that is nearly full may fail and recover many times a second.
        log.repeating(.notice, "store_recovered")
    }

    private func notify(_ listeners: [CommitQueue.Listener], _ outcomes: [CommitOutcome]) {
        var reports: [StoreReport] = []
        var positions: [AppliedReport] = []
        reports.reserveCapacity(outcomes.count)
        for (listener, outcome) in zip(listeners, outcomes) {
            switch listener {
            case .partition(let partition):
                reports.append(StoreReport(partition: partition, .committed(outcome)))
            case .caller(let completed): completed(outcome)
            case .log(let batch):
                if batch.isOwn {
                    reports.append(StoreReport(partition: batch.partition, .committed(outcome)))
                }
                batch.completed?(outcome)
                if let position = batch.completes {
                    positions.append(AppliedReport(partition: batch.partition, position: position))
                }
            }
        }
        if !positions.isEmpty { applied(positions) }
        if !reports.isEmpty { report(reports) }
    }

    // MARK: Querying

    private func runQueries() {
        var measuresAt = Self.nextMeasurement
        var reclaimsAt = Instant.distantPast
        var census = CensusState()
        while true {
            let work = loads.wait { (queue) -> Monitor<QueryQueue>.Step<QueryQueue?> in
                if queue.requests.isEmpty, queue.jobs.isEmpty {
                    if queue.isStopping { return .done(nil) }
                    if Now.read().monotonic < measuresAt { return .wait(until: measuresAt) }
                }
                defer { (queue.requests, queue.jobs) = ([], []) }
                return .done(queue)
            }
            guard let work else { return }
            for job in work.jobs { job(store) }
            let requests = work.requests
            for begin in stride(from: 0, to: requests.count, by: Limits.Store.queriesPerBatch) {
                let round = requests[begin..<min(begin + Limits.Store.queriesPerBatch, requests.count)]
                var reports: [StoreReport] = []
                reports.reserveCapacity(round.count)
                for (entry, result) in zip(round, store.load(round.map(\.request.query))) {
                    let answer = answer(entry.request.query, result)
                    reports.append(StoreReport(partition: entry.request.partition, .loaded(answer)))
                }
                let end = Now.read().monotonic.nanoseconds
                for entry in round {
                    metrics.observe(
                        microseconds: Int((end - entry.start.nanoseconds) / 1_000), in: .storeQueryTimes,
                        entry.request.query.metricPosition)
                }
                report(reports)
            }
            // Checked after each round, so that a steady flow of queries does not prevent it.
            if Now.read().monotonic >= measuresAt {
                measure(&census)
                measuresAt = Self.nextMeasurement
                if registry.isFull, measuresAt >= reclaimsAt {
                    reclaimRegistry()
                    reclaimsAt = measuresAt.advanced(seconds: Limits.Registry.reclaimSeconds)
                }
            }
        }
    }

    private static var nextMeasurement: Instant {
        Now.read().monotonic.advanced(seconds: Limits.Registry.measureSeconds)
    }

    /// Measures the registry and the store, and continues the count of devices; after a failure the last figures remain.
    private func measure(_ census: inout CensusState) {
        do throws(StoreError) {
            registry.record(try store.registryBytes(), log)
            let figures = try store.figures()
            metrics.set(.messagesWaiting, to: figures.waitingDownstream, 0)
            metrics.set(.messagesWaiting, to: figures.waitingUpstream, 1)
            metrics.set(.storeBytes, to: figures.bytes)
            metrics.set(.journalBytes, to: figures.journalBytes)
            metrics.set(.storeSkippedRecords, to: figures.skippedRecords)
            let part = try store.census(after: census.after, examine: Limits.Registry.censusRows)
            if let total = census.add(part) {
                metrics.set(.devices, to: total.devices)
                metrics.set(.registrations, to: total.registrations)
            }
        } catch { recordFailedRead(error) }
        measured()
    }

    /// Reclaims the space of removed rows, which the engine otherwise frees only when it compacts for speed.
    private func reclaimRegistry() {
        do throws(StoreError) { try store.reclaimRegistry() } catch { recordFailedRead(error) }
    }

    private func answer(_ load: StoreQuery, _ result: Result<StoreResult, StoreError>) -> StoreResult {
        do throws(StoreError) {
            return try result.get()
        } catch {
            recordFailedRead(error)
            return .failed(load, isDamage: !error.table.isEmpty)
        }
    }

    private func recordFailedRead(_ error: StoreError) {
        if error.kind.isInvariant { recordInvariant(error) }
        Self.record(failedRead: error, metrics, log)
    }
}
