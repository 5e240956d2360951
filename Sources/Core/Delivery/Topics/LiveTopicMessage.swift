import Basics

/// A live topic message, and what has become of it so far.
public struct LiveTopicMessage: Sendable {
    public var message: TopicMessage
    /// App instances whose mailboxes it has entered.
    public var reached: UInt64

    public init(message: TopicMessage, reached: UInt64) {
        self.message = message
        self.reached = reached
    }
}

extension [LiveTopicMessage] {
    /// Returns the newest of two lists, up to a limit: what two partitions have reached with a message is added up.
    public func merged(with other: [LiveTopicMessage], limit: Int) -> [LiveTopicMessage] {
        var all: [TopicMessageName: LiveTopicMessage] = [:]
        for live in self + other {
            let reached = all[live.message.name]?.reached ?? 0
            all[live.message.name] = LiveTopicMessage(message: live.message, reached: reached + live.reached)
        }
        let newest = all.values.sorted {
            ($0.message.acceptedAt, $0.message.name) > ($1.message.acceptedAt, $1.message.name)
        }
        return [LiveTopicMessage](newest.prefix(limit))
    }
}
