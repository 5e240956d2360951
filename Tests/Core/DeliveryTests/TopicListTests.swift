import Basics
import Testing

@testable import Delivery

/// What operators see of topic messages, and what becomes of too many.
extension TopicLogTests {
    @Test(
        "what an offline device will be sent is listed, in memory or not, and no longer once it has entered the mailbox"
    )
    func listed() throws {
        let (bench, names) = Self.bench(2) { [[0], [0, 1]][$0] }
        func listed(_ at: Int, after place: UInt64 = 0) throws -> [String] {
            guard case .device(let state) = bench.store.answer(.device(names[at].device)) else {
                return ["none"]
            }
            return bench.partitions[0].core.topicMessages(for: state, after: SequenceNumber(place), limit: 3)
                .map {
                    String(decoding: $0.entry.message.messageID, as: UTF8.self)
                }
        }
        Self.publish(bench, 1)
        Self.publish(bench, 2, to: 1)
        Self.publish(bench, 3, lifetime: 0)
        #expect(try listed(0) == ["m1"] && listed(1) == ["m1", "m2"])
        let first = try #require(bench.store.topicLogs[0]?.first?.sequence.number)
        #expect(try listed(1, after: first) == ["m2"])
        Self.login(bench, names[1])
        Self.publish(bench, 4)
        #expect(try listed(0) == ["m1", "m4"] && listed(1) == [])
        bench.crash(seed: 3)
        Self.publish(bench, 5)
        #expect(try listed(0) == ["m1", "m4", "m5"] && listed(1) == ["m5"])
        for requestID in 6...9 as ClosedRange<UInt32> { Self.publish(bench, requestID) }
        #expect(try listed(0) == ["m1", "m4", "m5"], "the limit")
    }

    @Test("what waits for one app of a device is listed alone, and what waits for two is listed whole")
    func listedByApp() throws {
        var store = Self.bench().0.store
        let (one, two) = (RegistrationNumber(1), RegistrationNumber(2))
        let device = try #require(store.records.keys.first)
        let other = RegistrationName(device: device, number: two)
        store.registrations[other] = Registration(
            name: other, category: bytes("other"), subtype: [], senderText: bytes("100"),
            sender: Harness.sender, createdAt: 0)
        let bench = Harness(store: store)
        Self.subscribe(bench, other)
        Self.subscribe(bench, other, to: 1)
        Self.publish(bench, 1)
        Self.publish(bench, 2, to: 1)
        Self.publish(bench, 3)
        guard case .device(let state) = bench.store.answer(.device(device)) else {
            Issue.record("the device is gone")
            return
        }
        func listed(_ only: RegistrationNumber?, limit: Int) -> [String] {
            bench.partitions[0].core.topicMessages(
                for: state, only: only, after: SequenceNumber(0), limit: limit
            ).map { String(decoding: $0.entry.message.messageID, as: UTF8.self) }
        }
        #expect(listed(one, limit: 2) == ["m1", "m3"], "not fewer because of the other app")
        #expect(listed(two, limit: 2) == ["m1", "m2"])
        #expect(listed(nil, limit: 1) == ["m1", "m1"], "one place, two apps")
        #expect(listed(nil, limit: 9) == ["m1", "m1", "m2", "m3", "m3"])
    }

    @Test("the older half of too many live messages of a topic is discarded, and a marker stands for it")
    func discarded() {
        var settings = DeliverySettings()
        settings.storedMessages = 2 * Limits.Topic.livePerTopic
        let (bench, names) = Self.bench(2, settings: settings) { [[0], [0, 1]][$0] }
        let limit = UInt32(Limits.Topic.livePerTopic)
        Self.publish(bench, 9_999, to: 1)
        for requestID in 1...limit { Self.publish(bench, requestID) }
        Self.login(bench, names[0])
        #expect(bench.store.topicLogs[0]?.count == Int(limit) + 1 && !Self.delivered(bench).isEmpty, "canary")
        Self.publish(bench, limit + 1)
        let kept = bench.store.messages[names[0].device] ?? []
        #expect(
            kept.count == Int(limit) + 1 && kept.allSatisfy { $0.kind == .message },
            "it has all that is discarded")
        #expect(bench.store.topicLogs[0]?.count == Int(limit) / 2 + 2)
        bench.crash(seed: 3)
        Self.login(bench, names[1])
        let younger = (limit / 2 + 2...limit).map { bytes("m\($0)") }
        let taken = bench.store.messages[names[1].device] ?? []
        #expect(taken.map(\.messageID) == [bytes("m9999")] + younger + [[], bytes("m\(limit + 1)")])
        #expect(taken.dropLast().last?.kind == .discardedMarker(count: Int(limit) / 2 + 1))
        #expect(bench.store.holds)
    }

    @Test(
        "the pairs of a message stay for other devices when its removal from a mailbox fails and is repeated")
    func bodiesAfterFailure() {
        let (bench, names) = Self.bench(2)
        Self.publish(bench, 1, key: "k")
        bench.collectTopics(names)
        Self.publish(bench, 2, key: "k")
        bench.post(.device(names[0].device, .topicsDue))
        bench.runTurns()
        Self.run(bench) { if case .removeMessage = $0 { true } else { false } }
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.runTurns()
        bench.settle()
        #expect(bench.store.messages[names[0].device]?.map(\.messageID) == [bytes("m2")], "canary")
        #expect(bench.store.sharedBodies[0]?.count == 2, "the other device still has the first one")
        bench.collectTopics(names)
        #expect(bench.store.sharedBodies[0]?.count == 1 && bench.store.holds)
    }

    @Test("a now-or-never message is not one of too many while iOS apps are looked for")
    func unstoredIsNoSurplus() {
        var settings = DeliverySettings()
        settings.liveMessagesPerTopic = 2
        let (bench, _) = Self.bench(settings: settings)
        let partition = bench.partitions[0]
        Self.publish(bench, 1)
        for (requestID, lifetime) in [(2, 0), (3, 3_600)] as [(UInt32, Int)] {
            bench.post(Self.message(requestID, lifetime: lifetime))
            for _ in 0..<9 {
                bench.runTurns()
                bench.apply(partition)
                bench.reportOutcome(partition)
            }
        }
        #expect(partition.core.devices.feed.log.count == 3, "canary")
        bench.settle()
        #expect(bench.store.topicLogs[0]?.map(\.message.messageID) == [bytes("m1"), bytes("m3")])
    }
}
