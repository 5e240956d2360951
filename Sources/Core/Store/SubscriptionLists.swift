import Basics
import Delivery

/// Subscriptions in memory, by device and by topic.
struct SubscriptionLists: Sendable {
    private struct Topic: Hashable {
        var sender: SenderID
        var name: TopicName
    }
    private var byDevice: [DeviceID: [Subscription]] = [:]
    private var byTopic: [Topic: [RegistrationName]] = [:]
    /// Number of subscriptions.
    private(set) var count = 0

    mutating func put(_ subscription: Subscription) {
        remove(subscription)
        let device = subscription.name.device
        byDevice[device, default: []].append(subscription)
        byDevice[device]?.sort { ($0.name, $0.sender, $0.topic) < ($1.name, $1.sender, $1.topic) }
        let topic = Topic(sender: subscription.sender, name: subscription.topic)
        let at = place(of: subscription.name, topic)
        byTopic[topic, default: []].insert(subscription.name, at: at)
        count += 1
    }

    mutating func remove(_ subscription: Subscription) {
        let device = subscription.name.device
        guard
            let at = byDevice[device]?.firstIndex(where: {
                $0.name == subscription.name && $0.sender == subscription.sender
                    && $0.topic == subscription.topic
            })
        else { return }
        byDevice[device]?.remove(at: at)
        if byDevice[device]?.isEmpty == true { byDevice[device] = nil }
        let topic = Topic(sender: subscription.sender, name: subscription.topic)
        let inTopic = place(of: subscription.name, topic)
        byTopic[topic]?.remove(at: inTopic)
        if byTopic[topic]?.isEmpty == true { byTopic[topic] = nil }
        count -= 1
    }

    /// Returns the subscriptions of a device, by registration, sender and topic.
    func all(of device: DeviceID) -> [Subscription] { byDevice[device] ?? [] }

    /// Returns topics with their numbers of subscribers, from a position on.
    func counts(from start: SubscriberPosition?, examine: Int) -> TopicCounts {
        let topics = byTopic.keys.sorted { ($0.sender, $0.name) < ($1.sender, $1.name) }
        var page = TopicCounts(counts: [], next: nil)
        var left = examine
        for topic in topics {
            var subscribers = (byTopic[topic] ?? [])[...]
            if let start {
                guard topic.sender >= start.sender else { continue }
                if topic.sender == start.sender, let first = start.topic {
                    guard topic.name >= first else { continue }
                    if topic.name == first, let after = start.after {
                        subscribers = subscribers.drop { $0 <= after }
                    }
                }
            }
            guard !subscribers.isEmpty else { continue }
            guard left > 0 else { return page }
            let seen = subscribers.prefix(left)
            left -= seen.count
            page.counts.append(
                TopicCount(sender: topic.sender, topic: topic.name, subscribers: seen.count))
            page.next = SubscriberPosition(sender: topic.sender, topic: topic.name, after: seen.last)
            if seen.count < subscribers.count { return page }
        }
        page.next = nil
        return page
    }

    /// Returns the subscribers of a topic, from a position on.
    func subscribers(from start: SubscriberPosition) -> ArraySlice<RegistrationName> {
        guard let name = start.topic else { return [] }
        let all = byTopic[Topic(sender: start.sender, name: name)] ?? []
        return all.drop { name in start.after.map { name <= $0 } ?? false }
    }

    private func place(of name: RegistrationName, _ topic: Topic) -> Int {
        guard let all = byTopic[topic] else { return 0 }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
