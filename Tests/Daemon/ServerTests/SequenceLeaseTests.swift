import Basics
import BasicsSupport
import Delivery
import Store
import StoreSupport
import Synchronization
import Testing

@testable import Server

/// The mark that keeps sequences increasing when the clock is set back between two runs.
@Suite("Sequence lease")
struct SequenceLeaseTests {
    private let start: UInt64 = 1_800_000_000_000_000
    private let lead = UInt64(Limits.Store.sequenceLeaseMilliseconds) * 1_000

    private func mark(_ store: MemoryStore) throws -> UInt64? {
        try store.setting(StoreMark.sequence.rawValue).map(StoreMark.number)
    }

    private func batch(_ sequence: UInt64) -> WriteBatch {
        let message = StoredMessage(
            device: DeviceID(1), sequence: SequenceNumber(sequence), salt: 1,
            registration: RegistrationNumber(1),
            sender: SenderID(1), messageID: [1], acceptedAt: 0, expiresAt: 1, body: [])
        return WriteBatch(batchNumber: 7, mutations: [.putMessage(message)], isDurable: true)
    }

    /// Simulates a process that stores messages with these sequences and is killed.
    private func run(_ store: any Store, _ sequences: [UInt64]) throws -> [CommitOutcome] {
        let outcomes = Outcomes()
        let thread = try StoreThreads(
            store: store, metrics: MetricShard(), log: .silent, lease: SequenceLease(store: store)
        ) { reports in outcomes.add(reports.map(\.event)) }
        let partition = PartitionKey.device(DeviceID(1)).partition(of: store.partitions)
        for sequence in sequences { thread.submit(batch(sequence), partition: partition) }
        _ = thread.stop()
        return outcomes.all.withLock { $0 }
    }

    private final class Outcomes: Sendable {
        let all = Mutex<[CommitOutcome]>([])

        func add(_ events: [Event]) {
            for case .partition(.committed(let outcome)) in events { all.withLock { $0.append(outcome) } }
        }
    }

    @Test("a first start has no watermark, and a process that stores nothing leaves no mark")
    func first() throws {
        let store = MemoryStore()
        #expect(try SequenceLease(store: store).watermark == 0)
        _ = try run(store, [])
        #expect(try mark(store) == nil)
    }

    @Test("a message is stored together with a mark above it, and only the message's outcome is reported")
    func covered() throws {
        let store = MemoryStore()
        #expect(try run(store, [start]).map(\.batchNumber) == [7])
        #expect(try mark(store) == start + lead)
        #expect(try SequenceLease(store: store).watermark >= start)
    }

    @Test("a process whose clock was set back starts above all stored sequences")
    func setBack() throws {
        let store = MemoryStore()
        _ = try run(store, [start, start + 3_600_000_000])
        _ = try run(store, [start - 86_400_000_000])
        #expect(try SequenceLease(store: store).watermark >= start + 3_600_000_000)
    }

    @Test("sequences after many restarts are ahead of the used ones by at most the lease")
    func restarts() throws {
        let store = MemoryStore()
        var clock = start
        for _ in 0..<500 {
            // As a partition does: the clock, or one above the watermark.
            let lease = try SequenceLease(store: store)
            _ = try run(store, [max(lease.watermark + 1, clock)])
            clock += 25_000
        }
        #expect(try #require(try mark(store)) <= clock + lead)
    }

    @Test(
        "the mark is written again only when sequences pass it, and is repeated after a failed write, never lower"
    )
    func seldom() throws {
        let store = MemoryStore()
        let lease = try SequenceLease(store: store)
        #expect(lease.mark(for: [batch(start)]) == start + lead)
        // The failed commit may still be on the disk.
        #expect(lease.mark(for: [batch(start - 5)]) == start + lead)
        lease.written(start + lead)
        #expect(lease.mark(for: [batch(start + 1), batch(start + lead)]) == nil)
        // A lower mark that is reported late has no effect.
        lease.written(start)
        #expect(lease.mark(for: [batch(start + lead)]) == nil)
        #expect(lease.mark(for: [batch(start + lead + 1)]) == start + 2 * lead + 1)
        #expect(lease.mark(for: [WriteBatch(batchNumber: 1, mutations: [], isDurable: true)]) == nil)
    }

    @Test("canary: without the mark there is no watermark")
    func canary() throws {
        #expect(try SequenceLease(store: MemoryStore()).watermark == 0)
    }
}
