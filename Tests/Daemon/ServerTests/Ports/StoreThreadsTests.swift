import Basics
import BasicsSupport
import Delivery
import Store
import Synchronization
import Testing

@testable import Server

/// The threads of the store: grouping, order, failures, limits and shutdown.
@Suite struct StoreThreadsTests {
    /// Collects the reports, call by call.
    private final class ReportCollector: Sendable {
        let calls = Mutex<[[StoreReport]]>([])

        func collect(_ reports: [StoreReport]) { calls.withLock { $0.append(reports) } }

        /// The outcomes of one partition, in order.
        func outcomes(_ partition: Int) -> [CommitOutcome] {
            calls.withLock { calls in
                calls.joined().filter { $0.partition == partition }.compactMap {
                    if case .partition(.committed(let outcome)) = $0.event { outcome } else { nil }
                }
            }
        }

        func waitForOutcomes(_ count: Int, _ partition: Int) {
            while outcomes(partition).count < count {}
        }
    }

    private let store = GatedStore()
    private let collector = ReportCollector()
    private let metrics = MetricShard()

    private func start() throws -> StoreThreads {
        let collector = collector
        return try StoreThreads(store: store, metrics: metrics, log: .silent) { collector.collect($0) }
    }

    private func batch(
        _ batchNumber: UInt64, durable: Bool = true, writes: Int = 1, after failures: UInt64 = 0
    ) -> WriteBatch {
        WriteBatch(
            batchNumber: batchNumber,
            mutations: Array(repeating: .removeSender(SenderID(batchNumber)), count: writes),
            isDurable: durable, failuresSeen: failures)
    }

    @Test(
        "batches that arrive during a commit share the next one, in order, with one report for all partitions"
    )
    func groups() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        for batchNumber in 2...21 as ClosedRange<UInt64> {
            thread.submit(batch(batchNumber), partition: Int(batchNumber % 2))
        }
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(store.commits.map { $0.map(\.batchNumber) } == [[1], Array(2...21)])
        #expect(collector.outcomes(0).map(\.batchNumber) == [1] + stride(from: 2, through: 20, by: 2))
        #expect(collector.outcomes(1).map(\.batchNumber) == Array(stride(from: 3, through: 21, by: 2)))
        #expect(collector.calls.withLock { $0.map(\.count) } == [1, 20])
        #expect(metrics.count(of: .storeCommitTimes) == 2 && metrics.value(.storeWrites) == 21)
        #expect(metrics.value(.storeWaitingWrites) == 0)
        #expect(store.isClosed)
    }

    @Test("lazy batches are committed with the next durable one, or alone after a short time")
    func lazyWait() throws {
        let thread = try start()
        thread.submit(batch(1, durable: false), partition: 0)
        thread.submit(batch(2, durable: false), partition: 0)
        thread.submit(batch(3), partition: 0)
        collector.waitForOutcomes(3, 0)
        thread.submit(batch(4, durable: false), partition: 0)
        collector.waitForOutcomes(4, 0)
        // On a slow machine the first wait may time out; order and completeness are still guaranteed.
        #expect(store.commits.flatMap { $0 }.map(\.batchNumber) == [1, 2, 3, 4])
        #expect(store.commits.last?.map(\.batchNumber) == [4])
        #expect(thread.stop() == nil)
    }

    @Test("a failed commit fails its batches and makes the store unhealthy until the next one succeeds")
    func failure() throws {
        let thread = try start()
        store.failNext(Array(repeating: StoreError(.full, "no room"), count: 10_000))
        thread.submit(batch(1), partition: 0)
        collector.waitForOutcomes(1, 0)
        #expect(!thread.isHealthy)
        #expect(thread.lastFailure?.kind == .full)
        store.failNext([])
        thread.submit(batch(2, after: 1), partition: 0)
        collector.waitForOutcomes(2, 0)
        #expect(thread.isHealthy && thread.lastFailure == nil)
        #expect(collector.outcomes(0).map(\.hasFailed) == [true, false])
        #expect(thread.stop() == nil)
    }

    @Test("after a failure the store is retried without new writes, and becomes healthy by itself")
    func recoversAlone() throws {
        let thread = try start()
        store.failNext([StoreError(.full, "no room"), StoreError(.inputOutput, "broken")])
        thread.submit(batch(1), partition: 0)
        collector.waitForOutcomes(1, 0)
        while !thread.isHealthy {}
        #expect(store.commits.map { $0.map(\.mutations.count) } == [[1], [0], [0]])
        #expect(
            collector.outcomes(0) == [CommitOutcome(batchNumber: 1, hasFailed: true, failures: 1)],
            "the attempts are not reported")
        #expect(metrics.value(.storeWaitingWrites) == 0)
        // A store that does not recover does not block the shutdown.
        store.failNext(Array(repeating: StoreError(.full, "no room"), count: 10_000))
        thread.submit(batch(2, after: 1), partition: 0)
        collector.waitForOutcomes(2, 0)
        #expect(thread.stop()?.kind == .full)
    }

    @Test("after a failed commit, the waiting batches of its partitions fail, and others until that is seen")
    func order() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        store.failNext([StoreError(.full, "no room")])
        thread.submit(batch(2), partition: 0)
        thread.submit(batch(1), partition: 1)
        thread.submit(batch(3, durable: false), partition: 0)
        store.unlock()
        collector.waitForOutcomes(3, 0)
        collector.waitForOutcomes(1, 1)
        thread.submit(batch(4), partition: 0)
        #expect(collector.outcomes(0).map(\.failures) == [1, nil, nil, nil], "it is refused at once")
        thread.submit(batch(5, after: 1), partition: 0)
        collector.waitForOutcomes(5, 0)
        #expect(collector.outcomes(0).map(\.hasFailed) == [true, true, true, true, false])
        #expect(collector.outcomes(1) == [CommitOutcome(batchNumber: 1)])
        #expect(thread.stop() == nil)
        #expect(store.commits.joined().filter { !$0.mutations.isEmpty }.map(\.batchNumber) == [1, 1, 5])
        #expect(metrics.value(.storeWaitingWrites) == 0)
    }

    @Test("an unreadable key fails the batch that needs it, and the later ones of its partition")
    func corruptAlone() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        let broken = StoreError(.corrupt, "pending/1/2")
        for batchNumber in 2...4 as ClosedRange<UInt64> { thread.submit(batch(batchNumber), partition: 0) }
        thread.submit(batch(5), partition: 1)
        // The first commit is at the gate; then the commit of all four fails, then the second single one.
        store.failNext([nil, broken, nil, broken])
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(collector.outcomes(0).map(\.hasFailed) == [false, false, true, true])
        #expect(collector.outcomes(1) == [CommitOutcome(batchNumber: 5)])
        #expect(thread.isHealthy)
    }

    @Test("a batch beyond the limit fails at once")
    func limit() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        thread.submit(batch(2, writes: Limits.Store.waitingWrites), partition: 1)
        thread.submit(batch(3), partition: 1)
        #expect(collector.outcomes(1) == [CommitOutcome(batchNumber: 3, hasFailed: true, failures: 1)])
        store.unlock()
        collector.waitForOutcomes(2, 1)
        thread.submit(batch(4, after: 1), partition: 1)
        collector.waitForOutcomes(3, 1)
        #expect(collector.outcomes(1).map(\.hasFailed) == [true, false, false])
        #expect(thread.stop() == nil)
        thread.submit(batch(5, after: 1), partition: 1)
        #expect(collector.outcomes(1).last == CommitOutcome(batchNumber: 5, hasFailed: true, failures: 2))
    }

    @Test("the batches of a turn are submitted together, and only those beyond the limit fail")
    func together() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        thread.submit([
            PartitionBatch(partition: 3, batch(2)),
            PartitionBatch(partition: 4, batch(3, writes: Limits.Store.waitingWrites)),
            PartitionBatch(partition: 5, batch(4)),
        ])
        thread.submit([])
        #expect(collector.outcomes(4) == [CommitOutcome(batchNumber: 3, hasFailed: true, failures: 1)])
        #expect(metrics.value(.storeWaitingWrites) == 3 && metrics.value(.storeFailures) == 1)
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(store.commits.map { $0.map(\.batchNumber) } == [[1], [2, 4]])
        #expect(
            collector.outcomes(3) == [CommitOutcome(batchNumber: 2)]
                && collector.outcomes(5) == [CommitOutcome(batchNumber: 4)])
        thread.load([])
        thread.load([
            PartitionQuery(partition: 7, .device(DeviceID(1))),
            PartitionQuery(partition: 2, .device(DeviceID(2))),
        ])
        #expect(
            collector.calls.withLock { $0.last?.map(\.partition) } == [7, 2],
            "failed during shutdown, each for its partition")
    }

    @Test("a query sees all reported commits, and results keep their order")
    func loads() throws {
        let thread = try start()
        let device = DeviceRecord(
            device: DeviceID(5), token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)), createdAt: 1,
            seenAt: 1, nextRegistration: 1)
        thread.submit(
            WriteBatch(batchNumber: 1, mutations: [.putDevice(device)], isDurable: true), partition: 0)
        collector.waitForOutcomes(1, 0)
        thread.load([.device(DeviceID(5)), .device(DeviceID(6))], partition: 0)
        thread.load([.device(DeviceID(7))], partition: 0)
        thread.load([], partition: 0)
        #expect(thread.stop() == nil)
        thread.load([.device(DeviceID(8))], partition: 0)
        var states: [(UInt64, Bool)] = []
        var failed: [StoreQuery] = []
        for event in collector.calls.withLock({ $0.joined().map(\.event) }) {
            if case .partition(.loaded(.device(let state))) = event {
                states.append((state.device.number, state.record != nil))
            }
            if case .partition(.loaded(.failed(let load, _))) = event { failed.append(load) }
        }
        #expect(states.map(\.0) == [5, 6, 7])
        #expect(states.map(\.1) == [true, false, false])
        #expect(failed == [.device(DeviceID(8))])
    }

    @Test("a caller that waits for one batch gets only its outcome")
    func caller() throws {
        let thread = try start()
        let reported = Mutex<[CommitOutcome]>([])
        thread.submit(batch(9)) { outcome in reported.withLock { $0.append(outcome) } }
        #expect(thread.stop() == nil)
        #expect(reported.withLock { $0 } == [CommitOutcome(batchNumber: 9)])
        #expect(collector.calls.withLock { $0.isEmpty })
    }

    @Test("canary: an outcome out of order is noticed")
    func canary() throws {
        collector.collect(
            [2, 1].map { StoreReport(partition: 0, .committed(CommitOutcome(batchNumber: $0))) })
        #expect(collector.outcomes(0).map(\.batchNumber) != [1, 2])
    }
}
