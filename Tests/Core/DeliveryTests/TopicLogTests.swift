import Basics
import Testing

@testable import Delivery

/// What enters the mailboxes from the log of topic messages, and when.
@Suite struct TopicLogTests {
    private static let topics = TopicSendTests.topics

    /// A harness with one partition, whose devices have one registration each.
    static func bench(
        _ count: Int = 1, settings: DeliverySettings = DeliverySettings(), readsLog: Bool = true,
        of topics: (Int) -> [Int] = { _ in [0] }
    ) -> (Harness, [RegistrationName]) {
        let (wide, names) = TopicSendTests.bench(count, settings: settings, of: topics)
        return (Harness(store: wide.store, settings: settings, readsLog: readsLog), names)
    }

    static func message(_ requestID: UInt32, lifetime: Int = 3_600) -> Event {
        .topicSubmitted(
            TopicSubmission(
                target: TopicTarget(topics[0]), submission: Harness.submission(requestID, lifetime: lifetime))
        )
    }

    static func publish(
        _ bench: Harness, _ requestID: UInt32, to topic: Int = 0, key: String? = nil, lifetime: Int = 3_600
    ) {
        let submission = Harness.submission(requestID, key: key, lifetime: lifetime)
        bench.post(
            .topicSubmitted(TopicSubmission(target: TopicTarget(topics[topic]), submission: submission)))
        bench.settle()
    }

    static func login(_ bench: Harness, _ name: RegistrationName, _ link: ConnectionID = phone) {
        bench.post(
            .deviceLogin(DeviceLogin(connection: link, device: name.device, token: token, received: [])))
        bench.settle()
    }

    static func subscribe(
        _ bench: Harness, _ name: RegistrationName, to topic: Int = 0, isEnd: Bool = false
    ) {
        bench.post(
            .subscribe(
                TopicRequest(
                    requester: Requester(connection: web, requestID: 1), name: name, token: token,
                    topic: topics[topic], isEnd: isEnd)))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 1"])
    }

    static func delivered(_ bench: Harness, _ link: ConnectionID = phone) -> [String] {
        var ids: [String] = []
        while true {
            let commands = bench.take(link)
            ids += commands.compactMap(\.delivery).map {
                if case .discardedMarker(let count) = $0.message.kind { return "marker \(count)" }
                return String(decoding: $0.message.messageID, as: UTF8.self)
            }
            guard commands.words.contains("report when writable") else { return ids }
            bench.post(.deviceWritable(link, bench.store.records.keys.sorted()[0]))
            bench.settle()
        }
    }

    /// Goes on until the batch that adds a message to the log waits for the store.
    private static func runUntilAdding(_ bench: Harness) {
        run(bench) { if case .putTopicEntry = $0 { true } else { false } }
    }

    /// Goes on until a batch with such a change waits for the store.
    static func run(_ bench: Harness, until isWanted: (Mutation) -> Bool) {
        let partition = bench.partitions[0]
        func isWaiting() -> Bool { partition.batches.first?.mutations.contains(where: isWanted) == true }
        for _ in 0..<9 where !isWaiting() {
            bench.apply(partition)
            bench.reportOutcome(partition)
            bench.read(partition)
            bench.reportAnswer(partition)
            bench.runTurns()
        }
        #expect(isWaiting(), "canary")
    }

    // MARK: Subscriptions

    @Test("who subscribes is sent what comes afterwards, and who has unsubscribed nothing more")
    func changes() {
        let (bench, names) = Self.bench { _ in [] }
        Self.publish(bench, 1)
        Self.subscribe(bench, names[0])
        Self.publish(bench, 2)
        bench.crash(seed: 3)
        Self.publish(bench, 3)
        Self.subscribe(bench, names[0], isEnd: true)
        Self.publish(bench, 4)
        bench.crash(seed: 4)
        Self.login(bench, names[0])
        #expect(Self.delivered(bench) == ["m2", "m3"])
        #expect(bench.store.topicPositions[names[0].device] != nil)
    }

    @Test("a new registration is not sent what was sent before to all apps of the sender")
    func registration() throws {
        let (bench, names) = Self.bench { _ in [] }
        let everyone = try #require(TopicTarget(topics: [Self.topics[0]], truth: 0x5555_5555))
        func publish(_ requestID: UInt32) {
            bench.post(
                .topicSubmitted(
                    TopicSubmission(target: everyone, submission: Harness.submission(requestID))))
            bench.settle()
        }
        publish(1)
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 1), device: names[0].device,
                    token: token, category: bytes("second"), subtype: [], senderText: bytes("100"))))
        bench.settle()
        publish(2)
        bench.crash(seed: 3)
        Self.login(bench, names[0])
        let both = bench.take(phone).compactMap(\.delivery).map(\.message)
        #expect(both.filter { $0.messageID == bytes("m1") }.map(\.registration.number) == [1])
        #expect(both.count { $0.messageID == bytes("m2") } == 2)
    }

    // MARK: Order

    @Test("topic messages and other messages of a device keep their order and replace each other by key")
    func order() {
        let (bench, names) = Self.bench()
        Self.publish(bench, 1, key: "k")
        bench.post(.submitted(Harness.submission(2, to: names[0])))
        Self.publish(bench, 3)
        bench.post(.submitted(Harness.submission(4, key: "k", to: names[0])))
        bench.settle()
        Self.publish(bench, 5, key: "k")
        Self.login(bench, names[0])
        #expect(Self.delivered(bench) == ["m2", "m3", "m5"])
        #expect(bench.store.down.replaced == 2 && bench.store.holds)
    }

    @Test("an offline device is sent its newest messages, and a marker if too many have waited")
    func caps() {
        var settings = DeliverySettings()
        settings.storedMessages = 5
        let (bench, names) = Self.bench(settings: settings)
        for requestID in 1...8 as ClosedRange<UInt32> { Self.publish(bench, requestID) }
        Self.login(bench, names[0])
        #expect(Self.delivered(bench) == ["marker 6", "m7", "m8"])
        #expect(bench.store.holds && bench.store.down.discarded == 6)
    }

    @Test("a message with a collapse key leaves the log when a newer one to the same recipients comes")
    func collapsed() {
        let (bench, names) = Self.bench(2) { [[0], [0, 1]][$0] }
        Self.publish(bench, 1, key: "k")
        Self.publish(bench, 2, to: 1, key: "k")
        Self.publish(bench, 3, key: "k")
        #expect(bench.store.topicLogs[0]?.map(\.message.messageID) == [bytes("m2"), bytes("m3")])
        bench.collectTopics(names)
        #expect(bench.store.messages[names[1].device]?.map(\.messageID) == [bytes("m3")])
        #expect(bench.store.sharedBodies[0]?.count == 2, "the pairs of the first one are gone")
    }

    @Test("the pairs of a message that has left the log stay until the last mailbox entry is removed")
    func bodies() throws {
        let (bench, names) = Self.bench(2)
        Self.publish(bench, 1, key: "k")
        bench.collectTopics(names)
        Self.publish(bench, 2, key: "k")
        Self.login(bench, names[0])
        #expect(Self.delivered(bench) == ["m2"])
        #expect(bench.store.sharedBodies[0]?.count == 2, "the other device still has the first one")
        bench.collectTopics(names)
        let live = bench.store.topicLogs[0]?.map { SharedBodyName.topic($0.message.name) }
        #expect(live?.count == 1 && bench.store.sharedBodies[0].map { Array($0.keys) } == live)
        let sequence = try #require(bench.store.messages[names[0].device]?.first?.sequence)
        bench.post(.deviceAcknowledged(phone, names[0].device, [sequence]))
        bench.settle()
        #expect(bench.store.sharedBodies[0]?.count == 1, "the log has it")
        #expect(bench.partitions[0].core.devices.bodies.count == 1)
    }

    // MARK: Connected devices

    @Test("connected devices are sent a message some in each batch, all of them, and each once")
    func paced() {
        let count = 2 * Limits.Topic.devicesPerBatch + 3
        let (bench, names) = Self.bench(count)
        for (at, name) in names.enumerated() { Self.login(bench, name, connection(100 + UInt32(at))) }
        bench.commands = []
        bench.post(Self.message(1))
        var batches: [Int] = []
        for _ in 0..<20 {
            bench.runTurns()
            let rows = bench.partitions[0].batches.first?.mutations.count {
                if case .putMessage = $0 { true } else { false }
            }
            if let rows, rows > 0 { batches.append(rows) }
            bench.apply(bench.partitions[0])
            bench.reportOutcome(bench.partitions[0])
            bench.read(bench.partitions[0])
            bench.reportAnswer(bench.partitions[0])
        }
        bench.settle()
        #expect(batches == [Limits.Topic.devicesPerBatch, Limits.Topic.devicesPerBatch, 3])
        let reached = bench.commands.compactMap { $1.delivery.map { $0.message.device } }
        #expect(Set(reached).count == count && reached.count == count)
        #expect(bench.commands.compactMap(\.1.delivery).allSatisfy { $0.message.body == bytes("body 1") })
        #expect(!bench.asked.contains { $0.word == "messages" }, "none is read again")
    }

    @Test("a device that is no longer connected, or subscribed, is not found among the connected ones")
    func left() {
        let (bench, names) = Self.bench(2)
        Self.login(bench, names[0])
        Self.login(bench, names[1], connection(8))
        bench.post(.deviceClosed(connection(8), names[1].device))
        Self.subscribe(bench, names[0], to: 1)
        Self.subscribe(bench, names[0], isEnd: true)
        Self.publish(bench, 1)
        Self.publish(bench, 2, to: 1)
        #expect(Self.delivered(bench) == ["m2"])
        #expect(bench.store.messages[names[1].device] == nil)
        #expect(bench.partitions[0].core.devices.feed.audience.count == 1, "nothing is left of them")
        bench.post(.deviceClosed(phone, names[0].device))
        bench.settle()
        #expect(bench.partitions[0].core.devices.feed.audience.count == 0)
    }

    // MARK: Restarts and failures

    @Test("after a restart the pairs come from the store, also for those who are connected by then")
    func restart() {
        let (bench, names) = Self.bench(2)
        Self.publish(bench, 1)
        bench.crash(seed: 3)
        for (at, name) in names.enumerated() {
            Self.login(bench, name, connection(10 + UInt32(at)))
            let delivery = bench.take(connection(10 + UInt32(at))).compactMap(\.delivery).first
            #expect(delivery?.message.body == bytes("body 1") && delivery?.from == bytes("/topics/a"))
        }
    }

    @Test("a message whose pairs are damaged is passed over, and those behind it are delivered")
    func damaged() {
        let (bench, names) = Self.bench()
        Self.publish(bench, 1)
        bench.collectTopics(names)
        bench.store.hasDamagedBodies = true
        bench.post(.submitted(Harness.submission(2, to: names[0])))
        bench.settle()
        bench.crash(seed: 3)
        bench.store.hasDamagedBodies = true
        Self.login(bench, names[0])
        #expect(Self.delivered(bench) == ["m2"])
    }

    @Test("no device is served before the log has been read; a log that cannot be read refuses them")
    func unread() {
        let (bench, names) = Self.bench(readsLog: false)
        let partition = bench.partitions[0]
        bench.post(
            .deviceLogin(
                DeviceLogin(connection: phone, device: names[0].device, token: token, received: [])))
        bench.runTurns()
        #expect(partition.loads.map(\.word) == ["topic log", "device"])
        partition.loads.swapAt(0, 1)
        bench.read(partition)
        bench.reportAnswer(partition)
        bench.runTurns()
        #expect(bench.take(phone).isEmpty, "it waits for the log")
        bench.read(partition, failing: true)
        bench.reportAnswer(partition)
        bench.runTurns()
        #expect(bench.take(phone).words == ["login refused unavailable"])
        bench.post(.tick)
        bench.runTurns()
        #expect(!bench.asked.dropFirst(2).contains { $0.word == "topic log" }, "not at once")
        bench.advance(milliseconds: Int64(Limits.Topic.retryMilliseconds))
        bench.post(.tick)
        bench.settle()
        Self.login(bench, names[0])
        #expect(bench.take(phone).words.contains("device login accepted"))
    }

    /// The batch with the entry fails, and is on disk or not.
    @Test(
        "a failed batch with a message is read back, and the message is in the log once",
        arguments: [false, true])
    func failedEntry(isOnDisk: Bool) {
        let (bench, names) = Self.bench()
        Self.login(bench, names[0])
        _ = bench.take(phone)
        let partition = bench.partitions[0]
        bench.post(Self.message(1))
        Self.runUntilAdding(bench)
        if isOnDisk { _ = bench.store.apply(partition.batches[0]) }
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(Self.delivered(bench) == (isOnDisk ? ["m1"] : []))
        bench.advance(milliseconds: Int64(Limits.Topic.retryMilliseconds))
        bench.post(.tick)
        bench.settle()
        #expect(Self.delivered(bench) == (isOnDisk ? [] : ["m1"]))
        #expect(bench.store.topicLogs[0]?.count == 1 && bench.store.topicMessages.isEmpty)
    }

    @Test("a now-or-never message that comes while another one is being stored takes no device past that")
    func unstoredMeanwhile() {
        let (bench, names) = Self.bench()
        let partition = bench.partitions[0]
        bench.post(Self.message(1))
        bench.runTurns()
        Self.runUntilAdding(bench)
        bench.post(Self.message(2, lifetime: 0))
        // The device is read, and has an event, before the first message is on disk.
        bench.post(.device(names[0].device, .topicsDue))
        bench.runTurns()
        bench.answerQueries(of: partition)
        bench.settle()
        Self.login(bench, names[0])
        #expect(Self.delivered(bench) == ["m1"])
    }

    // MARK: iOS apps

    @Test("iOS apps are found page by page, and again if one could not be read")
    func apple() {
        let count = Limits.Topic.page + 5
        let (bench, names) = Self.bench(count)
        for name in names { bench.store.registrations[name]?.apnsToken = bytes("p_00") }
        bench.post(
            .topicSubmitted(
                TopicSubmission(
                    target: TopicTarget(Self.topics[0]), submission: Self.notification(1))))
        let partition = bench.partitions[0]
        var failed = 0
        for _ in 0..<20_000 where !bench.isQuiet {
            bench.runTurns()
            bench.apply(partition)
            bench.reportOutcome(partition)
            let isDevice = partition.loads.first?.word == "device"
            if isDevice, failed < 3 { failed += 1 }
            bench.read(partition, failing: isDevice && failed < 3)
            bench.reportAnswer(partition)
        }
        #expect(bench.deliveries.count == Limits.Topic.page - 2)
        bench.advance(milliseconds: Int64(Limits.Topic.retryMilliseconds))
        bench.post(.tick)
        bench.settle()
        #expect(Set(bench.deliveries.map(\.registration)) == Set(names) && bench.deliveries.count == count)
        bench.post(.tick)
        bench.settle()
        #expect(
            bench.store.topicLogs[0]?.first?.progress
                == TopicProgress(reached: UInt64(count), isOffered: true))
    }

    private static func notification(_ requestID: UInt32) -> Submission {
        var submission = Harness.submission(requestID)
        submission.content.isNotification = true
        return submission
    }

    @Test("the subscriptions of iOS apps are listed, and no others; the list follows the registration")
    func list() throws {
        let (bench, names) = Self.bench { _ in [] }
        Self.subscribe(bench, names[0])
        #expect(bench.store.gatewayList.isEmpty)
        bench.crash(seed: 3)
        bench.store.registrations[names[0]]?.apnsToken = bytes("p_00")
        Self.subscribe(bench, names[0], to: 1)
        #expect(bench.store.gatewayList.map(\.topic) == [Self.topics[1]])
        Self.subscribe(bench, names[0], to: 1, isEnd: true)
        #expect(bench.store.gatewayList.isEmpty)
    }
}
