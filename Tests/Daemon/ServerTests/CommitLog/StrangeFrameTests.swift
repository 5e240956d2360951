import Basics
import ClusterLog
import Delivery
import Glibc
import NATSServerSupport
import Operator
import Testing

@testable import Server

/// Records in the log of a partition that this node has not written.
@Suite(
    "Strange frames", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct StrangeFrameTests {
    private func mark(_ key: LogKey, version: UInt8, epoch: UInt64 = 1 << 20) -> [UInt8] {
        let header = FrameHeader(
            version: version, term: Term(Epoch(epoch), Claim(7)), number: 1, time: Now.read().wall,
            confirmed: 0, previous: 0)
        return header.frame([UInt8]().raw, in: key)
    }

    private func waitForAlarms(_ log: ReplicatedLog) -> [String] {
        let end = Now.read().monotonic.advanced(seconds: 30)
        while log.alarms.isEmpty, Now.read().monotonic < end { usleep(20_000) }
        return log.alarms.map { "\($0.cause.rawValue): \($0.problem); \($0.action)" }
    }

    /// Whether the log of a partition still writes.
    private func writes(_ log: ReplicatedLog, _ number: UInt64, to partition: Int) -> Bool {
        let batch = CommitLogContract.batch(number, partition, after: log.failuresSeen(by: partition))
        log.log.submit([PartitionBatch(partition: partition, batch)])
        let end = Now.read().monotonic.advanced(seconds: 30)
        while log.outcomes.outcomes(of: partition).isEmpty, Now.read().monotonic < end {
            log.collect()
            usleep(1_000)
        }
        return log.outcomes.outcomes(of: partition).last?.outcome.hasFailed == false
    }

    @Test("a frame of a newer version halts its partition by name, and no other one")
    func newer() throws {
        let log = try ReplicatedLog()
        try log.append(mark(log.key, version: 9), to: 0)
        let alarms = waitForAlarms(log)
        #expect(alarms.count == 1, "\(alarms)")
        #expect(alarms.first?.hasPrefix("halted: partition 0 has halted on this node") == true)
        #expect(alarms.first?.contains("a frame of version 9, and this node reads 1 to 1") == true)
        #expect(alarms.first?.contains("install the version of the other nodes") == true)
        #expect(!writes(log, 1, to: 0) && writes(log, 1, to: 1))
    }

    @Test("a mark that proves that records are lost stops its partition by name, and no other one")
    func missing() throws {
        let log = try ReplicatedLog()
        try log.append(mark(log.key, version: FrameHeader.newestVersion), to: 0)
        let alarms = waitForAlarms(log)
        #expect(alarms.count == 1, "\(alarms)")
        #expect(alarms.first?.hasPrefix("records_lost: NATS has lost records of partition 0") == true)
        #expect(alarms.first?.contains("it will copy the store of another node") == true)
        #expect(!writes(log, 1, to: 0) && writes(log, 1, to: 1))
    }

    @Test("what is no frame is skipped, and batches count")
    func foreign() throws {
        let log = try ReplicatedLog()
        try log.append(Array("hello".utf8), to: 0)
        #expect(writes(log, 1, to: 0) && log.alarms.isEmpty)
    }

    @Test("frames of a writer without the secret, damaged ones, and copies are skipped, and batches count")
    func forged() throws {
        let log = try ReplicatedLog()
        let stranger = LogKey(
            LogSecret([UInt8](repeating: 1, count: LogSecret.length).raw), cluster: 1, partition: 0)
        #expect(writes(log, 1, to: 0))
        for epoch in [1, 2, 1 << 20, 1 << 62] as [UInt64] {
            try log.append(mark(stranger, version: FrameHeader.newestVersion, epoch: epoch), to: 0)
        }
        var damaged = mark(log.key, version: FrameHeader.newestVersion)
        damaged[20] ^= 1
        try log.append(damaged, to: 0)
        try log.append(mark(stranger, version: 9), to: 0)
        #expect(writes(log, 2, to: 0) && log.alarms.isEmpty)
    }
}
