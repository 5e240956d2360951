import Basics
import Delivery
import Glibc
import Store
import Synchronization

@testable import Server

/// What `CommitLog` promises, checked on any log. Each check returns what is wrong.
struct CommitLogContract {
    let subject: any LogUnderTest
    /// How long outcomes may take: a log that lost its connection gives up after five seconds.
    var patienceMilliseconds: Int64 = 60_000

    // MARK: Checks

    /// Many batches of several partitions are under way at a time, some of them lazy, in calls of several sizes.
    func severalInFlight() -> [String] {
        let numbers: ClosedRange<UInt64> = 1...300
        let seen = seen
        var call: [PartitionBatch] = []
        for number in numbers {
            for partition in partitions {
                call.append(
                    PartitionBatch(
                        partition: partition,
                        Self.batch(number, partition, isDurable: number % 5 > 0, after: seen[partition])))
            }
            if number % 7 == 0 {
                subject.log.submit(call)
                call = []
            }
        }
        subject.log.submit(call)
        guard wait(for: numbers.count) else { return ["outcomes are missing: \(counts)"] }
        return partitions.flatMap { problems(of: $0, Array(numbers)) }
    }

    /// Batches that change the same row, submitted without waiting: the last one counts.
    func orderOfWrites() -> [String] {
        let seen = seen
        for number in 1...60 as ClosedRange<UInt64> {
            for partition in partitions {
                let shared = Self.record(0, partition, seenAt: Int64(number))
                subject.log.submit([
                    PartitionBatch(
                        partition: partition,
                        Self.batch(number, partition, more: [.putDevice(shared)], after: seen[partition]))
                ])
            }
        }
        guard wait(for: 60) else { return ["outcomes are missing: \(counts)"] }
        return partitions.compactMap { partition in
            let device = OutcomeJournal.device(of: 0, in: partition)
            let seen = subject.outcomes.record(of: device)?.seenAt
            return seen == 60 ? nil : "partition \(partition) has the change \(seen ?? 0) of 60"
        }
    }

    /// The store recognizes a message that was put before, and the outcome of its batch names it.
    func duplicates() -> [String] {
        let sender = Self.sender(in: 0)
        for number in 1...3 as ClosedRange<UInt64> {
            let message = StoredUpstream(
                sender: sender, sequence: SequenceNumber(number),
                from: RegistrationName(
                    device: OutcomeJournal.device(of: 0, in: 0), number: RegistrationNumber(1)),
                category: Array("app".utf8), messageID: Array("m".utf8), persistentID: Array("p".utf8),
                expiresAt: 1_700_000_600_000, lifetimeSeconds: 600, body: [])
            subject.log.submit([
                PartitionBatch(
                    partition: 0,
                    Self.batch(
                        number, 0, more: [.putUpstream(message, now: 1_700_000_000_000)],
                        after: subject.failuresSeen(by: 0)))
            ])
        }
        guard wait(for: 3, in: 0) else { return ["outcomes are missing: \(counts)"] }
        let found = subject.outcomes.outcomes(of: 0).map { $0.outcome.duplicates.map(\.1.number) }
        return found == [[], [2], [3]] ? [] : ["duplicates are reported as \(found)"]
    }

    /// A batch of the control plane gets one outcome too, on another thread, when the change is visible.
    func controlPlane() -> [String] {
        let sender = Self.sender(in: 1)
        let record = SenderRecord(sender: sender, label: "contract", keys: [], createdAt: 1)
        let calls = Mutex<[Bool]>([])
        let caller = pthread_self()
        subject.log.submit(
            WriteBatch(batchNumber: 0, mutations: [.putSender(record)], isDurable: true)
        ) { outcome in
            let isFine = !outcome.hasFailed && pthread_equal(caller, pthread_self()) == 0
            calls.withLock { $0.append(isFine) }
        }
        guard waitUntil({ calls.withLock { !$0.isEmpty } }) else { return ["there is no outcome"] }
        let isVisible = subject.outcomes.senders.contains(sender)
        return (calls.withLock { $0 } == [true] ? [] : ["outcomes: \(calls.withLock { $0 })"])
            + (isVisible ? [] : ["the sender is not in the store"])
    }

    /// The log fails while batches are under way, and works again: each batch has one outcome, and what has failed may count.
    func failure() -> [String] {
        submit(1...20)
        guard wait(for: 20) else { return ["outcomes are missing before the failure: \(counts)"] }
        subject.fail()
        submit(21...60)
        guard wait(for: 60) else { return ["outcomes are missing during the failure: \(counts)"] }
        var problems: [String] = []
        for partition in partitions {
            let failed = subject.outcomes.outcomes(of: partition).filter(\.outcome.hasFailed)
            // The last one was submitted when nothing could be written, and no outcome was seen before.
            let first = failed.map(\.outcome.batchNumber).min() ?? 61
            if first > 60 { problems.append("partition \(partition): the batch 60 is reported as written") }
            if failed.count != 61 - first {
                problems.append("partition \(partition): a batch is written after one that has failed")
            }
        }
        subject.mend()
        submit(61...80)
        guard wait(for: 80) else { return problems + ["outcomes are missing afterwards: \(counts)"] }
        for partition in partitions {
            let entries = subject.outcomes.outcomes(of: partition)
            let written = entries.filter { !$0.outcome.hasFailed }
            let numbers = written.map(\.outcome.batchNumber)
            if numbers != numbers.sorted() { problems.append("partition \(partition): \(numbers)") }
            if Set(entries.map(\.outcome.batchNumber)).count != entries.count {
                problems.append("partition \(partition): a batch has two outcomes")
            }
            if !Set(numbers).isSuperset(of: Set(1...20).union(61...80)) {
                problems.append("partition \(partition): batches outside of the failure have failed")
            }
            if !written.allSatisfy(\.isVisible) {
                problems.append("partition \(partition): a batch is reported and not in the store")
            }
        }
        return problems
    }

    /// At its end the log answers what it has taken, and refuses more at once.
    func closing() -> [String] {
        submit(1...40)
        subject.close()
        guard wait(for: 40) else { return ["outcomes are missing at the end: \(counts)"] }
        submit(41...45)
        let isCompleted = Mutex<Bool?>(nil)
        subject.log.submit(
            WriteBatch(batchNumber: 0, mutations: [.removeSender(Self.sender(in: 0))], isDurable: true)
        ) { outcome in isCompleted.withLock { $0 = outcome.hasFailed } }
        guard wait(for: 45) else { return ["outcomes are missing after the end: \(counts)"] }
        var problems: [String] = []
        for partition in partitions {
            let entries = subject.outcomes.outcomes(of: partition)
            if entries.count != 45 {
                problems.append("partition \(partition): \(entries.count) outcomes of 45")
            }
            let late = entries.filter { $0.outcome.batchNumber > 40 }
            if !late.allSatisfy(\.outcome.hasFailed) {
                problems.append("partition \(partition): a batch is written after the end")
            }
            if entries.contains(where: { !$0.outcome.hasFailed && !$0.isVisible }) {
                problems.append("partition \(partition): a batch is reported and not in the store")
            }
        }
        let hasFailed = isCompleted.withLock { $0 }
        return problems
            + (hasFailed == true ? [] : ["a change of an operator after the end: \(hasFailed as Any)"])
    }

    // MARK: Batches

    static func record(_ number: UInt64, _ partition: Int, seenAt: Int64) -> DeviceRecord {
        DeviceRecord(
            device: OutcomeJournal.device(of: number, in: partition),
            token: SecretDigest(bytes: [UInt8](repeating: 7, count: 32)), createdAt: 1_700_000_000_000,
            seenAt: seenAt, nextRegistration: 1)
    }

    static func batch(
        _ number: UInt64, _ partition: Int, isDurable: Bool = true, more: [Mutation] = [],
        after failures: UInt64
    ) -> WriteBatch {
        WriteBatch(
            batchNumber: number,
            mutations: [.putDevice(record(number, partition, seenAt: 1))] + more, isDurable: isDurable,
            partition: partition, failuresSeen: failures)
    }

    private static func sender(in partition: Int) -> SenderID {
        let candidates = (100_000_000_001...100_000_001_000 as ClosedRange<UInt64>).lazy.map { SenderID($0) }
        return candidates.first {
            PartitionKey.sender($0).partition(of: OutcomeJournal.partitions) == partition
        } ?? SenderID(1)
    }

    private var partitions: Range<Int> { 0..<OutcomeJournal.partitions }

    private var seen: [UInt64] { partitions.map(subject.failuresSeen) }

    private func submit(_ numbers: ClosedRange<UInt64>) {
        let seen = seen
        for number in numbers {
            subject.log.submit(
                partitions.map {
                    PartitionBatch(partition: $0, Self.batch(number, $0, after: seen[$0]))
                })
        }
    }

    // MARK: Outcomes

    /// What is wrong with the outcomes of a partition, all of whose batches can be written.
    private func problems(of partition: Int, _ numbers: [UInt64]) -> [String] {
        let entries = subject.outcomes.outcomes(of: partition)
        var problems: [String] = []
        if entries.map(\.outcome.batchNumber) != numbers {
            problems.append("partition \(partition): the outcomes are not those of the batches in order")
        }
        if entries.contains(where: \.outcome.hasFailed) {
            problems.append("partition \(partition): batches have failed")
        }
        let hidden = entries.filter { !$0.isVisible }.map(\.outcome.batchNumber)
        if !hidden.isEmpty { problems.append("partition \(partition): \(hidden) are not in the store") }
        return problems
    }

    private var counts: [Int] { partitions.map { subject.outcomes.outcomes(of: $0).count } }

    /// Waits until each partition has that many outcomes, and a moment longer for those that are too many.
    private func wait(for count: Int, in partition: Int? = nil) -> Bool {
        let isDone = waitUntil {
            if let partition { return counts[partition] >= count }
            return counts.allSatisfy { $0 >= count }
        }
        usleep(20_000)
        subject.collect()
        return isDone
    }

    private func waitUntil(_ isDone: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(milliseconds: patienceMilliseconds)
        while true {
            subject.collect()
            if isDone() { return true }
            if Now.read().monotonic >= end { return false }
            usleep(1_000)
        }
    }
}
