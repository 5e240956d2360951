public import Basics
public import Delivery

/// A position in the index of subscribers, which is sorted by sender, topic and registration.
public struct SubscriberPosition: Sendable, Equatable {
    /// The sender that owns the topic.
    public var sender: SenderID
    /// The topic. `nil` stands for the position before the first topic of the sender.
    public var topic: TopicName?
    /// The subscriber before the position. `nil` stands for the position before the first subscriber.
    public var after: RegistrationName?

    /// Creates a position from its parts.
    public init(sender: SenderID, topic: TopicName? = nil, after: RegistrationName? = nil) {
        self.sender = sender
        self.topic = topic
        self.after = after
    }

    /// Returns the position after all subscribers of a topic.
    public static func behind(_ sender: SenderID, _ topic: TopicName) -> SubscriberPosition {
        SubscriberPosition(
            sender: sender, topic: topic,
            after: RegistrationName(device: DeviceID(.max), number: RegistrationNumber(.max)))
    }
}

/// The number of subscribers of a topic.
public struct TopicCount: Sendable, Equatable {
    /// The sender that owns the topic.
    public var sender: SenderID
    /// The topic.
    public var topic: TopicName
    /// Number of subscribers counted.
    public var subscribers: Int

    /// Creates a count from its parts.
    public init(sender: SenderID, topic: TopicName, subscribers: Int) {
        self.sender = sender
        self.topic = topic
        self.subscribers = subscribers
    }
}

/// A page of topics with their numbers of subscribers.
public struct TopicCounts: Sendable, Equatable {
    /// The counts in order. Those of the first and the last topic may be partial.
    public var counts: [TopicCount]
    /// The start of the next page. `nil` if this is the last one.
    public var next: SubscriberPosition?

    /// Creates a page from its parts.
    public init(counts: [TopicCount], next: SubscriberPosition?) {
        self.counts = counts
        self.next = next
    }

    /// Reads pages until a topic is not wanted or no page follows. Returns complete counts only.
    ///
    /// `read` returns the page at a position.
    public static func gather<Failure: Error>(
        from start: SubscriberPosition?, while isWanted: (TopicCount, _ before: Int) -> Bool,
        _ read: (SubscriberPosition?) throws(Failure) -> TopicCounts
    ) throws(Failure) -> [TopicCount] {
        var found: [TopicCount] = []
        var place = start
        repeat {
            let page = try read(place)
            for count in page.counts {
                if let last = found.last, last.sender == count.sender, last.topic == count.topic {
                    found[found.count - 1].subscribers += count.subscribers
                } else if isWanted(count, found.count) {
                    found.append(count)
                } else {
                    return found
                }
            }
            place = page.next
        } while place != nil
        return found
    }
}
