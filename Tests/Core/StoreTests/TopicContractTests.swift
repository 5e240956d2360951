import Basics
import Delivery
import Store
import Testing

/// The store contract for topic jobs.
@Suite struct TopicContractTests {
    private static let sender = SenderID(42)
    private static let topic = Samples.topics[0]

    private static func job(
        _ sequence: UInt64 = 1, target: TopicTarget = TopicTarget(topic), lifetime: Int64 = 60_000
    ) -> TopicJob {
        TopicJob(
            name: Samples.job(sender, sequence), salt: 9, target: target, messageID: Array("m".utf8),
            acceptedAt: Samples.now, expiresAt: Samples.now + lifetime, body: Array("pairs".utf8),
            apns: sequence % 2 == 0 ? nil : Array("{}".utf8))
    }

    private static func message(_ device: UInt64, of job: TopicJob) -> StoredMessage {
        var message = StoredMessage(
            device: DeviceID(device), sequence: SequenceNumber(device + 7), salt: 3,
            registration: RegistrationNumber(1), sender: sender, messageID: job.messageID,
            acceptedAt: job.acceptedAt, expiresAt: job.expiresAt, body: job.body)
        message.topic = TopicReference(job: job.name, path: job.target.path)
        message.apns = job.apns
        return message
    }

    private static func name(_ device: UInt64) -> RegistrationName {
        RegistrationName(device: DeviceID(device), number: RegistrationNumber(1))
    }

    /// Returns a page of the subscribers of a topic.
    private func names(_ store: any Store, _ job: TopicJobName) throws -> [RegistrationName] {
        try #require(try page(store, job)).names
    }

    private func jobs(_ store: any Store, after: TopicJobName? = nil, limit: Int = 9) throws -> [TopicJob] {
        let partition = PartitionKey.sender(SenderID(42)).partition(of: store.partitions)
        guard
            case .topicJobs(let jobs, let isLast) = try store.load(
                .topicJobs(after: after, limit: limit, partition: partition))
        else { return [] }
        #expect(isLast == (jobs.count < limit))
        return jobs
    }

    private func page(
        _ store: any Store, _ job: TopicJobName, _ topic: TopicName? = topic, after: RegistrationName? = nil,
        limit: Int = 9
    ) throws -> TopicPage? {
        guard
            case .topicPage(job, let page) = try store.load(
                .topicPage(job, of: topic, after: after, limit: limit))
        else { return nil }
        return page
    }

    @Test(
        "Jobs are read page by page with all fields until they are removed",
        arguments: Kind.allCases)
    func life(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let condition = try #require(TopicTarget(topics: Samples.topics, truth: 0x8000_00F1))
        var full = Self.job(2, target: condition)
        full.collapseKey = Array("k".utf8)
        full.restrictedPackage = Array("app".utf8)
        full.priority = .high
        full.wantsReceipt = true
        full.delaysWhileIdle = true
        let (plain, last) = (Self.job(1), Self.job(.max - 1))
        try store.apply(.putTopicJob(last), .putTopicJob(full), .putTopicJob(plain))
        #expect(try jobs(store) == [plain, full, last])
        #expect(try jobs(store, after: plain.name, limit: 1) == [full])
        full.cursor = TopicCursor(pass: 2, after: Self.name(.max), reached: 77)
        try store.apply(.advanceTopicJob(full.name, full.cursor, marked: []))
        #expect(try jobs(store, after: plain.name).first == full)
        #expect(try store.audit().topicJobs == 3)
        try store.apply(.removeTopicJob(full.name, marked: []), .removeTopicJob(plain.name, marked: []))
        #expect(try jobs(store) == [last])
        #expect(try store.audit().holds)
    }

    @Test(
        "A page leaves out registrations with a mark until the cursor has moved past them",
        arguments: Kind.allCases)
    func marks(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let (job, other) = (Self.job(1), Self.job(2))
        try store.apply(.putTopicJob(job), .putTopicJob(other))
        let devices: [UInt64] = [1, 2, 255, 256, .max]
        for device in devices {
            try store.apply(.putSubscription(Samples.subscription(device, 1, sender: 42)))
        }
        try store.apply(.putMessage(Self.message(2, of: job)), .putMessage(Self.message(256, of: job)))
        #expect(
            try page(store, job.name)
                == TopicPage(
                    names: [Self.name(1), Self.name(255), Self.name(.max)],
                    marked: [Self.name(2), Self.name(256)], next: nil))
        // The next page starts after the last examined registration, marked or not.
        #expect(
            try page(store, job.name, limit: 2)
                == TopicPage(names: [Self.name(1)], marked: [Self.name(2)], next: Self.name(2)))
        #expect(try page(store, job.name, after: Self.name(2), limit: 2)?.names == [Self.name(255)])
        // A registration that has left the topic is not returned, but its mark is, to be removed.
        try store.apply(.removeSubscription(Samples.subscription(256, 1, sender: 42)))
        #expect(
            try page(store, job.name, after: Self.name(2))
                == TopicPage(
                    names: [Self.name(255), Self.name(.max)], marked: [Self.name(256)], next: nil))
        #expect(
            try page(store, job.name, limit: 0)
                == TopicPage(names: [], marked: [Self.name(2), Self.name(256)], next: nil))
        #expect(
            try page(store, job.name, nil, after: Self.name(2), limit: 0)?.marked == [Self.name(256)])
        try store.apply(.putSubscription(Samples.subscription(256, 1, sender: 42)))
        #expect(try page(store, other.name)?.names.count == 5, "canary: another job's marks are its own")
        // The mark stays when its message was removed.
        try store.apply(
            .removeMessage(DeviceID(2), SequenceNumber(9), expiresAt: job.expiresAt, reason: .delivered))
        #expect(try !names(store, job.name).contains(Self.name(2)))
        let cursor = TopicCursor(pass: 0, after: Self.name(2), reached: 2)
        try store.apply(.advanceTopicJob(job.name, cursor, marked: [Self.name(1), Self.name(2)]))
        #expect(try names(store, job.name).contains(Self.name(2)))
        #expect(try page(store, job.name, after: Self.name(2))?.names == [Self.name(255), Self.name(.max)])
        try store.apply(.removeTopicJob(job.name, marked: [Self.name(256)]))
        #expect(try page(store, job.name)?.names.count == 5)
    }

    @Test(
        "Messages share the body of their job, which outlives the job and expires after them",
        arguments: Kind.allCases
    )
    func body(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let job = Self.job()
        let message = Self.message(5, of: job)
        var own = message
        own.topic = nil
        own.sequence = SequenceNumber(90)
        own.body = Array("own".utf8)
        try store.apply(.putTopicJob(job))
        try store.apply(.putMessage(message), .putMessage(own))
        try store.apply(.removeTopicJob(job.name, marked: [Self.name(5)]))
        guard
            case .messages(_, let found, true) = try store.load(
                .messages(DeviceID(5), after: SequenceNumber(0), limit: 9))
        else {
            Issue.record("no page")
            return
        }
        #expect(found == [message, own])
        #expect(found.first?.body == job.body)
        #expect(found.first?.topic?.path == Array("/topics/news".utf8))
        let end = ExpiredEntry.topicBody(job.name, expiresAt: job.bodyEndsAt)
        let due = try store.expired(by: job.bodyEndsAt, limit: 9)
        #expect(due.last == end)
        #expect(due.count == 3)
        try store.apply(.removeTopicBody(job.name, expiresAt: job.bodyEndsAt))
        #expect(try store.expired(by: job.bodyEndsAt, limit: 9).count == 2)
    }

    @Test(
        "A message whose shared body is not there is read without it, and with it once it is",
        arguments: Kind.allCases)
    func lateBody(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        // The first has a part for APNs.
        let jobs = [Self.job(1), Self.job(2)]
        let messages = jobs.map { job in
            var message = Self.message(5, of: job)
            message.sequence = SequenceNumber(job.name.sequence.number * 10)
            return message
        }
        func read() throws -> (page: [StoredMessage], gateway: StoredMessage?) {
            guard
                case .messages(_, let page, isLast: false) = try store.load(
                    .messages(DeviceID(5), after: SequenceNumber(0), limit: 2)),
                case .gatewayMessage(_, _, let message) = try store.load(
                    .gatewayMessage(DeviceID(5), SequenceNumber(20)))
            else { return ([], nil) }
            return (page, message)
        }
        try store.apply(.putMessage(messages[0]), .putMessage(messages[1]))
        try store.apply(.putMessage(Samples.message(5, 30)))
        let early = try read()
        #expect(early.page.map(\.sequence.number) == [10, 20], "a page counts them, or it might be empty")
        #expect(early.gateway == early.page.last)
        for (message, job) in zip(early.page, jobs) {
            #expect(!message.hasBody && message.body.isEmpty && message.topic?.job == job.name)
            #expect(message.messageID == job.messageID && message.expiresAt == job.expiresAt)
        }
        #expect(early.page.map(\.apns) == [[], nil], "its channel is known")
        #expect(try store.figures().skippedRecords == 0, "nothing is damaged")
        try store.apply(.putTopicJob(jobs[1]))
        #expect(try read().page.map(\.hasBody) == [false, true])
        try store.apply(.putTopicJob(jobs[0]))
        let complete = try read()
        #expect(complete.page == messages && complete.gateway == messages[1])
    }

    @Test(
        "A page without a topic returns all registrations that a sender may address",
        arguments: Kind.allCases)
    func everyone(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        var mine: [RegistrationName] = []
        for device in [1, 2, 300, .max] as [UInt64] {
            for number in [1, 2] as [UInt64] {
                var registration = Samples.registration(device, number)
                registration.sender = number == 1 ? Self.sender : SenderID(43)
                registration.otherSenders = device == 300 ? [Self.sender] : []
                if registration.allows(Self.sender) { mine.append(registration.name) }
                try store.apply(.putRegistration(registration))
                try store.apply(.putSubscription(Samples.subscription(device, number, sender: 42)))
            }
            try store.apply(.putDevice(Samples.device(device)))
        }
        let job = Self.job()
        var found: [RegistrationName] = []
        var after: RegistrationName?
        repeat {
            guard let page = try page(store, job.name, nil, after: after, limit: 2) else { break }
            found += page.names
            after = page.next
        } while after != nil && found.count < 20
        #expect(found == mine)
        #expect(mine.count == 5, "canary")
        try store.apply(.putTopicJob(job), .putMessage(Self.message(300, of: job)))
        #expect(try page(store, job.name, nil)?.names == mine.filter { $0 != Self.name(300) })
    }
}
