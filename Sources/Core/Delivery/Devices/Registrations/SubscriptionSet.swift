import Basics

/// The subscriptions of one registration, packed into one byte array: there are many devices, and most have few topics or none.
struct SubscriptionSet {
    /// For each subscription: sender and time (8 bytes each), length of the topic name (2 bytes), topic name.
    private var bytes: [UInt8] = []
    /// The number of subscriptions.
    private(set) var count = 0

    private static let head = 18

    /// Whether there is a subscription to a topic of a sender.
    func contains(_ sender: SenderID, _ topic: TopicName) -> Bool { range(of: sender, topic) != nil }

    /// Returns the subscription of a registration to a topic, or `nil` if there is none.
    func find(_ sender: SenderID, _ topic: TopicName, of name: RegistrationName) -> Subscription? {
        range(of: sender, topic).flatMap { subscription(at: $0, of: name) }
    }

    /// Adds a subscription if it is not there.
    mutating func insert(_ subscription: Subscription) {
        guard !contains(subscription.sender, subscription.topic) else { return }
        for word in [subscription.sender.number, UInt64(bitPattern: subscription.since)] {
            for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        let length = subscription.topic.bytes.count
        bytes.append(UInt8(length & 0xFF))
        bytes.append(UInt8(length >> 8))
        bytes += subscription.topic.bytes
        count += 1
    }

    /// Removes and returns a subscription. Returns `nil` if it is not there.
    mutating func remove(
        _ sender: SenderID, _ topic: TopicName, of name: RegistrationName
    ) -> Subscription? {
        guard let place = range(of: sender, topic) else { return nil }
        let gone = subscription(at: place, of: name)
        bytes.removeSubrange(place)
        count -= 1
        return gone
    }

    /// Returns all subscriptions, for the registration `name`.
    func all(of name: RegistrationName) -> [Subscription] {
        var all: [Subscription] = []
        var at = 0
        while at < bytes.count {
            let end = end(of: at)
            if let subscription = subscription(at: at..<end, of: name) { all.append(subscription) }
            at = end
        }
        return all
    }

    /// Calls a closure with the topic of each subscription.
    func forEachKey(_ body: (TopicKey) -> Void) {
        var at = 0
        while at < bytes.count {
            let end = end(of: at)
            if let topic = TopicName(bytes[(at + Self.head)..<end]) {
                body(TopicKey(sender: SenderID(bytes.raw.word(at: at)), topic: topic))
            }
            at = end
        }
    }

    private func end(of start: Int) -> Int {
        start + Self.head + Int(bytes[start + 16]) + Int(bytes[start + 17]) << 8
    }

    private func range(of sender: SenderID, _ topic: TopicName) -> Range<Int>? {
        var at = 0
        while at < bytes.count {
            let end = end(of: at)
            if bytes.raw.word(at: at) == sender.number,
                bytes[at + Self.head..<end].elementsEqual(topic.bytes)
            {
                return at..<end
            }
            at = end
        }
        return nil
    }

    private func subscription(at place: Range<Int>, of name: RegistrationName) -> Subscription? {
        TopicName(bytes[place.dropFirst(Self.head)]).map { topic in
            Subscription(
                name: name, sender: SenderID(bytes.raw.word(at: place.lowerBound)), topic: topic,
                since: Int64(bitPattern: bytes.raw.word(at: place.lowerBound + 8)))
        }
    }
}
