import Basics
import Testing

@testable import Delivery

/// Messages to iOS apps: limits, reads that fail, and what an answer leaves behind.
@Suite struct GatewayLimitTests {
    private let bench = Harness.withApple()

    /// Ids of the messages that were offered, in order, each accepted at once.
    private func offered(_ bench: Harness) -> [String] {
        var found: [String] = []
        while let delivery = bench.deliveries.first, found.count < 2_000 {
            found.append(String(decoding: delivery.message.messageID, as: UTF8.self))
            bench.answer(.accepted(.production))
        }
        return found
    }

    // MARK: Verdicts

    @Test("A submission waits five seconds for its verdict, and is answered once")
    func wait() {
        bench.submitApple(1)
        bench.settle()
        bench.pass(milliseconds: Limits.APNs.verdictMilliseconds - 500)
        #expect(bench.take(appServer).words.isEmpty)
        bench.pass(milliseconds: 500)
        #expect(bench.take(appServer).words == ["ack 1"])
        bench.submitApple(2)
        bench.settle()
        bench.answer(.later(milliseconds: 60_000, APNsRefusal(.unavailable)))
        bench.pass(milliseconds: Limits.APNs.verdictMilliseconds)
        #expect(bench.take(appServer).words == ["ack 2"], "one answer only")
    }

    @Test("A partition lets its share of submissions wait for a verdict, and answers the others at once")
    func waiting() {
        var settings = DeliverySettings()
        settings.unacknowledgedPerDevice = 2_000
        let bench = Harness.withDevice(partitions: 1_000, settings: settings)
        bench.store.registrations[Harness.target]?.apnsToken = bytes("p_a1")
        let share = PartitionShares(of: settings, among: 1_000).waitingVerdicts
        for number in 1...UInt32(share) + 1 {
            bench.submitApple(number)
            // No more wait for the device at once.
            if number % 500 == 0 { bench.settle() }
        }
        bench.settle()
        #expect(bench.take(appServer).words == ["ack \(share + 1)"])
    }

    @Test("100 now-or-never messages of a registration wait for one, and the next is refused")
    func waitingUnstored() {
        for number in 0...UInt32(Limits.APNs.waitingUnstored) { bench.submitApple(number, lifetime: 0) }
        bench.settle()
        #expect(bench.take(appServer).words.isEmpty)
        bench.submitApple(500, lifetime: 0)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 500 apns_unavailable"])
        #expect(bench.refused.map { "\($0.reason.word) \($0.count)" } == ["apns_unavailable 1"])
        #expect(offered(bench) == (0...Limits.APNs.waitingUnstored).map { "m\($0)" })
    }

    @Test("While APNs takes messages, they may wait beyond the cap for devices that are away")
    func cap() {
        var settings = DeliverySettings()
        settings.storedMessages = 3
        let bench = Harness.withDevice(settings: settings)
        bench.store.registrations[Harness.target]?.apnsToken = bytes("p_a1")
        for number in 1...8 as ClosedRange<UInt32> { bench.submitApple(number) }
        bench.settle()
        #expect(offered(bench) == (1...8).map { "m\($0)" } && bench.store.down.discarded == 0)
    }

    /// A device whose registration takes three messages offline, and five for APNs.
    private func limited() -> Harness {
        var settings = DeliverySettings()
        settings.storedMessages = 3
        settings.unacknowledgedPerDevice = 5
        let bench = Harness.withDevice(settings: settings)
        bench.store.registrations[Harness.target]?.apnsToken = bytes("p_a1")
        return bench
    }

    @Test(
        "A message beyond those that may wait for APNs is refused, and none that was accepted is discarded",
        arguments: [nil, "k"])
    func full(key: String?) {
        let bench = limited()
        // One is at the gateway, and five wait.
        for number in 1...6 as ClosedRange<UInt32> {
            bench.submitApple(number, key: key.map { "\($0)\(number)" })
            bench.settle()
        }
        bench.submitApple(7, key: key)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 7 device_rate_exceeded"])
        #expect(offered(bench) == (1...6).map { "m\($0)" } && bench.store.down.discarded == 0)
        bench.submitApple(8, key: key)
        bench.settle()
        #expect(offered(bench) == ["m8"], "there is room again")
    }

    @Test("While APNs takes nothing, messages wait as before, and none is discarded")
    func deferred() {
        let bench = limited()
        for number in 1...5 as ClosedRange<UInt32> { bench.submitApple(number) }
        bench.settle()
        bench.answer(.later(milliseconds: 1_000, APNsRefusal(.unavailable)))
        bench.submitApple(6)
        bench.settle()
        #expect(bench.take(appServer).words == (1...5).map { "ack \($0)" } + ["nack 6 device_rate_exceeded"])
        bench.pass(milliseconds: 1_000)
        #expect(offered(bench) == (1...5).map { "m\($0)" } && bench.store.down.discarded == 0)
    }

    @Test("Messages for a connection of the app's own leave those for APNs alone when they are too many")
    func dataAlone() {
        let bench = limited()
        for number in 1...5 as ClosedRange<UInt32> { bench.submitApple(number) }
        for number in 11...14 as ClosedRange<UInt32> { bench.post(.submitted(Harness.submission(number))) }
        bench.settle()
        #expect(offered(bench) == (1...5).map { "m\($0)" } && bench.store.down.discarded == 4)
    }

    // MARK: Topics

    @Test("A now-or-never topic message to an iOS app is offered, and its topic message ends")
    func topic() {
        let (bench, names) = TopicSendTests.bench(1)
        bench.store.registrations[names[0]]?.apnsToken = bytes("p_00")
        var submission = Harness.submission(1, lifetime: 0)
        submission.content.isNotification = true
        bench.post(
            .topicSubmitted(
                TopicSubmission(target: TopicTarget(TopicSendTests.topics[0]), submission: submission)))
        bench.settle()
        #expect(bench.deliveries.count == 1)
        bench.pass(milliseconds: 2_000)
        #expect(bench.topicJobs == 1 && bench.topicJobsOpen == 0)
    }

    // MARK: Attempts and times

    @Test("A message that has expired behind another one is not offered")
    func expired() {
        bench.submitApple(1)
        bench.submitApple(2, lifetime: 60)
        bench.submitApple(3)
        bench.settle()
        bench.advance(milliseconds: 60_001)
        #expect(offered(bench) == ["m1", "m3"] && bench.store.down.expired == 1 && bench.store.holds)
    }

    @Test("The attempts of a refused message do not count for the next one")
    func attempts() {
        bench.submitApple(1)
        bench.submitApple(2)
        bench.settle()
        bench.answer(.later(milliseconds: 1_000, APNsRefusal(.unavailable)))
        bench.pass(milliseconds: 1_000)
        #expect(bench.deliveries.first?.attempt == 1)
        bench.answer(.refused(APNsRefusal(.invalid)))
        #expect(bench.deliveries.first?.attempt == 0)
    }

    @Test("A delivery carries the time at which the app last reported its token")
    func registeredAt() {
        bench.renewApple(at: 1_650_000_000_000)
        bench.submitApple(1)
        bench.settle()
        #expect(bench.deliveries.first?.registeredAt == 1_650_000_000_000)
    }

    @Test("Entries of the feedback list are ordered by time, then by registration")
    func positions() {
        let name = Harness.target
        let positions = [
            FeedbackPosition(seenAt: 1), FeedbackPosition(seenAt: 1, registration: name),
            FeedbackPosition(seenAt: 2), FeedbackPosition(seenAt: 2, registration: name),
        ]
        #expect(positions.reversed().sorted() == positions)
    }

    @Test("What was replaced at the gateway is at the gateway until it is answered")
    func atGateway() throws {
        bench.submitApple(1)
        bench.settle()
        let slot = try #require(bench.partitions[0].core.devices.table[device]?.mailbox.slots.first)
        #expect(slot.state == .atGateway)
        bench.answer(.later(milliseconds: 1_000, APNsRefusal(.unavailable)))
        let waiting = try #require(bench.partitions[0].core.devices.table[device]?.mailbox.slots.first)
        #expect(waiting.state == .waiting(isStored: true))
    }
}
