import Basics
import Delivery
import Store
import Testing

/// Edge cases of the store contract: empty pages, largest numbers, reused keys.
@Suite struct StoreEdgesTests {
    private static let sender = SenderID(42)

    private func group(_ number: UInt64, _ label: String) -> GroupRecord {
        GroupRecord(
            name: GroupName(sender: Self.sender, number: number), label: Array(label.utf8),
            members: [TokenName(RegistrationName(device: DeviceID(1), number: RegistrationNumber(2)))],
            createdAt: Samples.now)
    }

    private func labelled(_ store: any Store, _ label: String) throws -> GroupRecord? {
        guard
            case .groupLabelled(_, _, let group) = try store.load(
                .groupLabelled(Self.sender, Array(label.utf8)))
        else { return nil }
        return group
    }

    @Test("A page is empty and the last one after the highest sequence", arguments: Kind.allCases)
    func behind(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        try store.apply(
            .putMessage(Samples.message(5, .max)), .putMessage(Samples.message(.max, 3)),
            .putUpstream(Samples.upstream(8, .max), now: Samples.now))
        guard
            case .messages(_, let messages, true) = try store.load(
                .messages(DeviceID(5), after: SequenceNumber(.max), limit: 9)),
            case .upstream(_, let upstream, true) = try store.load(
                .upstream(SenderID(8), after: SequenceNumber(.max), limit: 9))
        else {
            Issue.record("the page is not the last one")
            return
        }
        #expect(messages.isEmpty && upstream.isEmpty)
        #expect(try store.mailbox(.max).map(\.sequence.number) == [3])
        #expect(try store.mailbox(5, after: .max - 1).count == 1, "canary")
    }

    @Test("An expired entry names its kind and its owner", arguments: Kind.allCases)
    func ends(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let upstream = Samples.upstream(8, 3, device: 6, ends: 100)
        try store.apply(
            .putMessage(Samples.message(5, 2, ends: 100)),
            .putUpstream(upstream, now: 0),
            .putUpstream(Samples.upstream(7, 3, device: 6, ends: 100), now: 0))
        #expect(try store.expired(by: 100, limit: 0).isEmpty)
        #expect(try store.expired(by: 99).isEmpty)
        for _ in 0..<2 {
            #expect(
                try store.expired(by: 100) == [
                    .message(DeviceID(5), SequenceNumber(2), expiresAt: 100),
                    .upstream(SenderID(7), SequenceNumber(3), expiresAt: 100, author: upstream.author),
                    .upstream(SenderID(8), SequenceNumber(3), expiresAt: 100, author: upstream.author),
                ])
        }
    }

    @Test("A sweep finds the expiry of a body after an empty sweep", arguments: Kind.allCases)
    func endOfBody(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let message = Samples.topicMessage()
        let entry = TopicEntry(sequence: SequenceNumber(9), message: message)
        #expect(try store.expired(by: .max).isEmpty)
        try store.apply(.putTopicEntry(entry, partition: 3))
        #expect(try store.expired(by: message.bodyEndsAt - 1).isEmpty)
        #expect(
            try store.expired(by: message.bodyEndsAt)
                == [.sharedBody(.topic(message.name), partition: 3, expiresAt: message.bodyEndsAt)])
    }

    @Test("A reused number, label or key shows the new record only", arguments: Kind.allCases)
    func usedAgain(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let (first, second) = (group(10, "a"), group(10, "b"))
        try store.apply(.putGroup(first))
        try store.apply(.removeGroup(first.name, label: first.label))
        try store.apply(.putGroup(second))
        #expect(try labelled(store, "a") == nil)
        #expect(try labelled(store, "b") == second)
        let third = group(11, "a")
        try store.apply(.putGroup(third))
        #expect(try labelled(store, "a") == third)
        // The same for the key of a removed message.
        let (old, new) = (Samples.message(5, 1), Samples.message(5, 1, ends: Samples.now + 9, body: [7]))
        for message in [old, new, old] {
            try store.apply(.putMessage(message))
            #expect(try store.mailbox(5) == [message])
            try store.apply(
                .removeMessage(
                    DeviceID(5), SequenceNumber(1), expiresAt: message.expiresAt, reason: .delivered))
            #expect(try store.mailbox(5).isEmpty && store.expired(by: .max).isEmpty)
        }
        #expect(try store.audit().downstream.delivered == 3)
    }

    @Test("A group is not found by its former label", arguments: Kind.onDisk)
    func relabelled(_ kind: Kind) throws {
        let opened = try open(kind)
        try opened.store.apply(.putGroup(group(10, "a")))
        try opened.store.apply(.putGroup(group(10, "b")))
        #expect(try labelled(opened.store, "a") == nil)
        #expect(try labelled(opened.store, "b") == group(10, "b"))
    }

    @Test("A page that takes the last message or entry is the last page", arguments: Kind.allCases)
    func lastPage(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 1)
        let store = opened.store
        for sequence in 1...2 as ClosedRange<UInt64> {
            let message = Samples.topicMessage(42, sequence)
            let entry = TopicEntry(sequence: message.name.sequence, message: message)
            try store.apply(.putTopicMessage(message), .putTopicEntry(entry, partition: 0))
        }
        for (limit, isLast) in [(1, false), (2, true), (3, true)] {
            guard
                case .topicMessages(let page, isLast) = try store.load(
                    .topicMessages(after: nil, limit: limit, partition: 0)),
                case .topicEntries(let entries, _, isLast) = try store.load(
                    .topicEntries(after: SequenceNumber(0), limit: limit, partition: 0))
            else {
                Issue.record("\(limit) messages")
                continue
            }
            #expect(page.count == min(limit, 2) && entries.count == page.count)
        }
        #expect(try store.topicLog(of: 0, after: .max).entries.isEmpty)
    }

    @Test("A page of topics contains no topic without counted subscribers", arguments: Kind.allCases)
    func countedNothing(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        for device in 1...4 as ClosedRange<UInt64> {
            try store.apply(.putSubscription(Samples.subscription(device, 1, sender: 42)))
        }
        try store.apply(.putSubscription(Samples.subscription(7, 1, topic: 1, sender: 42)))
        let counts = [
            TopicCount(sender: Self.sender, topic: Samples.topics[0], subscribers: 4),
            TopicCount(sender: Self.sender, topic: Samples.topics[1], subscribers: 1),
        ]
        let first = try store.topics(from: nil, examine: 4)
        #expect(first.counts == [counts[0]])
        #expect(try store.topics(from: first.next, examine: 4) == TopicCounts(counts: [counts[1]], next: nil))
        #expect(try store.topics(from: nil, examine: 9) == TopicCounts(counts: counts, next: nil))
    }
}
