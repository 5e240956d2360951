import Basics
import Testing

@testable import Delivery

/// Topic messages that the store has before the body that they share.
@Suite struct LateBodyTests {
    private static let retry = Limits.Topic.bodyRetryMilliseconds

    /// A device that is away, with a topic message (m1) and a message of its own (m2) in the store, which it has read before.
    private static func bench(
        lifetime: Int = 3_600, usesAPNs: Bool = false, settings: DeliverySettings = DeliverySettings()
    ) -> (bench: Harness, device: DeviceID) {
        let (bench, names) = TopicSendTests.bench(1, settings: settings)
        if usesAPNs { bench.store.registrations[names[0]]?.apnsToken = bytes("p_00") }
        var submission = Harness.submission(1, lifetime: lifetime)
        submission.content.isNotification = usesAPNs
        bench.post(
            .topicSubmitted(
                TopicSubmission(target: TopicTarget(TopicSendTests.topics[0]), submission: submission)))
        bench.settle()
        submission = Harness.submission(2, lifetime: lifetime, to: names[0])
        submission.content.isNotification = usesAPNs
        bench.post(.submitted(submission))
        bench.settle()
        bench.crash(seed: 8)
        bench.asked = []
        bench.store.hasLateBodies = true
        return (bench, names[0].device)
    }

    private func login(_ bench: Harness, _ device: DeviceID, _ link: ConnectionID = phone) {
        bench.post(
            .deviceLogin(DeviceLogin(connection: link, device: device, token: token, received: [])))
        bench.settle()
    }

    /// The messages that a connection was sent.
    private func delivered(_ bench: Harness, _ link: ConnectionID = phone) -> [String] {
        let sent = bench.take(link).filter { $0.delivery != nil }
        #expect(sent.allSatisfy { $0.delivery?.message.body.isEmpty == false })
        return sent.words
    }

    /// How often messages were read from the store.
    private func reads(_ bench: Harness) -> Int {
        bench.asked.count { query in
            switch query {
            case .messages, .gatewayMessage: true
            default: false
            }
        }
    }

    /// Lets time pass in one tick.
    private func pass(_ bench: Harness, _ milliseconds: Int64) {
        bench.advance(milliseconds: milliseconds)
        bench.post(.tick)
        bench.settle()
    }

    @Test("A message without its body is passed over, and sent on the same connection once that is there")
    func late() {
        let (bench, device) = Self.bench()
        login(bench, device)
        #expect(delivered(bench) == ["deliver m2"])
        bench.post(.deviceWritable(phone, device))
        pass(bench, Self.retry - 1)
        #expect(reads(bench) == 1)
        bench.store.hasLateBodies = false
        pass(bench, 1)
        #expect(delivered(bench) == ["deliver m1"], "m2 is not sent again")
        bench.post(.deviceWritable(phone, device))
        let before = reads(bench)
        for _ in 0..<20 { pass(bench, 60_000) }
        #expect(reads(bench) == before && delivered(bench).isEmpty)
        #expect(bench.store.holds)
    }

    @Test("Each read is after twice as long, up to a limit, and the last one is before the message expires")
    func doubling() {
        let (bench, device) = Self.bench(lifetime: 28_000)
        login(bench, device)
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        var count = reads(bench)
        let longest = Self.retry << Limits.Topic.bodyRetryDoublings
        #expect(longest >= 3_600_000, "an hour")
        for number in 0...(Limits.Topic.bodyRetryDoublings + 3) {
            let wait = min(Self.retry << number, longest)
            pass(bench, wait - 1)
            #expect(reads(bench) == count, "early: \(number)")
            pass(bench, 1)
            #expect(reads(bench) == count + 1, "\(number)")
            count += 1
        }
        while bench.now.wall < 1_700_000_000_000 + 28_000_000 { pass(bench, 60_000) }
        pass(bench, 1_000)
        #expect(bench.store.down.expired == 2, "m2 was never acknowledged")
        count = reads(bench)
        for _ in 0..<200 { pass(bench, 60_000) }
        #expect(reads(bench) == count && bench.store.holds)
    }

    @Test("A message that expires while it is read without its body ends then")
    func expired() {
        let (bench, _) = Self.bench(lifetime: 60, usesAPNs: true)
        bench.post(.tick)
        var rounds = 0
        while reads(bench) == 0, rounds < 100 {
            bench.settle(rounds: 1)
            rounds += 1
        }
        bench.advance(milliseconds: 60_001)
        bench.settle()
        #expect(bench.deliveries.isEmpty && bench.store.down.expired == 2 && bench.store.holds)
        #expect(reads(bench) == 2, "no sweep was needed")
    }

    @Test("A device that logs in again meanwhile gets the message at once, and only once")
    func relogin() {
        let (bench, device) = Self.bench()
        login(bench, device)
        bench.store.hasLateBodies = false
        login(bench, device, web)
        #expect(delivered(bench, web) == ["deliver m1", "deliver m2"])
        bench.post(.deviceWritable(web, device))
        for _ in 0..<20 { pass(bench, Self.retry) }
        #expect(delivered(bench, web).isEmpty)
    }

    @Test("The wait of a message does not depend on others of its registration that wait longer")
    func another() {
        let (bench, device) = Self.bench()
        login(bench, device)
        bench.post(.deviceWritable(phone, device))
        for number in 0..<8 { pass(bench, Self.retry << number) }
        _ = bench.take(phone)
        // A congested connection, so that the message must be read.
        bench.post(.deviceCongested(phone, device))
        bench.post(
            .topicSubmitted(
                TopicSubmission(
                    target: TopicTarget(TopicSendTests.topics[0]), submission: Harness.submission(3))))
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        #expect(delivered(bench).isEmpty)
        bench.store.hasLateBodies = false
        pass(bench, Self.retry)
        #expect(delivered(bench) == ["deliver m1", "deliver m3"], "the other one is tried with it")
    }

    @Test("No more registrations than a limit are read again in one tick")
    func bound() {
        let count = 3 * (Limits.Topic.bodyRetriesPerTick + 200)
        let (bench, names) = TopicSendTests.bench(count)
        bench.post(
            .topicSubmitted(
                TopicSubmission(
                    target: TopicTarget(TopicSendTests.topics[0]), submission: Harness.submission(1))))
        bench.settle()
        bench.store.hasLateBodies = true
        for (at, name) in names.enumerated() {
            bench.post(
                .deviceLogin(
                    DeviceLogin(
                        connection: connection(UInt32(100 + at)), device: name.device, token: token,
                        received: [])))
        }
        bench.settle()
        bench.asked = []
        pass(bench, Self.retry)
        #expect(reads(bench) == 3 * Limits.Topic.bodyRetriesPerTick)
        pass(bench, 1)
        #expect(reads(bench) == count)
    }

    @Test("The APNs gateway is offered the next message instead, and the first once its body is there")
    func gateway() {
        // The device is evicted whenever nothing is under way.
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = 0
        let (bench, _) = Self.bench(usesAPNs: true, settings: settings)
        bench.pass(milliseconds: 500)
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
        #expect(reads(bench) == 2)
        bench.answer(.accepted(.production))
        bench.store.hasLateBodies = false
        bench.pass(milliseconds: 2 * Self.retry)
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
        #expect(bench.deliveries.first?.message.body == bytes("body 1"))
        bench.answer(.accepted(.production))
        #expect(bench.store.messages.values.joined().isEmpty && bench.store.holds)
    }

    @Test("A message for the APNs gateway whose body never comes is read seldom, until it expires")
    func gatewayWithout() {
        let (bench, _) = Self.bench(usesAPNs: true)
        bench.pass(milliseconds: 500)
        bench.answer(.accepted(.production))
        bench.pass(milliseconds: 3_600_000)
        #expect(bench.deliveries.isEmpty && bench.store.down.expired == 1 && bench.store.holds)
        #expect((12...16).contains(reads(bench)), "\(reads(bench))")
    }
}
