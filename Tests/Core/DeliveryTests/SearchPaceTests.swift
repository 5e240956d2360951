import Basics
import Testing

@testable import Delivery

/// The pace of searches and reads, and what a search for interrupted work finds.
@Suite struct SearchPaceTests {
    /// The number of device searches, answered or not.
    private func unseenAsked(_ bench: Harness) -> Int {
        bench.asked.count { if case .unseen = $0 { true } else { false } }
    }

    @Test("A search for unused devices alone pauses after a round, too")
    func unusedOnly() {
        var settings = DeliverySettings()
        settings.deviceExpirySeconds = 0
        settings.unusedDeviceSeconds = 86_400
        let bench = Harness.withDevice(settings: settings)
        func sweep(_ turns: Int) {
            for _ in 0..<turns {
                bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
                bench.post(.tick)
                bench.settle()
            }
        }
        sweep(2)
        let asked = unseenAsked(bench)
        #expect(asked > 0)
        let pause = min(Limits.Device.sweepPauseSeconds, 86_400 / 8)
        sweep(pause * 1_000 / Limits.Device.sweepMilliseconds - 2)
        #expect(unseenAsked(bench) <= asked + 1)
        sweep(4)
        #expect(unseenAsked(bench) > asked, "then it goes on")
    }

    @Test("A device whose contact is to be written is read once, however long that takes")
    func slowRead() {
        let bench = Harness.withDevice()
        let partition = bench.partitions[0]
        bench.login()
        bench.settle()
        bench.submit(1)
        bench.runTurns()
        // The device is read again after the failed batch, and that fails as well.
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.runTurns()
        bench.read(partition, failing: true)
        bench.reportAnswer(partition)
        bench.runTurns()
        #expect(partition.core.figures.pendingLastSeen == 1)
        for _ in 0..<5 {
            bench.advance(milliseconds: 500)
            bench.post(.tick)
            bench.runTurns()
        }
        let entry = partition.core.devices.table[device]
        #expect(partition.loads.count { $0 == .device(device) } == 1 && entry?.state.waiting.count == 1)
        bench.settle()
        #expect(partition.core.figures.pendingLastSeen == 0)
    }

    @Test("A new message has a higher number than a job that was resumed, although the clock was set back")
    func numbersAfterResumption() throws {
        let (bench, _) = TopicSendTests.bench(3)
        func submit(_ requestID: UInt32) {
            bench.post(
                .topicSubmitted(
                    TopicSubmission(
                        target: TopicTarget(TopicSendTests.topics[0]),
                        submission: Harness.submission(requestID))))
            bench.settle(rounds: 1)
            bench.runTurns()
        }
        submit(1)
        let old = try #require(bench.store.topicMessages.first)
        bench.now.wall -= 30_000
        bench.crash(seed: 5)
        bench.post(.tick)
        bench.settle()
        submit(2)
        let new = try #require(bench.store.topicMessages.map(\.name).max())
        #expect(new > old.name)
    }
}
