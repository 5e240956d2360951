import Basics
import Delivery
import Store
import Testing

/// The store contract for finding the iOS apps that a topic message is for.
@Suite struct TopicDeviceTests {
    /// A token of Apple makes the app one of iOS.
    private func app(_ device: UInt64, _ number: UInt64, sender: UInt64 = 42) -> Registration {
        var registration = Samples.registration(device, number)
        registration.sender = SenderID(sender)
        registration.apnsToken = [1, 2, 3]
        return registration
    }

    private func listed(_ device: UInt64, _ number: UInt64 = 1, topic: Int = 0, sender: UInt64 = 42)
        -> Subscription
    {
        Samples.subscription(device, number, topic: topic, sender: sender)
    }

    private func numbers(
        _ store: any Store, _ sender: UInt64, _ topic: TopicName?, of partition: Int = 0, limit: Int = 2
    ) throws -> [UInt64] {
        try store.topicDevices(sender, topic, of: partition, limit: limit).map(\.number)
    }

    @Test(
        "Subscribers are read page by page, and topics of other senders are separate",
        arguments: Kind.allCases)
    func pages(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 1)
        let store = opened.store
        // Numbers of two bytes, so that the order is that of the numbers.
        let devices: [UInt64] = [1, 255, 256, 300, .max]
        for device in devices.reversed() {
            for number in [2, 1, .max] as [UInt64] {
                try store.apply(.listForGateway(listed(device, number)))
            }
        }
        try store.apply(.listForGateway(listed(7, sender: 43)), .listForGateway(listed(8, topic: 1)))
        try store.apply(.listForGateway(listed(9, topic: 2)), .listForGateway(listed(9, topic: 2)))
        for limit in 1...6 {
            #expect(try numbers(store, 42, Samples.topics[0], limit: limit) == devices, "\(limit)")
        }
        guard
            case .topicDevices(let page, next: nil) = try store.load(
                .topicDevices(SenderID(42), of: Samples.topics[0], after: nil, limit: 5, partition: 0))
        else { throw StoreError(.corrupt, "a page that takes the last device is not the last page") }
        #expect(page.count == 5)
        #expect(try numbers(store, 43, Samples.topics[0]) == [7])
        #expect(try numbers(store, 42, Samples.topics[1]) == [8])
        #expect(try numbers(store, 42, Samples.topics[2]) == [9])
        #expect(try numbers(store, 44, Samples.topics[0]).isEmpty)
        // A page continues from a device that has left meanwhile, and one app that leaves does not take the others along.
        for number in [1, 2, .max] as [UInt64] { try store.apply(.unlistForGateway(listed(255, number))) }
        try store.apply(.unlistForGateway(listed(300, 1)), .unlistForGateway(listed(300, 1)))
        guard
            case .topicDevices(let rest, next: nil) = try store.load(
                .topicDevices(
                    SenderID(42), of: Samples.topics[0], after: DeviceID(255), limit: 9, partition: 0))
        else { throw StoreError(.corrupt, "another answer") }
        #expect(rest.map(\.number) == [256, 300, .max])
        #expect(try store.topics(from: nil, examine: 9).counts.isEmpty, "the list is not that of subscribers")
        #expect(try store.state(1)?.subscriptions.isEmpty == true)
    }

    @Test("Each partition has the list of its own devices", arguments: Kind.allCases)
    func partitions(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 4)
        let store = opened.store
        let devices = (1...40 as ClosedRange<UInt64>)
        for device in devices {
            try store.apply(
                .listForGateway(listed(device)), .putDevice(Samples.device(device)),
                .putRegistration(app(device, 1)))
        }
        for topic in [Samples.topics[0], nil] {
            var found: [UInt64] = []
            for partition in 0..<4 {
                let own = try numbers(store, 42, topic, of: partition, limit: 3)
                #expect(own.allSatisfy { PartitionKey.device(DeviceID($0)).partition(of: 4) == partition })
                #expect(own == own.sorted() && !own.isEmpty)
                found += own
            }
            #expect(found.sorted() == Array(devices))
        }
    }

    @Test(
        "Without a topic the devices with an iOS app that the sender may address are found",
        arguments: Kind.allCases)
    func everyone(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 1)
        let store = opened.store
        for device in [1, 2, 3, 4, 5, 300, .max] as [UInt64] {
            try store.apply(
                .putDevice(Samples.device(device)), .putTopicPosition(DeviceID(device), SequenceNumber(9)),
                .putSubscription(listed(device)))
        }
        var second = app(300, 7, sender: 43)
        second.otherSenders = [SenderID(42)]
        var web = app(4, 1)
        web.web = Samples.keys(4)
        // An app of Android, of another sender, of the web; no app; two of iOS on one device, and the second one of two.
        try store.apply(
            .putRegistration(Samples.registration(1, 1)), .putRegistration(app(2, 1, sender: 43)),
            .putRegistration(web), .putRegistration(app(5, 1)), .putRegistration(app(5, 2)),
            .putRegistration(Samples.registration(300, 1)), .putRegistration(second),
            .putRegistration(app(.max, 1)))
        for limit in 1...4 {
            #expect(try numbers(store, 42, nil, limit: limit) == [5, 300, .max], "\(limit)")
        }
        #expect(try numbers(store, 43, nil) == [2, 300])
        #expect(try numbers(store, 44, nil).isEmpty)
        try store.apply(.removeRegistration(app(5, 1).name))
        #expect(try numbers(store, 42, nil) == [5, 300, .max])
        try store.apply(.removeRegistration(app(5, 2).name), .removeDevice(DeviceID(300)))
        #expect(try numbers(store, 42, nil) == [.max])
    }

    @Test(
        "A search finds a device after more others than one answer examines",
        arguments: [Kind.memory, .rocks])
    func behindMany(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 1)
        let store = opened.store
        let count = UInt64(Limits.Topic.scanRows)
        let devices = (1...count + 1).map { Mutation.putDevice(Samples.device($0)) }
        _ = try store.commit([WriteBatch(batchNumber: 1, mutations: devices, isDurable: false)])
        for last in [count, count + 1] {
            try store.apply(.putRegistration(app(last, 1)))
            #expect(try numbers(store, 42, nil) == [last])
            try store.apply(.removeRegistration(app(last, 1).name))
        }
    }
}
