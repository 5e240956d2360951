import Basics
import Delivery
import Testing

@Suite struct TopicSendTests {
    static let topics = ["a", "b", "c", "d", "e"].compactMap { TopicName(bytes($0)) }

    /// A harness with `count` devices with one registration each, over three partitions; `of` returns the topics of each.
    static func bench(
        _ count: Int, settings: DeliverySettings = DeliverySettings(),
        of topics: (Int) -> [Int] = { _ in [0] }
    ) -> (Harness, [RegistrationName]) {
        var store = FakeStore()
        var names: [RegistrationName] = []
        for at in 0..<count {
            let device = DeviceID(1 << 60 | UInt64(at + 1) << 8)
            let name = RegistrationName(device: device, number: RegistrationNumber(1))
            store.records[device] = DeviceRecord(
                device: device, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 100)
            store.registrations[name] = Registration(
                name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, createdAt: 0)
            for topic in topics(at) {
                store.subscriptions.append(
                    Subscription(name: name, sender: Harness.sender, topic: Self.topics[topic], since: 0))
            }
            names.append(name)
        }
        return (Harness(partitions: 3, store: store, settings: settings), names)
    }

    private static func submit(
        _ bench: Harness, _ requestID: UInt32, to target: TopicTarget = TopicTarget(topics[0]),
        key: String? = nil, lifetime: Int = 3_600, dry: Bool = false, from sender: SenderID = Harness.sender
    ) {
        var submission = Harness.submission(requestID, key: key, lifetime: lifetime)
        submission.entitlement = .account(sender)
        submission.content.isDryRun = dry
        bench.post(.topicSubmitted(TopicSubmission(target: target, submission: submission)))
    }

    /// How many messages of a submission each device has.
    static func counts(_ bench: Harness, _ names: [RegistrationName], _ id: String = "m1") -> [Int] {
        names.map { name in
            (bench.store.messages[name.device] ?? []).count { $0.messageID == bytes(id) }
        }
    }

    private static func tick(_ bench: Harness, milliseconds: Int64 = 2_000) {
        bench.advance(milliseconds: milliseconds)
        bench.post(.tick)
        bench.settle()
    }

    // MARK: Recipients

    @Test("Each subscriber of a topic gets its message once, from the topic, and no other device gets it")
    func topic() {
        let count = 259
        let (bench, names) = Self.bench(count) { $0 % 3 == 0 ? [] : $0 % 3 == 1 ? [0] : [0, 1] }
        Self.submit(bench, 1)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        #expect(bench.store.topicMessages.isEmpty, "all partitions have it")
        #expect(bench.store.topicLogs.mapValues(\.count) == [0: 1, 1: 1, 2: 1])
        #expect(bench.store.messages.isEmpty && bench.store.topicPositions.isEmpty, "and no device is loaded")
        #expect(!bench.asked.contains { $0.word == "device" })
        bench.collectTopics(names)
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == (0..<count).map { $0 % 3 == 0 ? 0 : 1 })
        let first = bench.store.messages[names[1].device]?.first
        #expect(first?.shared?.name.sender == Harness.sender)
        #expect(bench.store.holds)
        #expect(bench.topicJobs == 1 && bench.topicJobsOpen == 0)
        #expect(bench.topicMembers == Self.counts(bench, names).reduce(0, +))
    }

    @Test(
        "A topic message is one batch in each partition, and two more in that of its sender, for any number of subscribers",
        arguments: [0, 3, 400])
    func records(_ subscribers: Int) {
        let (bench, _) = Self.bench(subscribers)
        let before = bench.partitions.map(\.batchesMade)
        Self.submit(bench, 1)
        bench.settle()
        var made = zip(bench.partitions, before).map { $0.batchesMade - $1 }
        #expect(bench.store.topicLogs.mapValues(\.count) == [0: 1, 1: 1, 2: 1], "canary")
        made[PartitionKey.sender(Harness.sender).partition(of: 3)] -= 2
        #expect(made == [1, 1, 1])
    }

    @Test("A topic message is sent to a connected device at once, and to an absent one at its next login")
    func delivery() {
        let (bench, names) = Self.bench(2)
        func login(_ at: Int, _ link: ConnectionID) {
            bench.post(
                .deviceLogin(
                    DeviceLogin(connection: link, device: names[at].device, token: token, received: [])))
            bench.settle()
        }
        login(0, phone)
        Self.submit(bench, 1)
        bench.settle()
        login(1, web)
        for link in [phone, web] {
            let delivery = bench.take(link).compactMap(\.delivery).first
            #expect(delivery?.from == bytes("/topics/a"))
            #expect(delivery?.message.body == bytes("body 1"))
            #expect(delivery?.isStored == true)
        }
    }

    @Test("A now-or-never topic message reaches connected devices only and is not stored")
    func nowOrNever() {
        let (bench, names) = Self.bench(3)
        bench.post(
            .deviceLogin(
                DeviceLogin(connection: phone, device: names[1].device, token: token, received: [])))
        bench.settle()
        _ = bench.take(phone)
        Self.submit(bench, 1, lifetime: 0)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        let delivery = bench.take(phone).compactMap(\.delivery).first
        #expect(delivery?.from == bytes("/topics/a"))
        #expect(delivery?.isStored == false)
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == [0, 0, 0])
        #expect(bench.store.sharedBodies.isEmpty && bench.store.topicLogs.isEmpty)
    }

    /// Conditions of up to three topics, as truth tables.
    @Test(
        "A condition reaches each matching app instance once",
        arguments: [
            0b1010_1000, 0b1010_0000, 0b1110_1010, 0b1000_0000, 0b0101_0101, 0b0000_0000, 0b1111_1111,
            0b0001_0000,
        ])
    func condition(_ table: Int) throws {
        let truth = UInt32(table) * 0x0101_0101
        let target = try #require(TopicTarget(topics: Array(Self.topics[..<3]), truth: truth))
        let (bench, names) = Self.bench(40) { at in (0..<3).filter { at >> $0 & 1 == 1 } }
        Self.submit(bench, 1, to: target)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == (0..<40).map { table >> ($0 & 7) & 1 })
        #expect(bench.store.topicMessages.isEmpty)
        let bodies = bench.store.sharedBodies.values.flatMap(\.values)
        #expect(bodies.allSatisfy { $0.reference.path == [] }, "from the sender")
    }

    @Test("A condition is resolved with the fewest passes over topics")
    func passes() throws {
        func passes(_ topics: Int, _ truth: UInt32) throws -> [TopicTarget.Pass] {
            try #require(TopicTarget(topics: Array(Self.topics[..<topics]), truth: truth)).passes
        }
        let (a, b, c): (UInt32, UInt32, UInt32) = (0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0)
        #expect(try passes(3, a & (b | c)) == [.topic(0)])
        #expect(try passes(3, (a | b) & c) == [.topic(2)])
        #expect(try passes(3, a | b | c) == [.topic(0), .topic(1), .topic(2)])
        #expect(try passes(2, a & ~b) == [.topic(0)])
        #expect(try passes(1, ~a) == [.everyone])
        #expect(try passes(1, a & ~a) == [])
        #expect(TopicTarget(Self.topics[0]).passes == [.topic(0)])
        #expect(TopicTarget(topics: [], truth: 0) == nil)
        #expect(TopicTarget(topics: Self.topics + Self.topics, truth: 0) == nil)
    }

    @Test("A topic message does not reach another sender's topic of that name")
    func others() {
        let (bench, names) = Self.bench(2)
        Self.submit(bench, 1, from: Harness.otherSender)
        bench.settle()
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == [0, 0])
    }

    @Test(
        "A condition that holds without topics reaches the instance that has replaced another, and not that one"
    )
    func replacedInstance() throws {
        let (bench, names) = Self.bench(2)
        var newer = try #require(bench.store.registrations[names[0]])
        newer.name.number = RegistrationNumber(2)
        newer.instance = bytes("new")
        bench.crash(seed: 3)
        bench.store.registrations[newer.name] = newer
        let target = try #require(TopicTarget(topics: [Self.topics[1]], truth: 0x5555_5555))
        Self.submit(bench, 2, to: target)
        bench.settle()
        bench.collectTopics(names)
        #expect(Self.counts(bench, names, "m2") == [1, 1])
        #expect(bench.store.messages[names[0].device]?.map(\.registration.number) == [2])
    }

    // MARK: Refusals

    @Test("A dry run has no effect; too many topic messages at once are refused until some are done")
    func refusals() {
        let (bench, names) = Self.bench(2)
        Self.submit(bench, 1, dry: true)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        #expect(Self.counts(bench, names) == [0, 0])
        for requestID in 0...UInt32(Limits.Topic.openPerSender) { Self.submit(bench, requestID) }
        bench.runTurns()
        #expect(bench.take(appServer).words == ["nack \(Limits.Topic.openPerSender) topic_rate_exceeded"])
        bench.settle()
        #expect(bench.take(appServer).words.count == Limits.Topic.openPerSender)
        Self.submit(bench, 1)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
    }

    @Test("A message whose batch fails is refused, and reaches no device, even after a restart")
    func failedMessage() {
        let (bench, names) = Self.bench(2)
        Self.submit(bench, 1)
        bench.runTurns()
        for partition in bench.partitions where !partition.batches.isEmpty {
            // It is on disk nevertheless.
            _ = bench.store.apply(partition.batches[0])
            bench.apply(partition, failing: true)
        }
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.store.topicMessages.count == 1, "canary")
        Self.tick(bench)
        #expect(bench.store.topicMessages.isEmpty)
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == [0, 0])
    }

    // MARK: Faults

    /// Kills the process after some steps of the store; all that was not durable is lost.
    @Test(
        "Each subscriber gets a topic message once when the process is killed at any step", arguments: 0..<3)
    func killed(_ seed: UInt64) throws {
        let count = 158
        let target = try #require(
            TopicTarget(topics: Array(Self.topics[..<2]), truth: 0xAAAA_AAAA | 0xCCCC_CCCC))
        var interrupted = 0
        for steps in stride(from: Int(seed), to: 120, by: 3) {
            let (bench, names) = Self.bench(count) { [[0], [1], [0, 1]][$0 % 3] }
            Self.submit(bench, 1, to: target)
            bench.runTurns()
            var random = SeededRandom(seed: seed &* 1_000 &+ UInt64(steps))
            for _ in 0..<steps { Self.step(bench, &random) }
            let isAnswered = bench.take(appServer).words == ["ack 1"]
            if !bench.store.topicMessages.isEmpty { interrupted += 1 }
            bench.crash(seed: 77 + UInt64(steps))
            bench.settle()
            Self.tick(bench)
            Self.tick(bench)
            bench.collectTopics(names)
            let counts = Self.counts(bench, names)
            #expect(counts.allSatisfy { $0 <= 1 }, "\(steps) steps")
            // An unanswered message may be lost, but only as a whole.
            let reached = counts.reduce(0, +)
            #expect(reached == count || (!isAnswered && reached == 0), "\(steps) steps: \(reached)")
            #expect(bench.store.topicMessages.isEmpty, "\(steps) steps")
        }
        #expect(interrupted > 5, "canary: some were in progress")
    }

    /// Does one random step of the store or a partition; batches fail at times, and may then be on disk or not.
    private static func step(_ bench: Harness, _ random: inout SeededRandom, failing: UInt64 = 0) {
        let partition = bench.partitions[Int(random.next() % 3)]
        let fails = failing > 0 && random.next() % failing == 0
        switch random.next() % 5 {
        case 0:
            if fails, let batch = partition.batches.first, random.next() % 2 == 0 {
                _ = bench.store.apply(batch)
            }
            bench.apply(partition, failing: fails)
        case 1: bench.reportOutcome(partition)
        case 2: bench.read(partition, failing: fails)
        case 3: bench.reportAnswer(partition)
        default: bench.turn(partition, events: 40)
        }
    }

    @Test(
        "A message is passed on after failed batches and reads until each subscriber has it once",
        arguments: 0..<12)
    func failing(_ seed: UInt64) {
        let count = 158
        let (bench, names) = Self.bench(count)
        Self.submit(bench, 1)
        bench.settle(rounds: 1)
        bench.runTurns()
        #expect(bench.take(appServer).words == ["ack 1"])
        var random = SeededRandom(seed: seed)
        for round in 0..<60 {
            for name in names where random.next() % 60 == 0 { bench.post(.device(name.device, .topicsDue)) }
            for _ in 0..<30 { Self.step(bench, &random, failing: 3) }
            if round % 4 == 0 {
                bench.advance(milliseconds: 1_500)
                bench.post(.tick)
            }
        }
        for _ in 0..<5 { Self.tick(bench) }
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == [Int](repeating: 1, count: count))
        #expect(bench.store.topicMessages.isEmpty)
        #expect(bench.store.topicLogs.values.allSatisfy { $0.count == 1 })
    }

    @Test("The pairs of a message that has left the log stay until all partitions have it")
    func pairs() throws {
        let (bench, _) = Self.bench(3)
        let owner = PartitionKey.sender(Harness.sender).partition(of: 3)
        Self.submit(bench, 1, key: "k")
        Self.submit(bench, 2, key: "k")
        for _ in 0..<20 {
            bench.runTurns()
            // The others do not store anything.
            bench.apply(bench.partitions[owner])
            bench.reportOutcome(bench.partitions[owner])
            bench.read(bench.partitions[owner])
            bench.reportAnswer(bench.partitions[owner])
        }
        #expect(bench.store.topicLogs[owner]?.map(\.message.messageID) == [bytes("m2")], "canary")
        #expect(bench.store.sharedBodies[owner]?.count == 2)
        bench.settle()
        #expect(bench.store.topicMessages.isEmpty)
        #expect(bench.store.sharedBodies.mapValues(\.count) == [0: 1, 1: 1, 2: 1])
    }

    @Test("A message that expires leaves the logs, and its pairs are removed after the last mailbox")
    func over() {
        let (bench, names) = Self.bench(3)
        Self.submit(bench, 1, lifetime: 60)
        bench.settle(rounds: 1)
        bench.runTurns()
        bench.crash(seed: 5)
        bench.advance(milliseconds: 61_000)
        bench.settle()
        Self.tick(bench)
        Self.tick(bench)
        bench.collectTopics(names)
        #expect(Self.counts(bench, names) == [0, 0, 0])
        #expect(bench.store.topicMessages.isEmpty && bench.store.topicLogs.values.joined().isEmpty)
        for (partition, bodies) in bench.store.sharedBodies {
            for name in bodies.keys {
                bench.post(
                    .expired(.sharedBody(name, partition: partition, expiresAt: bench.now.wall)))
            }
        }
        bench.settle()
        #expect(bench.store.sharedBodies.values.map(\.count).max() == 0)
    }

    @Test(
        "a message whose batch fails is sent once: a later position fails with it, also if the process ends then",
        arguments: [(false, false), (true, false), (false, true)])
    func failedBeforePosition(isOnDisk: Bool, isKilled: Bool) {
        let (bench, names) = TopicLogTests.bench()
        let partition = bench.partitions[0]
        TopicLogTests.publish(bench, 1)
        bench.post(.device(names[0].device, .topicsDue))
        bench.runTurns()
        bench.answerQueries(of: partition)
        // It moves the position, which the change of the subscriptions stores.
        bench.post(TopicLogTests.message(2, lifetime: 0))
        bench.runTurns()
        let requester = Requester(connection: web, requestID: 1)
        bench.post(
            .subscribe(
                TopicRequest(
                    requester: requester, name: names[0], token: token, topic: Self.topics[1], isEnd: false)))
        bench.runTurns()
        #expect(partition.batches.count == 2)
        if isOnDisk { _ = bench.store.apply(partition.batches[0]) }
        bench.apply(partition, failing: true)
        bench.apply(partition)
        if isKilled { bench.crash(seed: 9) }
        for _ in 0..<2 { bench.reportOutcome(bench.partitions[0]) }
        bench.settle()
        TopicLogTests.login(bench, names[0])
        #expect(TopicLogTests.delivered(bench) == ["m1"])
    }
}
