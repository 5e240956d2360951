public import Basics
public import Delivery

/// A place among the subscribers of all topics: their order is that of senders, names of topics and registrations.
public struct TopicPlace: Sendable, Equatable {
    /// Whose topics.
    public var sender: SenderID
    /// Which one; nil: before the first of the sender.
    public var topic: TopicName?
    /// Behind which of its subscribers; nil: before the first.
    public var after: RegistrationName?

    /// A place; all parts are the caller's.
    public init(sender: SenderID, topic: TopicName? = nil, after: RegistrationName? = nil) {
        self.sender = sender
        self.topic = topic
        self.after = after
    }

    /// Behind all subscribers of a topic.
    public static func behind(_ sender: SenderID, _ topic: TopicName) -> TopicPlace {
        TopicPlace(
            sender: sender, topic: topic,
            after: RegistrationName(device: DeviceID(.max), number: RegistrationNumber(.max)))
    }
}

/// How many subscribe to a topic.
public struct TopicCount: Sendable, Equatable {
    /// Whose topic.
    public var sender: SenderID
    /// Which one.
    public var topic: TopicName
    /// How many were counted.
    public var subscribers: Int

    /// A count; all parts are the caller's.
    public init(sender: SenderID, topic: TopicName, subscribers: Int) {
        self.sender = sender
        self.topic = topic
        self.subscribers = subscribers
    }
}

/// A page of topics with how many subscribe to each.
public struct TopicCounts: Sendable, Equatable {
    /// The counts in their order; those of the first and the last topic may be only parts.
    public var counts: [TopicCount]
    /// Where the next page begins; nil: nothing follows.
    public var next: TopicPlace?

    /// A page; both parts are the caller's.
    public init(counts: [TopicCount], next: TopicPlace?) {
        self.counts = counts
        self.next = next
    }

    /// Goes through the subscribers of topics page by page, until a topic comes that is not wanted or nothing follows.
    ///
    /// `read` asks the store for the page at a place. Only whole counts are returned.
    public static func gather<Failure: Error>(
        from start: TopicPlace?, while isWanted: (TopicCount, _ before: Int) -> Bool,
        _ read: (TopicPlace?) throws(Failure) -> TopicCounts
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
