public import Basics
public import Delivery
public import Store
import Synchronization
public import Transport

/// The store's two threads: one commits the batches of all partitions, the other one runs their queries.
///
/// Group commit: one commit with one sync covers all batches that arrived during the previous one. Outcomes and results are
/// reported in the order of submission, on these threads, in one call per round. A query sees every batch whose outcome was
/// reported before the query was submitted. The querying thread also measures the registry every few seconds.
public final class StoreThread: Sendable {
    /// Gets the reports of a round, in order per partition.
    public typealias Report = @Sendable ([StoreReport]) -> Void

    private struct LoadQueue {
        var questions: [PartitionLoad] = []
        var isStopping = false
    }

    private let store: any Store
    private let metrics: MetricShard
    private let log: Log
    private let report: Report
    private let lease: SequenceLease?
    /// The size and the limit of the registry.
    public let registry: RegistryRoom
    private let commits = Monitor(CommitQueue())
    private let loads = Monitor(LoadQueue())
    private let failing = Atomic<Bool>(false)
    private let failure = Mutex<StoreError?>(nil)
    private let threads = Mutex<[Transport.Thread]>([])

    /// Starts the threads of a store; from then on all commits must go through this object. Throws if a thread cannot be created.
    ///
    /// With a lease, commits keep its mark above the stored sequences. The registry is measured before this returns.
    public init(
        store: any Store, metrics: MetricShard, log: Log, lease: SequenceLease? = nil,
        registry: RegistryRoom = RegistryRoom(limit: 0), report: @escaping Report
    ) throws(TransportError) {
        self.lease = lease
        self.registry = registry
        self.store = store
        self.metrics = metrics
        self.log = log
        self.report = report
        measureRegistry()
        let committing = try Transport.Thread(name: "ccsd-commit") { [self] in commitAll() }
        threads.withLock { $0.append(committing) }
        let answering = try Transport.Thread(name: "ccsd-load") { [self] in answerAll() }
        threads.withLock { $0.append(answering) }
    }

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
            batches.map { submitted in
                var batch = submitted.batch
                batch.partition = submitted.partition
                return CommitQueue.Entry(batch: batch, listener: .partition(submitted.partition))
            })
    }

    /// Submits a batch of the control plane; `completed` is called on the store's thread.
    public func submit(_ batch: WriteBatch, completed: @escaping @Sendable (CommitOutcome) -> Void) {
        submit([CommitQueue.Entry(batch: batch, listener: .caller(completed))])
    }

    private func submit(_ entries: [CommitQueue.Entry]) {
        let refused = commits.change { queue in entries.filter { !queue.add($0) } }
        if refused.count < entries.count {
            metrics.add(entries.count - refused.count, to: .storeWaitingWrites)
        }
        guard !refused.isEmpty else { return }
        metrics.add(refused.count, to: .storeFailures)
        tell(
            refused.map(\.listener),
            refused.map { CommitOutcome(ticket: $0.batch.ticket, hasFailed: true) })
    }

    /// Writes changes durably and waits for the outcome. Returns `nil` after the deadline. For the control plane only.
    func commitAndWait(_ mutations: [Mutation]) -> CommitOutcome? {
        let latch = Latch<CommitOutcome>()
        submit(WriteBatch(ticket: 0, mutations: mutations, isDurable: true)) { latch.fulfil($0) }
        return latch.wait()
    }

    /// Submits the queries of one reactor's partitions.
    ///
    /// If too many queries are waiting, or during shutdown, they fail at once, and the failures are reported on the calling
    /// thread.
    public func load(_ questions: [PartitionLoad]) {
        guard !questions.isEmpty else { return }
        let isTaken = loads.change { queue in
            guard !queue.isStopping, queue.questions.count + questions.count <= Limits.Store.waitingLoads
            else { return false }
            queue.questions += questions
            return true
        }
        if !isTaken {
            report(questions.map { StoreReport(partition: $0.partition, .loaded(.failed($0.load))) })
        }
    }

    /// Completes all submitted batches and queries, then closes the store. Returns the error, if any.
    @discardableResult
    public func stop() -> StoreError? {
        commits.change { $0.isStopping = true }
        loads.change { $0.isStopping = true }
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

    private func commitAll() {
        while true {
            let entries = commits.wait { $0.next() }
            guard !entries.isEmpty else { return }
            let listeners = entries.map(\.listener)
            let batches = entries.map(\.batch)
            _ = consume entries
            let outcomes = commit(batches)
            // Releases our references before the reports, so that each partition frees its objects on its own thread.
            _ = consume batches
            metrics.add(-listeners.count, to: .storeWaitingWrites)
            tell(listeners, outcomes)
        }
    }

    private func commit(_ batches: [WriteBatch]) -> [CommitOutcome] {
        let start = Now.read().monotonic.nanoseconds
        do throws(StoreError) {
            let outcomes = try write(batches)
            metrics.add(Int((Now.read().monotonic.nanoseconds - start) / 1_000), to: .storeCommitMicroseconds)
            metrics.add(1, to: .storeCommits)
            metrics.add(batches.count, to: .storeWrites)
            if !isHealthy { recovered() }
            return outcomes
        } catch {
            // An unreadable or occupied key fails only its own batch, so each batch is retried separately.
            if error.kind.isOfOneBatch, batches.count > 1 { return batches.flatMap { commit([$0]) } }
            note(error)
            return batches.map { CommitOutcome(ticket: $0.ticket, hasFailed: true) }
        }
    }

    /// Writes batches, together with a new sequence mark if they pass the current one.
    private func write(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
        guard let lease, let mark = lease.mark(for: batches) else { return try store.commit(batches) }
        let first = WriteBatch(ticket: 0, mutations: [.putMark(.sequence, mark)], isDurable: false)
        let outcomes = try store.commit([first] + batches)
        lease.written(mark)
        return Array(outcomes.dropFirst())
    }

    /// Counts and logs a broken invariant.
    private func noteInvariant(_ error: StoreError) {
        metrics.add(1, to: .invariantFailures, 1)
        log.repeating(
            .error, "invariant_broken", by: error.description,
            ["problem": .text(error.description), "owner": .text(error.owner)])
    }

    private func note(_ error: StoreError) {
        if error.kind.isInvariant { noteInvariant(error) }
        metrics.add(1, to: .storeFailures)
        log.repeating(
            .error, "store_failed", by: error.kind.rawValue,
            ["kind": .text(error.kind.rawValue), "problem": .text(error.description)])
        // An error of one batch does not make the store as a whole unhealthy.
        guard !error.kind.isOfOneBatch else { return }
        failure.withLock { $0 = error }
        failing.store(true, ordering: .relaxed)
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
        // A disk that is nearly full may fail and recover many times a second.
        log.repeating(.notice, "store_recovered")
    }

    private func tell(_ listeners: [CommitQueue.Listener], _ outcomes: [CommitOutcome]) {
        var reports: [StoreReport] = []
        reports.reserveCapacity(outcomes.count)
        for (listener, outcome) in zip(listeners, outcomes) {
            switch listener {
            case .partition(let partition):
                reports.append(StoreReport(partition: partition, .committed(outcome)))
            case .caller(let completed): completed(outcome)
            }
        }
        if !reports.isEmpty { report(reports) }
    }

    // MARK: Querying

    private func answerAll() {
        var measuresAt = Self.nextMeasurement
        var reclaimsAt = Instant.distantPast
        while true {
            let questions = loads.wait { (queue) -> Monitor<LoadQueue>.Step<[PartitionLoad]?> in
                if queue.questions.isEmpty {
                    if queue.isStopping { return .done(nil) }
                    if Now.read().monotonic < measuresAt { return .wait(until: measuresAt) }
                }
                defer { queue.questions = [] }
                return .done(queue.questions)
            }
            guard let questions else { return }
            for begin in stride(from: 0, to: questions.count, by: Limits.Store.loadsPerRound) {
                let round = questions[begin..<min(begin + Limits.Store.loadsPerRound, questions.count)]
                var reports: [StoreReport] = []
                reports.reserveCapacity(round.count)
                for (question, result) in zip(round, store.load(round.map(\.load))) {
                    let answer = answer(question.load, result)
                    reports.append(StoreReport(partition: question.partition, .loaded(answer)))
                }
                report(reports)
            }
            // Checked after each round, so that a steady flow of queries does not prevent it.
            if Now.read().monotonic >= measuresAt {
                measureRegistry()
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

    /// Measures the registry; after a failure the last size remains.
    private func measureRegistry() {
        do throws(StoreError) {
            registry.note(try store.registryBytes(), log)
        } catch { noteFailedRead(error) }
    }

    /// Reclaims the space of removed rows, which the engine otherwise frees only when it compacts for speed.
    private func reclaimRegistry() {
        do throws(StoreError) { try store.reclaimRegistry() } catch { noteFailedRead(error) }
    }

    private func answer(_ load: Load, _ result: Result<Loaded, StoreError>) -> Loaded {
        do throws(StoreError) {
            return try result.get()
        } catch {
            noteFailedRead(error)
            return .failed(load)
        }
    }

    private func noteFailedRead(_ error: StoreError) {
        if error.kind.isInvariant { noteInvariant(error) }
        metrics.add(1, to: .storeFailures)
        log.repeating(
            .error, "store_read_failed", by: error.kind.rawValue,
            ["kind": .text(error.kind.rawValue), "problem": .text(error.description)])
    }
}
