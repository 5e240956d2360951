import Basics
import Delivery
import Store
import StoreSupport
import Synchronization
import Testing

@testable import Server

/// What the store's threads do where the store finds a broken invariant.
@Suite struct StoreInvariantTests {
    /// A store whose commits fail while a batch with batchNumber 2 is among them, and whose loads of devices fail.
    private final class BrokenStore: Store {
        let kind: StoreError.Kind
        private let base = MemoryStore()
        var partitions: Int { base.partitions }

        init(_ kind: StoreError.Kind) { self.kind = kind }

        private func failure(_ problem: String, _ owner: String) -> StoreError {
            var error = StoreError(kind, problem)
            error.owner = owner
            return error
        }

        func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome] {
            if batches.contains(where: { $0.batchNumber == 2 }) { throw failure("planted", "device 5") }
            return try base.commit(batches)
        }

        func load(_ load: StoreQuery) throws(StoreError) -> StoreResult {
            if case .device(let device) = load { throw failure("unordered", "device \(device.number)") }
            return try base.load(load)
        }

        func figures() throws(StoreError) -> StoreFigures { try base.figures() }
        func census(after: DeviceID?, examine: Int) throws(StoreError) -> RegistryCensus {
            try base.census(after: after, examine: examine)
        }
        func senders() throws(StoreError) -> [SenderRecord] { try base.senders() }
        func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] { [] }
        func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord] { [] }
        func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation] { [] }
        func topics(from: SubscriberPosition?, examine: Int) throws(StoreError) -> TopicCounts {
            TopicCounts(counts: [], next: nil)
        }
        func subscribers(from: SubscriberPosition, limit: Int) throws(StoreError) -> [TokenName] { [] }
        func feedback(
            of sender: SenderID, after: FeedbackPosition, limit: Int
        ) throws(StoreError) -> [APNsFeedback] { [] }
        func setting(_ name: String) throws(StoreError) -> [UInt8]? { nil }
        func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError) {}
        func logProgress() throws(StoreError) -> [LogProgress?] { try base.logProgress() }
        func registryBytes() throws(StoreError) -> UInt64 { 0 }
        func audit() throws(StoreError) -> StoreAudit { try base.audit() }
        func close() throws(StoreError) {}
    }

    private let lines = Lines()
    private let metrics = MetricShard()

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        let failedLoads = Mutex<[StoreQuery]>([])
        var log: Log {
            Log(
                level: .info, format: .text, journal: false,
                clock: { Now(monotonic: Instant(nanoseconds: 0), wall: 1_700_000_000_000) },
                write: { line in self.all.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
        }
        func broken() -> [String] { all.withLock { $0.filter { $0.contains("invariant_broken") } } }
    }

    private func run(_ kind: StoreError.Kind) throws -> (outcomes: [CommitOutcome], isHealthy: Bool) {
        let outcomes = OutcomeList()
        let lines = lines
        let store = BrokenStore(kind)
        let thread = try StoreThreads(store: store, metrics: metrics, log: lines.log) { reports in
            outcomes.add(reports.map(\.event))
            for case .partition(.loaded(.failed(let load, _))) in reports.lazy.map(\.event) {
                lines.failedLoads.withLock { $0.append(load) }
            }
        }
        let batches = (1...3 as ClosedRange<UInt64>).map { batchNumber in
            WriteBatch(
                batchNumber: batchNumber, mutations: [.removeSender(SenderID(batchNumber))], isDurable: true)
        }
        thread.submit(batches.map { PartitionBatch(partition: Int($0.batchNumber), $0) })
        thread.load([PartitionQuery(partition: 0, .device(DeviceID(7)))])
        while outcomes.all.count < 3 {}
        let isHealthy = thread.isHealthy
        _ = thread.stop()
        return (outcomes.all.sorted { $0.batchNumber < $1.batchNumber }, isHealthy)
    }

    @Test("A batch that breaks an invariant fails alone, is logged and counted, and the store stays healthy")
    func batch() throws {
        let (outcomes, isHealthy) = try run(.invariant)
        #expect(outcomes.map(\.hasFailed) == [false, true, false] && isHealthy)
        #expect(metrics.value(.invariantFailures, 1) == 2, "the batch and the load")
        let broken = lines.broken()
        #expect(broken.count == 2)
        #expect(broken.contains { $0.contains("problem=planted") && $0.contains("device 5") }, "\(broken)")
        #expect(broken.contains { $0.contains("problem=unordered") && $0.contains("device 7") }, "\(broken)")
        #expect(lines.failedLoads.withLock { $0 } == [.device(DeviceID(7))])
    }

    @Test("A commit that breaks an invariant after it was written fails as a whole and is not tried again")
    func afterWrite() throws {
        let (outcomes, _) = try run(.inconsistent)
        #expect(outcomes.map(\.hasFailed) == [true, true, true])
        #expect(metrics.value(.invariantFailures, 1) == 2 && lines.broken().count == 2)
    }
}
