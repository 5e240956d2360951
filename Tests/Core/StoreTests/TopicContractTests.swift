import Basics
import Delivery
import Store
import Testing

/// The store contract for topic messages: those of a sender, the log of a partition, and the pairs that mailboxes share.
@Suite struct TopicContractTests {
    /// The partition of the sender 42 in a store with the usual number.
    private func partition(_ store: any Store) -> Int {
        PartitionKey.sender(SenderID(42)).partition(of: store.partitions)
    }

    /// Returns an entry as it is read: without pairs.
    private func read(_ entry: TopicEntry, _ progress: TopicProgress = TopicProgress()) -> TopicEntry {
        var read = entry
        read.message.body = []
        read.message.apns = entry.message.apns.map { _ in [] }
        read.progress = progress
        return read
    }

    private func entry(_ place: UInt64, _ message: TopicMessage, _ kind: TopicEntry.Kind = .message)
        -> TopicEntry
    {
        TopicEntry(sequence: SequenceNumber(place), kind: kind, message: message)
    }

    /// A message with all fields.
    private func full(_ sequence: UInt64) throws -> TopicMessage {
        let condition = try #require(TopicTarget(topics: Samples.topics, truth: 0x8000_00F1))
        var full = Samples.topicMessage(42, sequence, target: condition)
        full.collapseKey = Array("k".utf8)
        full.restrictedPackage = Array("app".utf8)
        full.priority = .high
        full.wantsReceipt = true
        full.delaysWhileIdle = true
        return full
    }

    @Test(
        "Topic messages of a partition are read page by page with all fields until they are removed",
        arguments: Kind.allCases)
    func messages(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let own = partition(store)
        let (plain, full, last) = (Samples.topicMessage(), try full(2), Samples.topicMessage(42, .max - 1))
        try store.apply(.putTopicMessage(last), .putTopicMessage(full), .putTopicMessage(plain))
        #expect(try store.topicMessages(of: own) == [plain, full, last])
        #expect(try store.topicMessages(of: own, after: plain.name, limit: 1) == [full])
        #expect(try store.topicMessages(of: own, after: Samples.topicName(42, 3)) == [last])
        #expect(try store.topicMessages(of: own, after: last.name).isEmpty)
        #expect(try store.topicMessages(of: (own + 1) % store.partitions).isEmpty)
        #expect(try store.audit().topicJobs == 3)
        try store.apply(.removeTopicMessage(full.name), .removeTopicMessage(plain.name))
        try store.apply(.removeTopicMessage(plain.name))
        #expect(try store.topicMessages(of: own) == [last])
        #expect(try store.audit().topicJobs == 1 && store.audit().holds)
    }

    @Test(
        "A log is read in order, page by page, without pairs, and entries of other logs are separate",
        arguments: Kind.allCases)
    func log(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let messages = [Samples.topicMessage(42, 7), try full(8), Samples.topicMessage(43, 2)]
        let places: [UInt64] = [1, 255, 256]
        let entries = zip(places, messages).map { entry($0, $1) }
        let last = entry(
            .max, Samples.topicMessage(43, 3), .discarded(count: 1_000, through: SequenceNumber(9)))
        for entry in [last] + entries.reversed() { try store.apply(.putTopicEntry(entry, partition: 3)) }
        try store.apply(.putTopicEntry(entries[0], partition: 4))
        let expected = (entries + [last]).map { read($0) }
        #expect(expected[0].message.apns == [] && expected[1].message.apns == nil, "canary")
        #expect(try store.topicLog(of: 3).entries == expected)
        #expect(try store.topicLog(of: 4).entries == [read(entries[0])])
        for limit in 1...5 {
            var found: [TopicEntry] = []
            while case let page = try store.topicLog(
                of: 3, after: found.last?.sequence.number ?? 0, limit: limit
            ).entries, !page.isEmpty {
                #expect(page.count <= limit)
                found += page
            }
            #expect(found == expected, "\(limit)")
        }
        #expect(try store.topicLog(of: 3, after: 2).entries == Array(expected.dropFirst()))
        try store.apply(.removeTopicEntry(SequenceNumber(255), partition: 3))
        try store.apply(.removeTopicEntry(SequenceNumber(1), partition: 3))
        try store.apply(.removeTopicEntry(SequenceNumber(1), partition: 3))
        #expect(try store.topicLog(of: 3).entries == Array(expected.suffix(2)))
        #expect(try store.topicLog(of: 4).entries.count == 1)
        #expect(try store.audit().topicJobs == 0 && store.audit().holds, "a log has no messages to copy")
    }

    @Test(
        "What has become of an entry is read with it, and is gone with it", arguments: Kind.allCases)
    func progress(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let entries = (1...3).map { entry($0, Samples.topicMessage(42, $0)) }
        for entry in entries { try store.apply(.putTopicEntry(entry, partition: 3)) }
        let states = [
            TopicProgress(reached: .max, isOffered: false), TopicProgress(reached: 0, isOffered: true),
        ]
        try store.apply(
            .putTopicProgress(SequenceNumber(3), TopicProgress(reached: 1), partition: 3),
            .putTopicProgress(SequenceNumber(1), states[0], partition: 3),
            .putTopicProgress(SequenceNumber(3), states[1], partition: 3))
        #expect(
            try store.topicLog(of: 3).entries
                == [read(entries[0], states[0]), read(entries[1]), read(entries[2], states[1])])
        // Of an entry that is not there, or is in another log, nothing is recorded.
        try store.apply(
            .putTopicProgress(SequenceNumber(4), states[0], partition: 3),
            .putTopicProgress(SequenceNumber(2), states[0], partition: 4))
        try store.apply(.removeTopicEntry(SequenceNumber(1), partition: 3))
        for place in [1, 4] as [UInt64] {
            try store.apply(.putTopicEntry(entry(place, Samples.topicMessage(42, place)), partition: 3))
        }
        #expect(try store.topicLog(of: 3).entries.map(\.progress.reached) == [0, 0, 0, 0])
        #expect(try store.topicLog(of: 3).entries.map(\.progress.isOffered) == [false, false, true, false])
        #expect(try store.topicLog(of: 4).entries.isEmpty)
    }

    @Test("Each page of a log has all marks of its partition, by source", arguments: Kind.allCases)
    func marks(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 300)
        let store = opened.store
        func mark(_ source: Int, _ through: UInt64) -> TopicMark {
            TopicMark(source: source, through: SequenceNumber(through))
        }
        #expect(try store.topicLog(of: 3).marks.isEmpty)
        try store.apply(
            .putTopicMark(mark(256, .max), partition: 3), .putTopicMark(mark(255, 1), partition: 3),
            .putTopicMark(mark(3, 5), partition: 3), .putTopicMark(mark(0, 7), partition: 4))
        try store.apply(.putTopicMark(mark(255, 2), partition: 3))
        let expected = [mark(3, 5), mark(255, 2), mark(256, .max)]
        #expect(try store.topicLog(of: 3).marks == expected)
        #expect(try store.topicLog(of: 4).marks == [mark(0, 7)])
        try store.apply(
            .putTopicEntry(entry(1, Samples.topicMessage()), partition: 3),
            .putTopicEntry(entry(2, Samples.topicMessage(42, 2)), partition: 3))
        for after in 0...2 as ClosedRange<UInt64> {
            #expect(try store.topicLog(of: 3, after: after, limit: 1).marks == expected)
        }
    }

    @Test(
        "The pairs of a message stay when the message and its entries are removed, and end in each partition alone",
        arguments: Kind.allCases)
    func bodies(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let own = partition(store)
        let other = (own + 1) % store.partitions
        let message = Samples.topicMessage()
        func left() throws -> [Int] {
            try (0..<store.partitions).filter { partition in
                guard
                    case .expired(let entries) = try store.load(
                        .expired(by: message.bodyEndsAt, limit: 9, partition: partition))
                else { return false }
                let end = ExpiredEntry.sharedBody(
                    .topic(message.name), partition: partition, expiresAt: message.bodyEndsAt)
                #expect(entries.isEmpty || entries == [end])
                return !entries.isEmpty
            }
        }
        try store.apply(.putTopicMessage(message))
        #expect(try left() == [own])
        // The partition of the sender has the pairs twice, and once in the store.
        try store.apply(.putTopicEntry(entry(5, message), partition: own))
        try store.apply(.putTopicEntry(entry(9, message), partition: other))
        try store.apply(
            .putTopicEntry(
                entry(9, message, .discarded(count: 2, through: SequenceNumber(8))),
                partition: (own + 2) % store.partitions))
        #expect(try left() == [own, other].sorted(), "an entry for discarded messages has no pairs")
        try store.apply(
            .removeTopicMessage(message.name), .removeTopicEntry(SequenceNumber(5), partition: own),
            .removeTopicEntry(SequenceNumber(9), partition: other))
        #expect(try left() == [own, other].sorted())
        for _ in 0..<2 {
            try store.apply(
                .removeSharedBody(.topic(message.name), partition: own, expiresAt: message.bodyEndsAt))
            #expect(try left() == [other])
        }
    }

    @Test(
        "A mailbox has the pairs of its own partition, or none", arguments: Kind.allCases)
    func joined(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let own = PartitionKey.device(DeviceID(5)).partition(of: store.partitions)
        // The first has a part for APNs.
        let shared = [Samples.topicMessage(), Samples.topicMessage(42, 2)]
        let copies = shared.enumerated().map { Samples.copy(of: $1, 5, UInt64($0 + 1) * 10) }
        // The second is put as a partition puts it that does not keep the pairs.
        var bare = copies[1]
        bare.shared = SharedReference(withoutBodyOf: .topic(shared[1].name))
        bare.body = []
        try store.apply(.putMessage(copies[0]), .putMessage(bare), .putMessage(Samples.message(5, 30)))
        func read() throws -> (page: [StoredMessage], gateway: StoredMessage?) {
            guard
                case .messages(_, let page, isLast: false) = try store.load(
                    .messages(DeviceID(5), after: SequenceNumber(0), limit: 2)),
                case .gatewayMessage(_, _, let message) = try store.load(
                    .gatewayMessage(DeviceID(5), SequenceNumber(20)))
            else { throw StoreError(.corrupt, "another answer") }
            return (page, message)
        }
        for message in shared {
            try store.apply(
                .putTopicEntry(
                    entry(message.name.sequence.number, message), partition: (own + 1) % store.partitions))
        }
        let early = try read()
        #expect(early.page.map(\.sequence.number) == [10, 20], "a page counts them, or it might be empty")
        #expect(early.gateway == early.page.last)
        for (message, copy) in zip(early.page, copies) {
            #expect(!message.hasBody && message.body.isEmpty && message.shared?.name == copy.shared?.name)
            #expect(message.messageID == copy.messageID && message.expiresAt == copy.expiresAt)
        }
        #expect(early.page.map(\.apns) == [[], nil], "its channel is known")
        #expect(try store.figures().skippedRecords == 0, "nothing is damaged")
        try store.apply(.putTopicEntry(entry(2, shared[1]), partition: own))
        #expect(try read().page.map(\.hasBody) == [false, true])
        try store.apply(.putTopicEntry(entry(1, shared[0]), partition: own))
        let complete = try read()
        #expect(complete.page == copies && complete.gateway == copies[1])
        #expect(complete.page.first?.shared?.path == Array("/topics/news".utf8))
        try store.apply(
            .removeSharedBody(.topic(shared[0].name), partition: own, expiresAt: shared[0].bodyEndsAt))
        #expect(try read().page.map(\.hasBody) == [false, true])
        #expect(try store.state(5)?.mailbox.count == 3, "its entry is there to be removed")
    }

    @Test("The position of a device is replaced, and removed with the device", arguments: Kind.allCases)
    func positions(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.state(5)?.topicPosition == SequenceNumber(0))
        try store.apply(
            .putDevice(Samples.device(5)), .putSubscription(Samples.subscription(5, 1)),
            .putTopicPosition(DeviceID(5), SequenceNumber(7)),
            .putTopicPosition(DeviceID(6), SequenceNumber(.max)))
        try store.apply(.putTopicPosition(DeviceID(5), SequenceNumber(8)))
        #expect(try store.state(5)?.topicPosition == SequenceNumber(8))
        #expect(try store.state(5)?.subscriptions.count == 1 && store.state(5)?.record != nil)
        #expect(try store.state(6)?.topicPosition == SequenceNumber(.max) && store.state(6)?.record == nil)
        #expect(try store.devices(after: nil, limit: 9).map(\.device.number) == [5])
        #expect(try store.census(after: nil, examine: 9).devices == 1)
        try store.apply(.removeDevice(DeviceID(5)))
        #expect(try store.state(5)?.topicPosition == SequenceNumber(0))
        #expect(try store.state(6)?.topicPosition == SequenceNumber(.max), "canary")
        #expect(try store.audit().holds)
    }
}
