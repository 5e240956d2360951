import Basics
import Delivery
import Synchronization
import Testing

@testable import Server

/// Logs that break the contract are found.
@Suite("CommitLog canaries")
struct CommitLogCanaryTests {
    /// A log over the local one that changes what is submitted.
    private final class BrokenLog: LogUnderTest, CommitLog, @unchecked Sendable {
        enum Fault { case none, reportsEarly, swapsWrites, completesAtOnce, staysOpen }

        private let base: LocalLog
        private let fault: Fault
        private var held: [PartitionBatch] = []

        init(_ fault: Fault, report: @escaping @Sendable ([StoreReport]) -> [StoreReport] = { $0 }) throws {
            base = try LocalLog(report: report)
            self.fault = fault
        }

        var log: any CommitLog { self }
        var outcomes: OutcomeJournal { base.outcomes }

        func submit(_ batches: [PartitionBatch]) {
            if fault == .reportsEarly {
                outcomes.add(
                    batches.map {
                        let outcome = CommitOutcome(batchNumber: $0.batch.batchNumber)
                        return StoreReport(partition: $0.partition, .committed(outcome))
                    })
            }
            guard fault == .swapsWrites else { return base.log.submit(batches) }
            held += batches
            guard held.count >= 4 else { return }
            base.log.submit(held.reversed())
            held = []
        }

        func submit(_ batch: WriteBatch, completed: @escaping @Sendable (CommitOutcome) -> Void) {
            guard fault == .completesAtOnce else { return base.log.submit(batch, completed: completed) }
            completed(CommitOutcome(batchNumber: batch.batchNumber))
        }

        func collect() { base.collect() }
        func fail() { base.fail() }
        func mend() { base.mend() }
        func close() { if fault != .staysOpen { base.close() } }
    }

    /// `patience` is short where an outcome is missing.
    private func contract(
        _ fault: BrokenLog.Fault = .none, patience: Int64 = 60_000,
        _ change: @escaping @Sendable (inout CommitOutcome) -> Int = { _ in 1 }
    ) throws -> CommitLogContract {
        let log = try BrokenLog(fault) { reports in
            reports.flatMap { report -> [StoreReport] in
                guard case .partition(.committed(var outcome)) = report.event else { return [report] }
                let count = change(&outcome)
                return Array(
                    repeating: StoreReport(partition: report.partition, .committed(outcome)), count: count)
            }
        }
        return CommitLogContract(subject: log, patienceMilliseconds: patience)
    }

    @Test("an outcome that is lost or repeated, or comes in another order")
    func outcomes() throws {
        #expect(try contract().severalInFlight() == [], "canary: the unchanged log")
        let lost = try contract(patience: 2_000) { $0.batchNumber == 300 ? 0 : 1 }.severalInFlight()
        #expect(lost.contains { $0.hasPrefix("outcomes are missing") }, "\(lost)")
        let repeated = try contract { $0.batchNumber == 17 ? 2 : 1 }.severalInFlight()
        #expect(repeated.contains { $0.contains("not those of the batches in order") }, "\(repeated)")
        let swapped = try contract { outcome in
            if outcome.batchNumber == 17 {
                outcome.batchNumber = 18
            } else if outcome.batchNumber == 18 {
                outcome.batchNumber = 17
            }
            return 1
        }.severalInFlight()
        #expect(swapped.contains { $0.contains("not those of the batches in order") }, "\(swapped)")
        let failed = try contract { outcome in
            outcome.hasFailed = outcome.batchNumber == 17
            return 1
        }.severalInFlight()
        #expect(failed.contains { $0.contains("batches have failed") }, "\(failed)")
    }

    @Test("an outcome that comes before queries see the batch")
    func early() throws {
        let early = try contract(.reportsEarly).severalInFlight()
        #expect(early.contains { $0.contains("are not in the store") }, "\(early)")
    }

    @Test("batches that are written in another order")
    func order() throws {
        let swapped = try contract(.swapsWrites).orderOfWrites()
        #expect(swapped.contains { $0.contains("has the change 59 of 60") }, "\(swapped)")
    }

    @Test("a duplicate that no outcome names")
    func duplicates() throws {
        let silent = try contract { outcome in
            outcome.duplicates = []
            return 1
        }.duplicates()
        #expect(silent.contains { $0.hasPrefix("duplicates are reported as") }, "\(silent)")
    }

    @Test("an outcome of the control plane without a change")
    func controlPlane() throws {
        let problems = try contract(.completesAtOnce, patience: 2_000).controlPlane()
        #expect(problems.contains("outcomes: [false]") && problems.contains("the sender is not in the store"))
    }

    @Test("a failure that is not reported")
    func failure() throws {
        let silent = try contract(patience: 2_000) { outcome in
            outcome.hasFailed = false
            return 1
        }.failure()
        #expect(silent.contains { $0.contains("the batch 60 is reported as written") }, "\(silent)")
        #expect(silent.contains { $0.contains("is reported and not in the store") }, "\(silent)")
    }

    @Test("a log that goes on after its end")
    func closing() throws {
        let open = try contract(.staysOpen, patience: 2_000).closing()
        #expect(open.contains { $0.contains("a batch is written after the end") }, "\(open)")
        #expect(open.contains { $0.hasPrefix("a change of an operator after the end") }, "\(open)")
    }
}
