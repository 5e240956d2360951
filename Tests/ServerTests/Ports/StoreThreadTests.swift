import Basics
import BasicsSupport
import Delivery
import Store
import Synchronization
import Testing

@testable import Server

/// The threads of the store: grouping, order, failure, limits, end.
@Suite struct StoreThreadTests {
    /// Keeps what was reported, call by call.
    private final class Ear: Sendable {
        let calls = Mutex<[[StoreReport]]>([])

        func hear(_ reports: [StoreReport]) { calls.withLock { $0.append(reports) } }

        /// Outcomes of one partition, in order.
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
    private let ear = Ear()
    private let metrics = MetricShard()

    private func start() throws -> StoreThread {
        let ear = ear
        return try StoreThread(store: store, metrics: metrics, log: .silent) { ear.hear($0) }
    }

    private func batch(_ ticket: UInt64, durable: Bool = true, writes: Int = 1) -> WriteBatch {
        WriteBatch(
            ticket: ticket, mutations: Array(repeating: .removeSender(SenderID(ticket)), count: writes),
            isDurable: durable)
    }

    @Test("What arrives while a commit runs shares the next one, in order, one call for all partitions")
    func groups() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        for ticket in 2...21 as ClosedRange<UInt64> {
            thread.submit(batch(ticket), partition: Int(ticket % 2))
        }
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(store.commits.map { $0.map(\.ticket) } == [[1], Array(2...21)])
        #expect(ear.outcomes(0).map(\.ticket) == [1] + stride(from: 2, through: 20, by: 2))
        #expect(ear.outcomes(1).map(\.ticket) == Array(stride(from: 3, through: 21, by: 2)))
        #expect(ear.calls.withLock { $0.map(\.count) } == [1, 20])
        #expect(metrics.value(.storeCommits) == 2 && metrics.value(.storeWrites) == 21)
        #expect(metrics.value(.storeWaitingWrites) == 0)
        #expect(store.isClosed)
    }

    @Test("Lazy batches ride with the next durable one, or go alone before long")
    func lazyWait() throws {
        let thread = try start()
        thread.submit(batch(1, durable: false), partition: 0)
        thread.submit(batch(2, durable: false), partition: 0)
        thread.submit(batch(3), partition: 0)
        ear.waitForOutcomes(3, 0)
        thread.submit(batch(4, durable: false), partition: 0)
        ear.waitForOutcomes(4, 0)
        // A slow machine may have let the first wait run out; order and completeness hold all the same.
        #expect(store.commits.flatMap { $0 }.map(\.ticket) == [1, 2, 3, 4])
        #expect(store.commits.last?.map(\.ticket) == [4])
        #expect(thread.stop() == nil)
    }

    @Test("A failed commit fails its batches, shows, and is forgotten when the next succeeds")
    func failure() throws {
        let thread = try start()
        store.failNext(Array(repeating: StoreError(.full, "no room"), count: 10_000))
        thread.submit(batch(1), partition: 0)
        ear.waitForOutcomes(1, 0)
        #expect(!thread.isHealthy)
        #expect(thread.lastFailure?.kind == .full)
        store.failNext([])
        thread.submit(batch(2), partition: 0)
        ear.waitForOutcomes(2, 0)
        #expect(thread.isHealthy && thread.lastFailure == nil)
        #expect(ear.outcomes(0).map(\.hasFailed) == [true, false])
        #expect(thread.stop() == nil)
    }

    @Test("After a failure the store is tried again though nobody writes, and is well before anybody does")
    func recoversAlone() throws {
        let thread = try start()
        store.failNext([StoreError(.full, "no room"), StoreError(.inputOutput, "broken")])
        thread.submit(batch(1), partition: 0)
        ear.waitForOutcomes(1, 0)
        while !thread.isHealthy {}
        #expect(store.commits.map { $0.map(\.mutations.count) } == [[1], [0], [0]])
        #expect(
            ear.outcomes(0) == [CommitOutcome(ticket: 1, hasFailed: true)], "nobody hears of the attempts")
        #expect(metrics.value(.storeWaitingWrites) == 0)
        // A store that never gets well does not keep the end waiting.
        store.failNext(Array(repeating: StoreError(.full, "no room"), count: 10_000))
        thread.submit(batch(2), partition: 0)
        ear.waitForOutcomes(2, 0)
        #expect(thread.stop()?.kind == .full)
    }

    @Test("An unreadable place fails only the batch that needs it")
    func corruptAlone() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        let broken = StoreError(.corrupt, "pending/1/2")
        for ticket in 2...4 as ClosedRange<UInt64> { thread.submit(batch(ticket), partition: 0) }
        // The first stands at the gate; then the commit of all three fails, then the second of the single ones.
        store.failNext([nil, broken, nil, broken])
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(ear.outcomes(0).map(\.hasFailed) == [false, false, true, false])
        #expect(thread.isHealthy)
    }

    @Test("Beyond the limit a batch comes back at once, failed")
    func limit() throws {
        let thread = try start()
        store.shut()
        thread.submit(batch(1), partition: 0)
        store.waitForCommitAtGate()
        thread.submit(batch(2, writes: Limits.Store.waitingWrites), partition: 1)
        thread.submit(batch(3), partition: 1)
        #expect(ear.outcomes(1) == [CommitOutcome(ticket: 3, hasFailed: true)])
        store.unlock()
        ear.waitForOutcomes(2, 1)
        thread.submit(batch(4), partition: 1)
        ear.waitForOutcomes(3, 1)
        #expect(ear.outcomes(1).map(\.hasFailed) == [true, false, false])
        #expect(thread.stop() == nil)
        thread.submit(batch(5), partition: 1)
        #expect(ear.outcomes(1).last == CommitOutcome(ticket: 5, hasFailed: true))
    }

    @Test("The batches of a turn are handed over at once, and of those only what is too much comes back")
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
        #expect(ear.outcomes(4) == [CommitOutcome(ticket: 3, hasFailed: true)])
        #expect(metrics.value(.storeWaitingWrites) == 3 && metrics.value(.storeFailures) == 1)
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(store.commits.map { $0.map(\.ticket) } == [[1], [2, 4]])
        #expect(
            ear.outcomes(3) == [CommitOutcome(ticket: 2)] && ear.outcomes(5) == [CommitOutcome(ticket: 4)])
        thread.load([])
        thread.load([
            PartitionLoad(partition: 7, .device(DeviceID(1))),
            PartitionLoad(partition: 2, .device(DeviceID(2))),
        ])
        #expect(
            ear.calls.withLock { $0.last?.map(\.partition) } == [7, 2], "failed at the end, each to its own")
    }

    @Test("A question sees what was told to be committed; answers keep their order")
    func loads() throws {
        let thread = try start()
        let device = DeviceRecord(
            device: DeviceID(5), token: SecretDigest(octets: [UInt8](repeating: 1, count: 32)), createdAt: 1,
            seenAt: 1, nextRegistration: 1)
        thread.submit(WriteBatch(ticket: 1, mutations: [.putDevice(device)], isDurable: true), partition: 0)
        ear.waitForOutcomes(1, 0)
        thread.load([.device(DeviceID(5)), .device(DeviceID(6))], partition: 0)
        thread.load([.device(DeviceID(7))], partition: 0)
        thread.load([], partition: 0)
        #expect(thread.stop() == nil)
        thread.load([.device(DeviceID(8))], partition: 0)
        var states: [(UInt64, Bool)] = []
        var failed: [Load] = []
        for event in ear.calls.withLock({ $0.joined().map(\.event) }) {
            if case .partition(.loaded(.device(let state))) = event {
                states.append((state.device.number, state.record != nil))
            }
            if case .partition(.loaded(.failed(let load))) = event { failed.append(load) }
        }
        #expect(states.map(\.0) == [5, 6, 7])
        #expect(states.map(\.1) == [true, false, false])
        #expect(failed == [.device(DeviceID(8))])
    }

    @Test("Somebody who waits for one batch hears of just that one")
    func caller() throws {
        let thread = try start()
        let heard = Mutex<[CommitOutcome]>([])
        thread.submit(batch(9)) { outcome in heard.withLock { $0.append(outcome) } }
        #expect(thread.stop() == nil)
        #expect(heard.withLock { $0 } == [CommitOutcome(ticket: 9)])
        #expect(ear.calls.withLock { $0.isEmpty })
    }

    @Test("The canary: an outcome out of order is noticed")
    func canary() throws {
        ear.hear([2, 1].map { StoreReport(partition: 0, .committed(CommitOutcome(ticket: $0))) })
        #expect(ear.outcomes(0).map(\.ticket) != [1, 2])
    }
}
