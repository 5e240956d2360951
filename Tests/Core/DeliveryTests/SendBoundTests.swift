import Basics
import Delivery
import Testing

/// Limits of topic and group messages in progress, and of a sender's rate.
@Suite struct SendBoundTests {
    private static let group = GroupName(sender: Harness.sender, number: 7)

    private static func toTopic(
        _ requestID: UInt32, from sender: SenderID = Harness.sender, lifetime: Int = 0
    ) throws -> Event {
        var submission = Harness.submission(requestID, lifetime: lifetime)
        submission.entitlement = .account(sender)
        let topic = try #require(TopicName(bytes("news")))
        return .topicSubmitted(TopicSubmission(target: TopicTarget(topic), submission: submission))
    }

    @Test("A topic message counts once towards its sender's rate, together with messages to devices")
    func rate() throws {
        var settings = DeliverySettings()
        settings.rates.sender = Rate(2, perSeconds: 60)
        let bench = Harness.withDevice(settings: settings)
        bench.submit(1)
        bench.settle()
        bench.post(try Self.toTopic(2))
        bench.post(try Self.toTopic(3))
        bench.post(try Self.toTopic(4, from: Harness.otherSender))
        bench.settle()
        #expect(
            bench.take(appServer).words.sorted() == [
                "ack 1", "ack 2", "ack 4", "nack 3 sender_rate_exceeded",
            ])
        bench.submit(5)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 5 sender_rate_exceeded"])
    }

    @Test("The number of topic messages in progress per partition is bounded over all senders")
    func topics() throws {
        let bench = Harness.withDevice()
        let senders = Limits.Topic.open / Limits.Topic.openPerSender
        for sender in 0..<UInt64(senders) {
            for requestID in 0..<UInt32(Limits.Topic.openPerSender) {
                bench.post(try Self.toTopic(requestID, from: SenderID(1_000 + sender), lifetime: 3_600))
            }
        }
        bench.runTurns()
        #expect(bench.take(appServer).words.isEmpty, "canary: all wait for the store")
        bench.post(try Self.toTopic(1, from: SenderID(9), lifetime: 3_600))
        bench.runTurns()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
    }

    @Test("The number of group messages and group requests that wait for the store is bounded")
    func groups() {
        let bench = Harness.withDevice()
        for requestID in 0...UInt32(Limits.Group.waitingSends) {
            bench.post(
                .groupSubmitted(GroupSubmission(group: Self.group, submission: Harness.submission(requestID)))
            )
        }
        bench.runTurns()
        #expect(bench.take(appServer).words == ["nack \(Limits.Group.waitingSends) unavailable"])
        bench.settle()
        #expect(bench.take(appServer).count == Limits.Group.waitingSends, "all others are answered")
        for requestID in 0...UInt32(Limits.Group.waitingRequests) {
            bench.post(
                .groupRequested(
                    GroupRequest(
                        requester: Requester(connection: web, requestID: requestID), sender: Harness.sender,
                        operation: .find(label: bytes("a")))))
        }
        bench.runTurns()
        #expect(
            bench.take(web).words == ["group refused \(Limits.Group.waitingRequests) unavailable"])
        bench.settle(rounds: 100_000)
        #expect(bench.take(web).count == Limits.Group.waitingRequests)
    }

    /// A harness with `count` devices that subscribe to the topic, over three partitions.
    private static func bench(_ count: Int) throws -> Harness {
        let store = FakeStore()
        let bench = Harness(partitions: 3, store: store)
        for at in 0..<UInt64(count) {
            let name = RegistrationName(
                device: DeviceID(1 << 60 | (at + 1) << 8), number: RegistrationNumber(1))
            bench.store.records[name.device] = DeviceRecord(
                device: name.device, token: token, createdAt: 0, seenAt: 1_700_000_000_000,
                nextRegistration: 2)
            bench.store.registrations[name] = Registration(
                name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, createdAt: 0)
            bench.store.subscriptions.append(
                Subscription(
                    name: name, sender: Harness.sender, topic: try #require(TopicName(bytes("news"))),
                    since: 0))
        }
        return bench
    }

    @Test("Live topic messages are listed with what they have reached, the newest first, up to a limit")
    func running() throws {
        let bench = try Self.bench(9)
        for requestID in 1...3 as ClosedRange<UInt32> {
            bench.advance(milliseconds: 10)
            bench.post(try Self.toTopic(requestID, lifetime: 3_600))
            bench.settle()
        }
        func live(_ limit: Int) -> [LiveTopicMessage] {
            bench.partitions.reduce([]) { all, partition in
                let running = partition.core.runningTopics(limit: limit)
                #expect(running.count == 3)
                return all.merged(with: running.messages, limit: limit)
            }
        }
        #expect(live(9).map(\.message.messageID) == [bytes("m3"), bytes("m2"), bytes("m1")])
        #expect(live(9).allSatisfy { $0.reached == 0 }, "no device is connected")
        #expect(live(2).map(\.message.messageID) == [bytes("m3"), bytes("m2")])
        bench.collectTopics(
            bench.store.records.keys.sorted().prefix(4).map {
                RegistrationName(device: $0, number: RegistrationNumber(1))
            })
        #expect(live(9).map(\.reached) == [4, 4, 4])
        bench.advance(milliseconds: 3_600_000)
        bench.post(.tick)
        bench.settle()
        #expect(bench.partitions.allSatisfy { $0.core.runningTopics(limit: 9).count == 0 })
        #expect(bench.store.topicLogs.values.joined().isEmpty)
    }
}
