import Basics
import Delivery
import Testing

@Suite struct TopicSendTests {
    private static let topics = ["a", "b", "c", "d", "e"].compactMap { TopicName(bytes($0)) }

    /// So many devices with one registration each, over three partitions; `of` says which topics each has.
    private static func bench(
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
        _ bench: Harness, _ ticket: UInt32, to target: TopicTarget = TopicTarget(topics[0]),
        key: String? = nil, lifetime: Int = 3_600, dry: Bool = false, from sender: SenderID = Harness.sender
    ) {
        var submission = Harness.submission(ticket, key: key, lifetime: lifetime)
        submission.entitlement = .account(sender)
        submission.content.isDryRun = dry
        bench.post(.topicSubmitted(TopicSubmission(target: target, submission: submission)))
    }

    /// How many messages of a submission each device has.
    private static func counts(_ bench: Harness, _ names: [RegistrationName], _ id: String = "m1") -> [Int] {
        names.map { name in
            (bench.store.messages[name.device] ?? []).count { $0.messageID == bytes(id) }
        }
    }

    private static func tick(_ bench: Harness, milliseconds: Int64 = 2_000) {
        bench.advance(milliseconds: milliseconds)
        bench.post(.tick)
        bench.settle()
    }

    // MARK: What stays in memory

    /// Sends messages of their own to some devices, then one to a topic that very many have; whether each of those few is
    /// asked for anew by another message of its own.
    private static func askedAnew(_ limit: Int, subscribers: Int) -> (asked: [Bool], devices: Int) {
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = limit
        let (bench, names) = Self.bench(subscribers, settings: settings)
        // Some are subscribers themselves: that a topic met them as well does not make them strangers.
        let few = Array(names[..<3])
        for name in few { bench.post(.submitted(Harness.submission(1, to: name))) }
        bench.settle()
        Self.submit(bench, 2)
        bench.settle()
        bench.asked = []
        for name in few { bench.post(.submitted(Harness.submission(3, to: name))) }
        bench.settle()
        #expect(
            Self.counts(bench, few, "m3") == [1, 1, 1]
                && Self.counts(bench, names, "m2").allSatisfy { $0 == 1 })
        let asked = few.map { name in
            bench.asked.contains { if case .device(name.device) = $0 { true } else { false } }
        }
        return (asked, bench.partitions.reduce(0) { $0 + $1.core.figures.devices })
    }

    @Test("What only a topic has met is forgotten before what something has happened to")
    func passing() {
        let found = Self.askedAnew(4, subscribers: 200)
        #expect(found.asked == [false, false, false])
        #expect(found.devices <= 12, "the limit of each partition holds for all")
        let none = Self.askedAnew(0, subscribers: 200)
        #expect(
            none.asked == [true, true, true] && none.devices == 0,
            "canary: where nothing is kept they are asked for")
    }

    @Test("Of very many subscribers few stay in memory, however many would fit")
    func passingLimit() {
        let (bench, _) = Self.bench(3 * Limits.Device.visitingInMemory + 600)
        Self.submit(bench, 1)
        bench.settle()
        #expect(bench.topicMembers == 3 * Limits.Device.visitingInMemory + 600)
        for partition in bench.partitions {
            #expect(partition.core.figures.devices <= Limits.Device.visitingInMemory)
        }
    }

    // MARK: Whom it reaches

    @Test("All subscribers of a topic get it once, and nobody else; it comes from the topic")
    func topic() {
        let count = Limits.Topic.page * 2 + 3
        let (bench, names) = Self.bench(count) { $0 % 3 == 0 ? [] : $0 % 3 == 1 ? [0] : [0, 1] }
        Self.submit(bench, 1)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        #expect(Self.counts(bench, names) == (0..<count).map { $0 % 3 == 0 ? 0 : 1 })
        #expect(bench.store.topicJobs.isEmpty, "it is done")
        #expect(bench.store.marks.values.joined().isEmpty, "and has left no mark")
        #expect(bench.store.topicBodies.count == 1)
        let first = bench.store.messages[names[1].device]?.first
        #expect(first?.topic?.path == bytes("/topics/a"))
        #expect(first?.body == bytes("body 1"))
        #expect(bench.store.holds)
        #expect(bench.topicJobs == 1)
        #expect(bench.topicJobsOpen == 0)
        #expect(bench.topicMembers == Self.counts(bench, names).reduce(0, +))
    }

    @Test("A device that is there gets it at once, from the topic; one that comes later as well")
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

    @Test("Now or never reaches who is there and stores nothing")
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
        #expect(Self.counts(bench, names) == [0, 0, 0])
        #expect(bench.store.topicBodies.isEmpty)
    }

    /// Conditions of up to three topics, by their tables.
    @Test(
        "A condition reaches those that it holds for, each once",
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
        #expect(Self.counts(bench, names) == (0..<40).map { table >> ($0 & 7) & 1 })
        #expect(bench.store.topicJobs.isEmpty)
        #expect(bench.store.messages.values.joined().allSatisfy { $0.topic?.path == [] }, "from the sender")
    }

    @Test("As few topics are gone through as will do")
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

    @Test("Another sender's topic of that name is another; an instance that was replaced is not reached")
    func others() throws {
        let (bench, names) = Self.bench(2)
        Self.submit(bench, 1, from: Harness.otherSender)
        bench.settle()
        #expect(Self.counts(bench, names) == [0, 0])
        var newer = try #require(bench.store.registrations[names[0]])
        newer.name.number = RegistrationNumber(2)
        newer.instance = bytes("new")
        bench.store.registrations[newer.name] = newer
        bench.crash(seed: 3)
        bench.store.registrations[newer.name] = newer
        Self.submit(bench, 2)
        bench.settle()
        #expect(Self.counts(bench, names, "m2") == [0, 1])
    }

    // MARK: Refusals

    @Test("A dry run does nothing; too many at once are refused, and room comes again")
    func refusals() {
        let (bench, names) = Self.bench(2)
        Self.submit(bench, 1, dry: true)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        #expect(Self.counts(bench, names) == [0, 0])
        for ticket in 0...UInt32(Limits.Topic.jobsPerSender) { Self.submit(bench, ticket, lifetime: 0) }
        bench.runTurns()
        let words = bench.take(appServer).words
        #expect(words.count == Limits.Topic.jobsPerSender + 1)
        #expect(words.last == "nack \(Limits.Topic.jobsPerSender) topic_rate_exceeded")
        #expect(words.count { $0.hasPrefix("nack") } == 1)
        bench.settle()
        Self.submit(bench, 1)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
    }

    @Test("A job whose batch fails is refused, and runs neither now nor after a restart")
    func failedJob() {
        let (bench, names) = Self.bench(2)
        Self.submit(bench, 1)
        bench.runTurns()
        for partition in bench.partitions where !partition.batches.isEmpty {
            // It is on disk all the same.
            _ = bench.store.apply(partition.batches[0])
            bench.apply(partition, failing: true)
        }
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable"])
        #expect(bench.store.topicJobs.count == 1, "canary")
        Self.tick(bench)
        #expect(bench.store.topicJobs.isEmpty)
        #expect(Self.counts(bench, names) == [0, 0])
    }

    // MARK: Faults

    @Test("Pages of few jobs are under way at once, and each job has its turn")
    func fairness() {
        let (bench, names) = Self.bench(300)
        for ticket in 1...9 { Self.submit(bench, UInt32(ticket)) }
        bench.runTurns()
        for partition in bench.partitions {
            bench.apply(partition)
            bench.tellOutcome(partition)
        }
        bench.runTurns()
        #expect(bench.asked.count { $0.word == "topic page" } == Limits.Topic.pagesInFlight)
        bench.settle()
        for ticket in 1...9 {
            #expect(Self.counts(bench, names, "m\(ticket)") == [Int](repeating: 1, count: 300))
        }
    }

    /// The process dies after so many steps of the store; all that was not durable is gone.
    @Test("Killed at any step, nobody is left out and nobody gets it twice", arguments: 0..<3)
    func killed(_ seed: UInt64) throws {
        let count = Limits.Topic.page + 30
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
            if !bench.store.topicJobs.isEmpty { interrupted += 1 }
            bench.crash(seed: 77 + UInt64(steps))
            bench.settle()
            Self.tick(bench)
            Self.tick(bench)
            let counts = Self.counts(bench, names)
            #expect(counts.allSatisfy { $0 <= 1 }, "\(steps) steps")
            // What was not answered may have been lost, but only whole.
            let reached = counts.reduce(0, +)
            #expect(reached == count || (!isAnswered && reached == 0), "\(steps) steps: \(reached)")
            #expect(bench.store.topicJobs.isEmpty, "\(steps) steps")
            #expect(bench.store.marks.values.joined().isEmpty, "\(steps) steps")
        }
        #expect(interrupted > 5, "canary: some were under way")
    }

    /// One thing that the store or a partition does, at random; batches fail now and then, and leave what they like.
    private static func step(_ bench: Harness, _ random: inout SeededRandom, failing: UInt64 = 0) {
        let partition = bench.partitions[Int(random.next() % 3)]
        let fails = failing > 0 && random.next() % failing == 0
        switch random.next() % 5 {
        case 0:
            if fails, let batch = partition.batches.first, random.next() % 2 == 0 {
                _ = bench.store.apply(batch)
            }
            bench.apply(partition, failing: fails)
        case 1: bench.tellOutcome(partition)
        case 2: bench.read(partition, failing: fails)
        case 3: bench.tellAnswer(partition)
        default: bench.turn(partition, events: 40)
        }
    }

    @Test("Batches and reads that fail: the job goes on until all have it, once", arguments: 0..<12)
    func failing(_ seed: UInt64) {
        let count = Limits.Topic.page + 30
        let (bench, names) = Self.bench(count)
        Self.submit(bench, 1)
        bench.settle(rounds: 1)
        bench.runTurns()
        #expect(bench.take(appServer).words == ["ack 1"])
        var random = SeededRandom(seed: seed)
        for round in 0..<60 {
            for _ in 0..<30 { Self.step(bench, &random, failing: 3) }
            if round % 4 == 0 {
                bench.advance(milliseconds: 1_500)
                bench.post(.tick)
            }
        }
        for _ in 0..<5 { Self.tick(bench) }
        #expect(Self.counts(bench, names) == [Int](repeating: 1, count: count))
        #expect(bench.store.topicJobs.isEmpty)
        #expect(bench.store.marks.values.joined().isEmpty)
    }

    @Test("A job that was interrupted and whose time is over leaves no mark")
    func overWithMarks() throws {
        let (bench, names) = Self.bench(3)
        Self.submit(bench, 1, lifetime: 60)
        bench.settle(rounds: 1)
        bench.runTurns()
        let job = try #require(bench.store.topicJobs.first)
        bench.crash(seed: 5)
        bench.store.marks[job.name] = [names[0], names[2]]
        bench.advance(milliseconds: 61_000)
        bench.settle()
        Self.tick(bench)
        #expect(bench.store.topicJobs.isEmpty)
        #expect(bench.store.marks.values.joined().isEmpty)
        #expect(Self.counts(bench, names) == [0, 0, 0])
    }

    @Test("A job whose time is over ends; what it left is not sent, and the body goes after the messages")
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
        #expect(Self.counts(bench, names) == [0, 0, 0])
        #expect(bench.store.topicJobs.isEmpty)
        #expect(bench.store.topicBodies.count == 1)
        let job = bench.store.topicBodies[0]
        bench.post(.expired(.topicBody(job, expiresAt: bench.now.wall)))
        bench.settle()
        #expect(bench.store.topicBodies.isEmpty)
    }
}
