import Basics
import Delivery
import Store
import Testing

/// Removed records leave no rows behind.
@Suite struct LeftRowsTests {
    @Test(
        "A topic message that has ended leaves no message, entry, progress, pairs or expiry entry",
        arguments: Kind.allCases)
    func topicMessage(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let message = Samples.topicMessage()
        let place = SequenceNumber(9)
        try store.apply(.putTopicMessage(message))
        for partition in 0..<store.partitions {
            let entry = TopicEntry(sequence: place, message: message)
            try store.apply(.putTopicEntry(entry, partition: partition))
        }
        try store.apply(.putMessage(Samples.copy(of: message, 5, 10)), .putTopicPosition(DeviceID(5), place))
        let own = PartitionKey.device(DeviceID(5)).partition(of: store.partitions)
        try store.apply(.putTopicProgress(place, TopicProgress(reached: 1), partition: own))
        try store.apply(.removeTopicMessage(message.name))
        try store.apply(
            .removeMessage(
                DeviceID(5), SequenceNumber(10), expiresAt: message.expiresAt, reason: .delivered))
        for partition in 0..<store.partitions {
            try store.apply(
                .removeTopicEntry(place, partition: partition),
                .removeSharedBody(.topic(message.name), partition: partition, expiresAt: message.bodyEndsAt))
        }
        try store.apply(.removeDevice(DeviceID(5)))
        try expectNothingLeft(in: store)
    }

    @Test(
        "A removed group leaves no label, and a removed subscription no row of its topic",
        arguments: Kind.allCases)
    func groupsAndTopics(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let group = Samples.group(42, 1, members: 3)
        let subscription = Samples.subscription(5, 1)
        let link = (Samples.installations[0], subscription.name)
        try store.apply(.putGroup(group), .putSubscription(subscription), .linkInstallation(link.0, link.1))
        try store.apply(.listForGateway(subscription))
        try store.apply(.putRegistration(Samples.registration(5, 1)), .putDevice(Samples.device(5)))
        try store.apply(
            .removeGroup(group.name, label: group.label), .removeSubscription(subscription),
            .unlistForGateway(subscription),
            .unlinkInstallation(link.0, link.1), .removeRegistration(subscription.name),
            .removeDevice(DeviceID(5)))
        try expectNothingLeft(in: store)
    }

    @Test("canary: a row that is left is detected")
    func canary() throws {
        let opened = try open(.rocks)
        try opened.store.apply(.linkInstallation(Samples.installations[0], Samples.subscription(5, 1).name))
        withKnownIssue { try expectNothingLeft(in: opened.store) }
    }
}
