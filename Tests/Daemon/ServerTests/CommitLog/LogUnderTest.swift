import Basics
import Delivery
import Store
import StoreSupport
import Synchronization

@testable import Server

/// A commit log with what the contract needs besides: the outcomes that it has reported, its store, and faults.
protocol LogUnderTest: AnyObject {
    var log: any CommitLog { get }
    /// Where the outcomes arrive.
    var outcomes: OutcomeJournal { get }
    /// The count of failures with which a partition begins.
    func failures(of partition: Int) -> UInt64
    /// Takes in outcomes that wait.
    func collect()
    /// From now on, nothing can be written.
    func fail()
    /// Returns once everything can be written again.
    func mend()
    /// Ends the log: nothing is written any more.
    func close()
}

extension LogUnderTest {
    func failures(of partition: Int) -> UInt64 { 0 }

    /// The count of failures that a partition has when it has seen all outcomes.
    func failuresSeen(by partition: Int) -> UInt64 {
        max(
            failures(of: partition),
            outcomes.outcomes(of: partition).compactMap(\.outcome.failures).max() ?? 0)
    }
}

/// What a commit log has reported, and whether the store showed it at that moment.
final class OutcomeJournal: Sendable {
    struct Entry: Sendable {
        var partition: Int
        var outcome: CommitOutcome
        /// Whether the device of the batch was in the store.
        var isVisible: Bool
    }

    private let store: any Store
    private let entries = Mutex<[Entry]>([])

    init(_ store: any Store) { self.store = store }

    var all: [Entry] { entries.withLock { $0 } }

    /// The outcomes of a partition, in the order of their reports.
    func outcomes(of partition: Int) -> [Entry] { all.filter { $0.partition == partition } }

    /// The record of a device as queries see it.
    func record(of device: DeviceID) -> DeviceRecord? {
        let before = DeviceID(device.number - 1)
        return (try? store.devices(after: before, limit: 1))?.first { $0.device == device }
    }

    /// The senders as queries see them.
    var senders: [SenderID] { ((try? store.senders()) ?? []).map(\.sender) }

    /// Takes reports in.
    func add(_ reports: [StoreReport]) {
        for report in reports {
            guard case .partition(.committed(let outcome)) = report.event else { continue }
            let device = Self.device(of: outcome.batchNumber, in: report.partition)
            let entry = Entry(
                partition: report.partition, outcome: outcome, isVisible: record(of: device) != nil)
            entries.withLock { $0.append(entry) }
        }
    }

    /// How many partitions there are in the tests.
    static let partitions = 2

    /// The device that a batch of the tests puts.
    static func device(of batch: UInt64, in partition: Int) -> DeviceID {
        devices[partition][Int(batch)]
    }

    private static let devices = (0..<partitions).map { partition in
        let all = (1...40_000 as ClosedRange<UInt64>).lazy.map { DeviceID($0) }
        return Array(
            all.filter { PartitionKey.device($0).partition(of: partitions) == partition }.prefix(4_000))
    }
}
