import Basics
import Delivery
import Store
import Testing

/// The store contract for topics and installations.
@Suite struct SubscriptionContractTests {
    @Test(
        "A device has its subscriptions, a repeated one has the new time, and the last mutation of a batch counts",
        arguments: Kind.allCases)
    func device(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let first = Samples.subscription(5, 1)
        let later = Samples.subscription(5, 1, since: Samples.now + 9)
        let other = Samples.subscription(5, 2, topic: 2)
        try store.apply(.putSubscription(first), .putSubscription(other), .removeSubscription(first))
        #expect(try store.state(5)?.subscriptions == [other])
        try store.apply(.removeSubscription(first), .putSubscription(first))
        try store.apply(.putSubscription(later))
        #expect(try store.state(5)?.subscriptions == [later, other])
        #expect(try store.audit().subscriptions == 2)
        #expect(try store.audit().holds)
        #expect(try store.state(6)?.subscriptions.isEmpty == true, "canary: another device has none")
    }

    @Test(
        "Topics are counted in order, in pages of any size, from any position",
        arguments: Kind.allCases, [1, 2, 3, 100])
    func counts(_ kind: Kind, examine: Int) throws {
        let opened = try open(kind)
        let store = opened.store
        #expect(try store.topics(from: nil, examine: examine) == TopicCounts(counts: [], next: nil))
        for device in [1, 255, 256, .max] as [UInt64] {
            try store.apply(.putSubscription(Samples.subscription(device, 1, sender: 42)))
        }
        try store.apply(.putSubscription(Samples.subscription(7, 1, topic: 1, sender: 42)))
        try store.apply(.putSubscription(Samples.subscription(7, 2, sender: 43)))
        let topics = Samples.topics
        let all = [
            TopicCount(sender: SenderID(42), topic: topics[0], subscribers: 4),
            TopicCount(sender: SenderID(42), topic: topics[1], subscribers: 1),
            TopicCount(sender: SenderID(43), topic: topics[0], subscribers: 1),
        ].sorted { ($0.sender, $0.topic) < ($1.sender, $1.topic) }
        func gather(
            _ start: SubscriberPosition?, _ isWanted: (TopicCount, Int) -> Bool = { _, _ in true }
        ) throws -> [TopicCount] {
            try TopicCounts.gather(from: start, while: isWanted) { (place) throws(StoreError) in
                let page = try store.topics(from: place, examine: examine)
                #expect(page.counts.reduce(0) { $0 + $1.subscribers } <= examine)
                return page
            }
        }
        #expect(try gather(nil) == all)
        #expect(try gather(SubscriberPosition(sender: SenderID(43))) == Array(all.suffix(1)))
        #expect(try gather(.behind(SenderID(42), all[0].topic)) == Array(all.dropFirst()))
        #expect(
            try gather(nil) { _, before in before < 2 } == Array(all.prefix(2)), "both counts are complete")
        let second = SubscriberPosition(
            sender: SenderID(42), topic: topics[0], after: Samples.subscription(255, 1, sender: 42).name)
        #expect(try gather(second) { count, _ in count.topic == topics[0] }.first?.subscribers == 2)
        #expect(try gather(SubscriberPosition(sender: SenderID(44))).isEmpty)
    }

    @Test("An installation has its own registrations only", arguments: Kind.allCases)
    func installations(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let names = [Samples.subscription(5, 1).name, Samples.subscription(300, 1).name]
        let (first, second) = (Samples.installations[0], Samples.installations[1])
        try store.apply(.linkInstallation(first, names[1]), .linkInstallation(first, names[0]))
        try store.apply(.linkInstallation(second, names[0]), .linkInstallation(first, names[0]))
        #expect(try store.registrations(of: first) == names)
        #expect(try store.registrations(of: second) == [names[0]])
        guard
            case .installation(first, nil, let one, false) = try store.load(
                .installation(first, limit: 1, isForChange: false))
        else {
            Issue.record("no answer")
            return
        }
        #expect(one == [names[0]])
        try store.apply(.unlinkInstallation(first, names[0]), .unlinkInstallation(first, names[0]))
        #expect(try store.registrations(of: first) == [names[1]])
    }

    @Test(
        "The record of an installation is put and removed independently of its registrations",
        arguments: Kind.allCases)
    func records(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let name = Samples.subscription(5, 1).name
        let (first, second) = (Samples.installations[0], Samples.installations[1])
        #expect(try store.record(of: first) == nil)
        try store.apply(.putInstallation(Samples.installation(first)), .linkInstallation(first, name))
        try store.apply(.putInstallation(Samples.installation(second, isEnded: true)))
        #expect(try store.record(of: first) == Samples.installation(first))
        #expect(try store.record(of: second) == Samples.installation(second, isEnded: true))
        #expect(try store.registrations(of: first) == [name])
        #expect(try store.audit().installations == 2 && store.audit().holds)
        try store.apply(.removeInstallation(first))
        #expect(try store.record(of: first) == nil && store.registrations(of: first) == [name])
    }

    @Test(
        "Unused installations are found page by page, and earlier when they have no registrations",
        arguments: Kind.allCases)
    func unused(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 1)
        let store = opened.store
        let ids = (0..<6).map { Array("installation0000000\(100 + $0)".utf8) }
        for (at, id) in ids.enumerated() {
            try store.apply(.putInstallation(Samples.installation(id, usedAt: Int64(10 * at))))
        }
        try store.apply(.linkInstallation(ids[1], Samples.subscription(5, 1).name))
        try store.apply(.linkInstallation(ids[0], Samples.subscription(5, 1).name))
        // A position between installations.
        try store.apply(.linkInstallation(Samples.installations[0], Samples.subscription(5, 1).name))
        for page in 1...8 {
            var found: [[UInt8]] = []
            var start: [UInt8]? = []
            var rounds = 0
            while let from = start, rounds < 50 {
                rounds += 1
                guard
                    case .unusedInstallations(let some, let next, 5, 35) = try store.load(
                        .unusedInstallations(
                            before: 5, unlinkedBefore: 35, from: from, examine: page, limit: page,
                            partition: 0))
                else {
                    Issue.record("no answer")
                    return
                }
                found += some
                start = next
            }
            #expect(start == nil && found == [ids[0], ids[2], ids[3]], "pages of \(page)")
        }
    }

    @Test(
        "the tokens of subscribers are read page by page, and those of other topics are not",
        arguments: Kind.allCases)
    func tokens(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let sender = SenderID(7)
        let names = [(9, 1), (5, 2), (5, 1), (300, 1)].map { device, number in
            RegistrationName(device: DeviceID(UInt64(device)), number: RegistrationNumber(UInt64(number)))
        }
        let topics = try ["news", "new", "newsx"].map { try #require(TopicName(Array($0.utf8))) }
        for name in names {
            try store.apply(
                .putRegistration(
                    Registration(
                        name: name, category: Array("app".utf8), subtype: [], senderText: Array("7".utf8),
                        sender: sender, createdAt: 0)),
                .putSubscription(Subscription(name: name, sender: sender, topic: topics[0], since: 1)))
        }
        for (topic, other) in [(topics[1], sender), (topics[2], sender), (topics[0], SenderID(8))] {
            try store.apply(
                .putSubscription(Subscription(name: names[0], sender: other, topic: topic, since: 1)))
        }
        // A subscription without a registration is left out.
        let lost = RegistrationName(device: DeviceID(6), number: RegistrationNumber(1))
        try store.apply(
            .putSubscription(Subscription(name: lost, sender: sender, topic: topics[0], since: 1)))
        func read(_ limit: Int) throws -> [RegistrationName] {
            var (found, isOver): ([RegistrationName], Bool) = ([], false)
            while !isOver {
                let page = try store.subscribers(
                    from: SubscriberPosition(sender: sender, topic: topics[0], after: found.last),
                    limit: limit)
                #expect(page.count <= limit)
                found += page.map(\.registration)
                isOver = page.isEmpty
            }
            return found
        }
        for limit in [1, 2, 3, 9] { #expect(try read(limit) == names.sorted()) }
        #expect(
            try store.subscribers(from: SubscriberPosition(sender: SenderID(8), topic: topics[0]), limit: 9)
                .count == 1)
        let none = try store.subscribers(
            from: SubscriberPosition(sender: SenderID(8), topic: topics[1]), limit: 9)
        #expect(none.isEmpty)
        #expect(try store.subscribers(from: SubscriberPosition(sender: sender), limit: 9).isEmpty)
    }
}
