public import Basics

/// Lists the topics.
public struct ListTopics: OperatorCommand {
    /// The sender whose topics are listed; `nil` lists all.
    public var sender: SenderID?
    public var limit: Int = Limits.Operator.listedRowsDefault
    /// The topic after which the page starts; `nil` for the first page.
    public var after: TopicPosition?

    public static let summary = OperationSummary.reading(
        "topics list", "List the topics with their numbers of subscribers.",
        details: [
            "A topic exists as long as it has a subscriber. Subscribers are counted one by one, which takes about a second per million."
        ])
    public static let fields = Fields(
        ListTopics.init(sender:limit:after:),
        .optional("sender_id", .sender, \.sender, audit: .sender, "List only the topics of this sender."),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .topicPosition, \.after, "Start after this topic."))

    /// A topic in the list.
    public struct Row: Record {
        public var sender: SenderID
        public var topic: String
        public var subscribers: Int

        /// Creates a row.
        public init(sender: SenderID, topic: String, subscribers: Int) {
            self.sender = sender
            self.topic = topic
            self.subscribers = subscribers
        }

        public static let fields = Fields(
            Row.init(sender:topic:subscribers:), .required("sender_id", .sender, \.sender, "The sender ID."),
            .required("topic", .text, \.topic, "The name of the topic."),
            .required("subscribers", .count, \.subscribers, "The number of subscribers."))
    }

    /// A page of the topics.
    public struct Answer: Record {
        public var topics: [Row]
        /// The topic after which the next page starts; `nil` on the last page.
        public var nextAfter: TopicPosition?

        /// Creates an answer.
        public init(topics: [Row], nextAfter: TopicPosition?) {
            self.topics = topics
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(topics:nextAfter:), .required("topics", .list(.record), \.topics, "The topics."),
            .optional(
                "next_after", .topicPosition, \.nextAfter,
                "The topic after which the next page starts; left out on the last page."))
    }
}

/// Lists the live messages to topics.
public struct ListRunningTopics: OperatorCommand {
    public var limit: Int = Self.presetLimit

    /// The default limit, low because the subscribers are counted one by one.
    public static let presetLimit = 20

    public static let summary = OperationSummary.reading(
        "topics running", "List the messages to topics and conditions that devices may still be sent.",
        details: [
            "A message reaches a subscriber when it enters its mailbox: at once if its device is connected, else with the next login of the device. It is listed until it expires, or a newer message with its collapse key to the same recipients takes its place. A condition that also matches devices without subscriptions has no number of subscribers."
        ])
    public static let fields = Fields(
        ListRunningTopics.init(limit:),
        .preset("limit", .integer(1...Limits.Operator.listedRows), \.limit, presetLimit, "List up to N."))

    /// A live message to a topic or condition.
    public struct Row: Record {
        public var sender: SenderID
        public var messageID: String
        /// `/topics/NAME`, or `condition`.
        public var to: String
        public var topics: [String]
        public var since: UnixMilliseconds
        public var expiresAt: UnixMilliseconds
        public var reached: Int
        /// The number of subscribers; `nil` if it is unknown.
        public var subscribers: Int?

        /// Creates a row.
        public init(
            sender: SenderID, messageID: String, to: String, topics: [String], since: UnixMilliseconds,
            expiresAt: UnixMilliseconds, reached: Int, subscribers: Int?
        ) {
            self.sender = sender
            self.messageID = messageID
            self.to = to
            self.topics = topics
            self.since = since
            self.expiresAt = expiresAt
            self.reached = reached
            self.subscribers = subscribers
        }

        public static let fields = Fields(
            Row.init(sender:messageID:to:topics:since:expiresAt:reached:subscribers:),
            .required("sender_id", .sender, \.sender, "The sender ID."),
            .required("message_id", .text, \.messageID, "The ID that the app server gave the message."),
            .required("to", .text, \.to, "/topics/NAME, or condition."),
            .required("topics", .list(.text), \.topics, "The topics of the message."),
            .required("since", .time, \.since, "When the message was accepted."),
            .required("expires_at", .time, \.expiresAt, "When the message expires."),
            .required(
                "reached", .count, \.reached, "The number of app instances whose mailboxes it has entered."),
            .nullable(
                "subscribers", .count, \.subscribers,
                "The number of subscribers to the topics that lead to it; null if it is unknown."))
    }

    /// The live messages, the newest first.
    public struct Answer: Record {
        public var messages: [Row]
        public var leftOut: Int

        /// Creates an answer.
        public init(messages: [Row], leftOut: Int) {
            self.messages = messages
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(messages:leftOut:),
            .required("messages", .list(.record), \.messages, "The messages."),
            .required("left_out", .count, \.leftOut, "The number of messages that are not listed."))
    }
}
