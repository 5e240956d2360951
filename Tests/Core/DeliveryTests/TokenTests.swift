import Basics
import Testing

@testable import Delivery

/// App servers that request information on tokens and subscribe them (http 7, 8.7).
@Suite struct TokenTests {
    private let news: TopicName
    private let fid = bytes("cGFzc3dvcmQ_aGVsbG8tdw")

    init() throws { news = try #require(TopicName(bytes("news"))) }

    private func request(
        _ requestID: UInt32, _ action: TokenRequest.Action, number: UInt64 = 1,
        sender: SenderID = Harness.sender
    ) -> Event {
        .token(
            TokenRequest(
                requester: Requester(connection: appServer, requestID: requestID),
                name: RegistrationName(device: device, number: RegistrationNumber(number)), sender: sender,
                action: action))
    }

    @Test("A subscription is answered when it is on disk, and reported as existing when it is made again")
    func subscribes() {
        let bench = Harness.withDevice()
        bench.post(request(1, .describe))
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 1 1 false"])
        bench.post(request(2, .subscribe(news)))
        bench.post(request(3, .subscribe(news)))
        bench.post(request(4, .describe))
        bench.runTurns()
        #expect(bench.take(appServer).isEmpty, "nothing is answered before it is on disk")
        bench.settle()
        #expect(
            bench.take(appServer).words == [
                "token known 2 1 false news", "token known 3 1 true news", "token known 4 1 false news",
            ])
        #expect(bench.store.subscriptions.map(\.sender) == [Harness.sender])
        bench.crash(seed: 5)
        bench.post(request(5, .unsubscribe(news)))
        bench.post(request(6, .unsubscribe(news)))
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 5 1 true news", "token known 6 1 false"])
        #expect(bench.store.subscriptions.isEmpty)
    }

    @Test(
        "A token request is refused for another sender's token, an unknown token, too many topics or a failed batch"
    )
    func refused() throws {
        var settings = DeliverySettings()
        settings.subscriptionsPerRegistration = 1
        let bench = Harness.withDevice(settings: settings)
        for action in [.describe, .subscribe(news), .unsubscribe(news)] as [TokenRequest.Action] {
            bench.post(request(1, action, sender: Harness.otherSender))
        }
        bench.post(request(2, .describe, number: 7))
        bench.settle()
        #expect(
            bench.take(appServer).words == [
                "token refused 1 sender_mismatch", "token refused 1 sender_mismatch",
                "token refused 1 sender_mismatch", "token refused 2 not_registered",
            ])
        #expect(bench.durableBatches == 0, "nothing is written for another sender")
        bench.post(request(3, .subscribe(news)))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["token refused 3 unavailable"])
        bench.post(request(4, .subscribe(news)))
        bench.post(request(5, .subscribe(try #require(TopicName(bytes("more"))))))
        bench.settle()
        #expect(
            bench.take(appServer).words.sorted() == [
                "token known 4 1 false news", "token refused 5 too_many_topics",
            ])
    }

    @Test("Each sender of a registration with several senders sees only its own topics")
    func severalSenders() {
        let bench = Harness.withDevice()
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 1), device: device, token: token,
                    category: bytes("app"), subtype: bytes("b"), senderText: bytes("100,200"))))
        bench.settle()
        bench.post(request(2, .subscribe(news), number: 2))
        bench.settle()
        _ = bench.take(appServer)
        bench.post(request(3, .describe, number: 2, sender: Harness.otherSender))
        bench.post(request(4, .describe, number: 2))
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 3 2 false", "token known 4 2 false news"])
    }

    /// Subscribes and unsubscribes in turn, and returns the refusals.
    private func refused(_ bench: Harness, _ requestIDs: ClosedRange<UInt32>) -> [String] {
        for requestID in requestIDs {
            bench.post(request(requestID, requestID % 2 == 0 ? .subscribe(news) : .unsubscribe(news)))
        }
        bench.settle()
        return bench.take(appServer).words.filter { $0.hasSuffix("rate_exceeded") }
    }

    @Test("A sender's subscription changes are rate limited; its queries are not")
    func rate() {
        var settings = DeliverySettings()
        settings.rates.topicChanges = Rate(4, perSeconds: 1)
        let bench = Harness.withDevice(settings: settings)
        bench.post(request(90, .describe))
        #expect(
            refused(bench, 1...6) == ["token refused 5 rate_exceeded", "token refused 6 rate_exceeded"])
        #expect(
            bench.store.subscriptions.count == 1, "made by the fourth request, and not removed by the fifth")
        bench.post(request(91, .describe))
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 91 1 false news"])
        bench.advance(milliseconds: 250)
        #expect(refused(bench, 7...8) == ["token refused 8 rate_exceeded"])
        settings.rates.deviceShort = Rate(2, perSeconds: 60)
        let shared = Harness.withDevice(partitions: 2, settings: settings)
        #expect(refused(shared, 1...3) == ["token refused 3 rate_exceeded"], "half of it")
        bench.post(.settingsChanged(RunningSettings()))
        #expect(refused(bench, 10...30).isEmpty, "canary: without the rate nothing is refused")
        var running = RunningSettings()
        running.rates.topicChanges = Rate(1, perSeconds: 1)
        bench.post(.settingsChanged(running))
        #expect(refused(bench, 31...32) == ["token refused 32 rate_exceeded"])
        bench.post(.senders(SenderDirectory([])))
        #expect(refused(bench, 33...33).isEmpty, "the bucket of a removed sender is dropped")
    }

    @Test("A token request is refused as unavailable when the store cannot be read")
    func unreadable() {
        let bench = Harness.withDevice()
        bench.post(request(1, .describe))
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(bench.take(appServer).words == ["token refused 1 unavailable"])
    }

    @Test("A token request of an installation applies to its newest registration with the sender")
    func installation() {
        let bench = Harness.withDevice(partitions: 3)
        for (requestID, subtype) in [(1, "a"), (2, "b")] as [(UInt32, String)] {
            bench.post(
                .register(
                    RegistrationRequest(
                        requester: Requester(connection: web, requestID: requestID), device: device,
                        token: token,
                        category: bytes("app"), subtype: bytes(subtype), senderText: bytes("100"),
                        instance: fid)))
            bench.settle()
        }
        for (requestID, sender) in [(3, Harness.sender), (4, Harness.otherSender)] as [(UInt32, SenderID)] {
            bench.post(
                .installation(
                    InstallationRequest(
                        requester: Requester(connection: appServer, requestID: requestID), installation: fid,
                        sender: sender, action: .address(.subscribe(news)))))
        }
        bench.settle()
        #expect(
            bench.take(appServer).words.sorted() == [
                "token known 3 3 false news", "token refused 4 not_registered",
            ])
        #expect(bench.store.subscriptions.map(\.name.number.number) == [3])
    }
}
