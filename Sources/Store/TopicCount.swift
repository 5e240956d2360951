package import Basics
package import Delivery

/// A place among the subscribers of all topics: their order is that of senders, names of topics and registrations.
package struct TopicPlace: Sendable, Equatable {
    /// Whose topics.
    package var sender: SenderID
    /// Which one; nil: before the first of the sender.
    package var topic: TopicName?
    /// Behind which of its subscribers; nil: before the first.
    package var after: RegistrationName?

    /// A place; all parts are the caller's.
    package init(sender: SenderID, topic: TopicName? = nil, after: RegistrationName? = nil) {
        self.sender = sender
        self.topic = topic
        self.after = after
    }

    /// Behind all subscribers of a topic.
    package static func behind(_ sender: SenderID, _ topic: TopicName) -> TopicPlace {
        TopicPlace(
            sender: sender, topic: topic,
            after: RegistrationName(device: DeviceID(.max), number: RegistrationNumber(.max)))
    }
}

/// How many subscribe to a topic.
package struct TopicCount: Sendable, Equatable {
    /// Whose topic.
    package var sender: SenderID
    /// Which one.
    package var topic: TopicName
    /// How many were counted.
    package var subscribers: Int

    /// A count; all parts are the caller's.
    package init(sender: SenderID, topic: TopicName, subscribers: Int) {
        self.sender = sender
        self.topic = topic
        self.subscribers = subscribers
    }
}

/// A page of topics with how many subscribe to each.
package struct TopicCounts: Sendable, Equatable {
    /// The counts in their order; those of the first and the last topic may be only parts.
    package var counts: [TopicCount]
    /// Where the next page begins; nil: nothing follows.
    package var next: TopicPlace?

    /// A page; both parts are the caller's.
    package init(counts: [TopicCount], next: TopicPlace?) {
        self.counts = counts
        self.next = next
    }

    /// Goes through the subscribers of topics page by page, until a topic comes that is not wanted or nothing follows.
    ///
    /// `read` asks the store for the page at a place. Only whole counts are returned.
    package static func gather<Failure: Error>(
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
