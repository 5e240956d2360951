import Basics
import Testing

@testable import Delivery

/// Messages to iOS apps: what is offered to the APNs gateway when, and what its answers lead to.
@Suite struct GatewayTests {
    static let dead = APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1_700_000_100_000)
    static let unknown = APNsVerdict(status: 400, reason: "BadDeviceToken")

    private let bench = Harness.withApple()

    @Test("A message is offered once it is on disk, and acknowledged with Apple's verdict")
    func accepted() throws {
        bench.submitApple(1)
        bench.runTurns()
        #expect(bench.deliveries.isEmpty, "not on disk yet")
        bench.settle()
        let offered = try #require(bench.deliveries.first)
        #expect(offered.message.messageID == bytes("m1") && offered.isStored && offered.attempt == 0)
        #expect(offered.deviceToken?.bytes == bytes("a1") && offered.environment == .production)
        #expect(bench.take(appServer).words.isEmpty, "Apple has not answered")
        bench.answer(.accepted(.production))
        #expect(bench.take(appServer).words == ["ack 1"])
        #expect(bench.store.down.forwarded == 1 && bench.store.downPending == 0 && bench.store.holds)
    }

    @Test("A registration has one message at the gateway, and the order is kept")
    func order() {
        for number in 1...3 as ClosedRange<UInt32> { bench.submitApple(number) }
        bench.settle()
        var seen: [[UInt8]] = []
        for _ in 0..<3 {
            #expect(bench.deliveries.count == 1)
            seen += bench.deliveries.map(\.message.messageID)
            bench.answer(.accepted(.production))
        }
        #expect(seen == [bytes("m1"), bytes("m2"), bytes("m3")] && bench.deliveries.isEmpty)
        #expect(bench.take(appServer).words == ["ack 1", "ack 2", "ack 3"])
    }

    @Test("Without a verdict in time the stored message is acknowledged, and stays offered")
    func overdue() {
        bench.submitApple(1)
        bench.settle()
        bench.advance(milliseconds: Limits.APNs.verdictMilliseconds)
        bench.post(.tick)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"] && bench.deliveries.count == 1)
        bench.answer(.refused(APNsRefusal(.invalid)))
        #expect(bench.take(appServer).words.isEmpty, "one answer only")
        #expect(bench.store.down.discarded == 1 && bench.store.holds)
    }

    @Test("What the gateway cannot take now is acknowledged at once and offered again after the delay")
    func later() {
        bench.submitApple(1)
        bench.submitApple(2)
        bench.settle()
        bench.answer(.later(milliseconds: 30_000, APNsRefusal(.unavailable)))
        #expect(bench.take(appServer).words == ["ack 1", "ack 2"] && bench.deliveries.isEmpty)
        bench.submitApple(3)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 3"], "no submission waits while Apple is away")
        bench.pass(milliseconds: 29_000)
        #expect(bench.deliveries.isEmpty)
        bench.pass(milliseconds: 1_000)
        #expect(
            bench.deliveries.map(\.message.messageID) == [bytes("m1")] && bench.deliveries[0].attempt == 1)
    }

    @Test(
        "The next message is offered once the end of the one before it is on disk, which a kill must not undo"
    )
    func end() {
        bench.submitApple(1)
        bench.submitApple(2)
        bench.settle()
        bench.post(.gatewayAnswered(bench.takeAnswer(.accepted(.production))))
        bench.runTurns()
        #expect(bench.take(appServer).words == ["ack 1"], "Apple has it")
        #expect(bench.deliveries.isEmpty, "the end of the first is not on disk")
        bench.settle()
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
        bench.post(.gatewayAnswered(bench.takeAnswer(.accepted(.production))))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(
            bench.store.downPending == UInt64(bench.deliveries.count),
            "it is offered again if it is still there")
        bench.submitApple(3)
        bench.settle()
        while !bench.deliveries.isEmpty { bench.answer(.accepted(.production)) }
        #expect(bench.store.downPending == 0 && bench.store.down.forwarded == 3 && bench.store.holds)
    }

    @Test(
        "The next message waits for the receipt of the one before it, which is offered again if that cannot be stored"
    )
    func endWithReceipt() {
        bench.bindAppServer()
        bench.submitApple(1, receipt: true)
        bench.submitApple(2)
        bench.settle()
        bench.post(.gatewayAnswered(bench.takeAnswer(.accepted(.production))))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        bench.pass(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
        bench.answer(.accepted(.production))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
        #expect(bench.store.down.forwarded == 1 && bench.store.missingReceipts.isEmpty && bench.store.holds)
    }

    @Test("An outage does not lengthen the waits after it: only attempts are counted")
    func outage() {
        bench.submitApple(1)
        bench.settle()
        for _ in 0..<10 {
            bench.answer(.later(milliseconds: 1_000, APNsRefusal(.unavailable), isAttempt: false))
            bench.pass(milliseconds: 1_000)
        }
        #expect(bench.deliveries.map(\.attempt) == [0])
        bench.answer(.later(milliseconds: 1_000, APNsRefusal(.unavailable)))
        bench.pass(milliseconds: 1_000)
        #expect(bench.deliveries.map(\.attempt) == [1])
    }

    @Test("A refusal reaches the app server with Apple's verdict, and the message is gone")
    func refused() throws {
        let verdict = APNsVerdict(status: 413, reason: "PayloadTooLarge")
        bench.submitApple(1)
        bench.settle()
        bench.answer(.refused(APNsRefusal(.tooLarge, verdict)))
        #expect(bench.take(appServer).refusals == [.apns(APNsRefusal(.tooLarge, verdict))])
        #expect(bench.store.down.discarded == 1 && bench.store.downPending == 0 && bench.store.holds)
    }

    @Test("A bad credential refuses a message whose app server waits, and keeps one that was acknowledged")
    func credential() {
        bench.submitApple(1)
        bench.settle()
        bench.answer(.refused(APNsRefusal(.credential)))
        #expect(bench.take(appServer).words == ["nack 1 apns_credential"] && bench.store.downPending == 0)
        bench.submitApple(2)
        bench.settle()
        bench.pass(milliseconds: Limits.APNs.verdictMilliseconds)
        #expect(bench.take(appServer).words == ["ack 2"])
        bench.answer(.refused(APNsRefusal(.credential)))
        #expect(bench.store.downPending == 1 && bench.deliveries.isEmpty)
        bench.pass(milliseconds: Limits.APNs.credentialRetryMilliseconds)
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
    }

    @Test("An environment that Apple corrects is recorded")
    func environment() {
        bench.submitApple(1)
        bench.settle()
        bench.answer(.accepted(.sandbox))
        #expect(bench.store.registrations[Harness.target]?.apnsToken == bytes("s_a1"))
        bench.submitApple(2)
        bench.settle()
        #expect(bench.deliveries.first?.environment == .sandbox)
    }

    @Test("A receipt reports that APNs has accepted the message")
    func receipt() throws {
        bench.bindAppServer()
        bench.submitApple(1, receipt: true)
        bench.settle()
        bench.answer(.accepted(.production))
        #expect(bench.take(appServer).words == ["ack 1", "receipt m1"])
        let receipt = try #require(bench.store.upstream[Harness.sender]?.first)
        #expect(receipt.isForwardedReceipt)
        #expect(bench.store.down.forwarded == 1 && bench.store.missingReceipts.isEmpty)
    }

    @Test("A message that a collapse key replaces at the gateway is acknowledged, and the newer one is next")
    func replaced() {
        bench.submitApple(1, key: "k")
        bench.settle()
        bench.submitApple(2, key: "k")
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"] && bench.store.down.replaced == 1)
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")], "its answer is awaited")
        bench.answer(.accepted(.production))
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
        bench.answer(.accepted(.production))
        #expect(bench.take(appServer).words == ["ack 2"] && bench.store.holds)
        #expect(bench.store.down.forwarded == 1)
    }

    @Test("Notifications without a key do not replace each other on an iPhone")
    func noImplicitKey() {
        for number in 1...3 as ClosedRange<UInt32> { bench.submitApple(number, key: "") }
        bench.settle()
        for _ in 0..<3 { bench.answer(.accepted(.production)) }
        #expect(bench.store.down.forwarded == 3 && bench.store.down.replaced == 0)
    }

    @Test("A data message waits for the app's own connection, which in turn gets nothing that is for APNs")
    func dataOnly() {
        bench.post(.submitted(Harness.submission(1)))
        bench.submitApple(2)
        bench.settle()
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m2")])
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.contains("m2") }.isEmpty)
        #expect(bench.deliveries.count == 1)
    }

    @Test(
        "the copy of a topic message for an iOS app is for APNs if it is a notification or a background push")
    func apple() throws {
        let rows: [(isNotification: Bool, route: AppleDataRoute, isForAPNs: Bool)] = [
            (true, .store, true), (false, .store, false), (false, .silent, true),
        ]
        for row in rows {
            var settings = DeliverySettings()
            settings.appleData = row.route
            let (bench, names) = TopicSendTests.bench(2, settings: settings)
            bench.store.registrations[names[0]]?.apnsToken = bytes("p_00")
            var submission = Harness.submission(1)
            submission.content.isNotification = row.isNotification
            bench.post(
                .topicSubmitted(
                    TopicSubmission(target: TopicTarget(TopicSendTests.topics[0]), submission: submission)))
            bench.settle()
            #expect(TopicSendTests.counts(bench, names) == [1, 0], "iOS apps never log in")
            bench.collectTopics(names)
            #expect(TopicSendTests.counts(bench, names) == [1, 1])
            let copies = names.map { bench.store.messages[$0.device]?.first?.apns }
            #expect(((copies[0] ?? nil) != nil) == row.isForAPNs, "\(row)")
            #expect((copies[1] ?? nil) == nil, "Android")
        }
    }

    @Test("Removing a registration answers the submissions that wait for a verdict")
    func unregistered() {
        bench.submitApple(1)
        bench.submitApple(2, lifetime: 0)
        bench.settle()
        bench.post(.forgetDevice(device, Requester(connection: web, requestID: 1)))
        bench.settle()
        #expect(
            bench.take(appServer).words.sorted() == ["nack 1 not_registered", "nack 2 apns_unregistered"])
        bench.answer(.accepted(.production))
        #expect(bench.store.holds && bench.store.downPending == 0)
    }

    @Test("A failed write is refused, and nothing is offered")
    func failedWrite() {
        bench.login()
        bench.settle()
        bench.submitApple(1)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.deliveries.isEmpty)
    }
}

/// Now-or-never messages, and restarts.
@Suite struct GatewayRestartTests {
    private let bench = Harness.withApple()

    @Test(
        "After a crash what Apple has not accepted is offered again, and the mark goes when nothing is left")
    func crash() {
        bench.submitApple(1)
        bench.settle()
        #expect(bench.store.gatewayMarks == [device])
        bench.crash(seed: 8)
        bench.pass(milliseconds: 1_000)
        #expect(bench.deliveries.map(\.message.messageID) == [bytes("m1")])
        bench.answer(.accepted(.production))
        #expect(bench.store.downPending == 0 && bench.store.gatewayMarks == [device])
        // The removal is on disk with the next answer that depends on the disk.
        bench.post(.submitted(Harness.submission(2)))
        bench.settle()
        bench.crash(seed: 9)
        bench.pass(milliseconds: 1_000)
        #expect(bench.deliveries.isEmpty && bench.store.gatewayMarks.isEmpty)
    }

    @Test("A now-or-never message is answered with the verdict, and never stored")
    func nowOrNever() {
        bench.submitApple(1, lifetime: 0)
        bench.settle()
        #expect(bench.take(appServer).words.isEmpty && bench.deliveries.first?.isStored == false)
        bench.answer(.accepted(.production))
        #expect(bench.take(appServer).words == ["ack 1"] && bench.store.put.isEmpty)
        #expect(bench.down.accepted == 1 && bench.down.forwarded == 1)
    }

    @Test("Now-or-never messages are refused when Apple is away, also those behind another one")
    func refusedNowOrNever() {
        bench.submitApple(1, lifetime: 0)
        bench.submitApple(2, lifetime: 0)
        bench.settle()
        #expect(bench.deliveries.count == 1)
        bench.answer(.later(milliseconds: 5_000, APNsRefusal(.unavailable)))
        #expect(
            bench.take(appServer).words.sorted() == ["nack 1 apns_unavailable", "nack 2 apns_unavailable"])
        bench.submitApple(3, lifetime: 0)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 3 apns_unavailable"])
    }

    @Test("A now-or-never message without a verdict is refused, and not offered later")
    func overdueNowOrNever() {
        bench.submitApple(1)
        bench.settle()
        bench.submitApple(2, lifetime: 0)
        bench.settle()
        bench.pass(milliseconds: Limits.APNs.verdictMilliseconds)
        #expect(bench.take(appServer).words.sorted() == ["ack 1", "nack 2 apns_unavailable"])
        bench.answer(.accepted(.production))
        #expect(bench.deliveries.isEmpty)
    }

    @Test("canary: an answer for another message changes nothing")
    func strangeAnswer() throws {
        bench.submitApple(1)
        bench.settle()
        bench.post(
            .gatewayAnswered(
                GatewayAnswer(
                    registration: Harness.target, sequence: SequenceNumber(1), outcome: .accepted(.production)
                )))
        bench.settle()
        #expect(bench.store.downPending == 1 && bench.take(appServer).words.isEmpty)
    }
}

extension Harness {
    /// A harness whose device has one registration of an iOS app.
    static func withApple() -> Harness {
        let bench = Harness.withDevice()
        bench.store.registrations[target]?.apnsToken = bytes("p_a1")
        return bench
    }

    /// The app reported its token at a time.
    func renewApple(at time: UnixMilliseconds) {
        store.registrations[Self.target]?.apnsState.confirmedAt = time
    }

    /// Submits a notification.
    func submitApple(_ number: UInt32, key: String? = nil, lifetime: Int = 3_600, receipt: Bool = false) {
        var submission = Self.submission(number, key: key, lifetime: lifetime, receipt: receipt)
        submission.content.isNotification = true
        post(.submitted(submission))
    }

    /// Answers the oldest delivery.
    func answer(_ outcome: GatewayOutcome) {
        guard !deliveries.isEmpty else { return }
        post(.gatewayAnswered(takeAnswer(outcome)))
        settle()
    }

    /// Removes the first delivery. Returns the gateway's answer to it.
    func takeAnswer(_ outcome: GatewayOutcome) -> GatewayAnswer {
        let delivery = deliveries.removeFirst()
        return GatewayAnswer(
            registration: delivery.registration, sequence: delivery.message.sequence, outcome: outcome)
    }

    /// Lets time pass in ticks of half a second.
    func pass(milliseconds: Int64) {
        for _ in 0..<max(1, milliseconds / 500) {
            advance(milliseconds: min(500, milliseconds))
            post(.tick)
            settle()
        }
    }
}

extension [SessionCommand] {
    /// The refusals of submissions.
    var refusals: [Refusal] {
        compactMap { if case .submission(_, .refused(let refusal)) = $0 { refusal } else { nil } }
    }
}
