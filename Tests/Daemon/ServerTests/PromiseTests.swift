import Basics
import BasicsSupport
import Crypto
import Delivery
import Store
import Testing
import Transport

@testable import Server

/// The server keeps its promises across a second key rotation, a failed write and a shutdown.
@Suite struct PromiseTests {
    @Test("a key with an expiry keeps it when the next rotation has a longer overlap")
    func rotatedTwice() throws {
        let store = GatedStore()
        let thread = try StoreThreads(store: store, metrics: MetricShard(), log: .silent, report: { _ in })
        let senders = Senders(
            store: store, batches: thread, mailboxes: [], directory: SenderDirectory([]))
        let (sender, _) = try senders.add(nil, label: "", key: nil, now: 1)
        let first = try senders.rotateKey(sender, overlapSeconds: 10, key: nil, now: 2)
        let second = try senders.rotateKey(sender, overlapSeconds: 3_600, key: nil, now: 3)
        #expect(first.oldKeysExpireAt == 10_002 && second.oldKeysExpireAt == 3_600_003)
        #expect(senders.directory[sender]?.keys.map(\.expiresAt) == [10_002, 3_600_003, nil])
        // A shorter overlap brings the expiry forward.
        _ = try senders.rotateKey(sender, overlapSeconds: 5, key: nil, now: 4)
        #expect(senders.directory[sender]?.keys.map(\.expiresAt) == [5_004, 5_004, 5_004, nil])
        #expect(thread.stop() == nil)
    }

    @Test("writes beyond the size of one commit are written by the next one without further input")
    func leftBehind() {
        var queue = CommitQueue()
        let half = Limits.Store.writesPerCommit / 2 + 1
        for batchNumber in 1...3 as ClosedRange<UInt64> {
            let writes = Array(repeating: Mutation.removeSender(SenderID(batchNumber)), count: half)
            let batch = WriteBatch(batchNumber: batchNumber, mutations: writes, isDurable: false)
            let refusal = queue.add(CommitQueue.Entry(batch: batch, listener: .partition(0)))
            #expect(refusal == nil)
        }
        for batchNumber in 1...3 as ClosedRange<UInt64> {
            guard case .done(let entries) = queue.next() else {
                Issue.record("batch \(batchNumber) is still waiting")
                return
            }
            #expect(entries.map(\.batch.batchNumber) == [batchNumber])
        }
        #expect(queue.entries.isEmpty)
        guard case .wait(until: .distantFuture) = queue.next() else {
            Issue.record("an empty queue has a step")
            return
        }
        // Committed writes no longer count against the limit.
        let most = Array(repeating: Mutation.removeSender(SenderID(1)), count: Limits.Store.waitingWrites)
        let batch = WriteBatch(batchNumber: 4, mutations: most, isDurable: true)
        let refusal = queue.add(CommitQueue.Entry(batch: batch, listener: .partition(0)))
        #expect(refusal == nil)
    }

    @Test(
        "a batch that writes to an occupied key fails alone and is counted, and the store stays healthy")
    func occupied() throws {
        let store = GatedStore()
        let metrics = MetricShard()
        let outcomes = OutcomeList()
        let thread = try StoreThreads(store: store, metrics: metrics, log: .silent) { reports in
            outcomes.add(reports.map(\.event))
        }
        func message(_ body: UInt8) -> Mutation {
            .putMessage(
                StoredMessage(
                    device: DeviceID(5), sequence: SequenceNumber(1), salt: 1,
                    registration: RegistrationNumber(1),
                    sender: SenderID(42), messageID: [1], acceptedAt: 1, expiresAt: 9, body: [body]))
        }
        let partition = PartitionKey.device(DeviceID(5)).partition(of: store.partitions)
        store.shut()
        thread.submit(
            WriteBatch(batchNumber: 1, mutations: [message(1)], isDurable: true), partition: partition)
        store.waitForCommitAtGate()
        let mutations: [Mutation] = [.removeSender(SenderID(1)), message(1), message(2)]
        for (batchNumber, mutation) in zip(2...4 as ClosedRange<UInt64>, mutations) {
            let batch = WriteBatch(batchNumber: batchNumber, mutations: [mutation], isDurable: true)
            thread.submit(batch, partition: partition)
        }
        store.unlock()
        #expect(thread.stop() == nil)
        #expect(outcomes.all.map(\.hasFailed) == [false, false, false, true])
        #expect(thread.isHealthy && thread.lastFailure == nil)
        #expect(metrics.value(.storeFailures) == 1)
        #expect(try store.audit().downstream.accepted == 1)
    }

    @Test("a shutdown that starts during a drain keeps its state")
    func stoppingWhileDraining() {
        let drainer = Drainer(mailboxes: [], pace: Drainer.Pace(graceMilliseconds: 0, spreadMilliseconds: 0))
        var states: [ServiceState] = []
        _ = drainer.drainConnections(.appServers) { _, _ in
            states.append(drainer.state)
            drainer.enter(.stopping)
        }
        #expect(states == [.draining(holds: false)] && drainer.state == .stopping)
        drainer.enter(.serving)
        _ = drainer.drainConnections(.appServers) { _, _ in states.append(drainer.state) }
        #expect(
            states == [.draining(holds: false), .draining(holds: false)] && drainer.state == .serving,
            "canary")
    }

    @Test("the keys of session tickets are replaced once a day for every listener")
    func ticketKeys() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.dataDirectory = folder.path
        let certificates = try Certificates(configuration: configuration, log: .silent)
        let start = Now.read().monotonic
        let before = (certificates.holder.current, certificates.webHolder.current)
        certificates.check(configuration, now: start)
        #expect(certificates.holder.current === before.0 && certificates.webHolder.current === before.1)
        certificates.check(
            configuration, now: start.advanced(seconds: Limits.Certificate.ticketKeySeconds + 60))
        #expect(certificates.holder.current !== before.0 && certificates.webHolder.current !== before.1)
    }
}
