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

/// Lists the messages to topics that are still being sent.
public struct ListRunningTopics: OperatorCommand {
    public var limit: Int = Self.presetLimit

    /// The default limit, low because the subscribers are counted one by one.
    public static let presetLimit = 20

    public static let summary = OperationSummary.reading(
        "topics running", "List the messages to topics and conditions that are still being sent.",
        details: [
            "\"done\" of \"total\" subscribers have been processed, and \"sent\" of them were sent the message; the others have left the topic or do not match the whole condition. A condition that also matches devices without subscriptions has no total."
        ])
    public static let fields = Fields(
        ListRunningTopics.init(limit:),
        .preset("limit", .integer(1...Limits.Operator.listedRows), \.limit, presetLimit, "List up to N."))

    /// A message to a topic or condition that is being sent.
    public struct Row: Record {
        public var sender: SenderID
        public var messageID: String
        /// `/topics/NAME`, or `condition`.
        public var to: String
        public var topics: [String]
        public var since: UnixMilliseconds
        public var expiresAt: UnixMilliseconds
        public var sent: Int
        /// The number of processed subscribers; `nil` if there is no total.
        public var done: Int?
        /// The number of subscribers; `nil` if it is unknown.
        public var total: Int?

        /// Creates a row.
        public init(
            sender: SenderID, messageID: String, to: String, topics: [String], since: UnixMilliseconds,
            expiresAt: UnixMilliseconds, sent: Int, done: Int?, total: Int?
        ) {
            self.sender = sender
            self.messageID = messageID
            self.to = to
            self.topics = topics
            self.since = since
            self.expiresAt = expiresAt
            self.sent = sent
            self.done = done
            self.total = total
        }

        public static let fields = Fields(
            Row.init(sender:messageID:to:topics:since:expiresAt:sent:done:total:),
            .required("sender_id", .sender, \.sender, "The sender ID."),
            .required("message_id", .text, \.messageID, "The ID that the app server gave the message."),
            .required("to", .text, \.to, "/topics/NAME, or condition."),
            .required("topics", .list(.text), \.topics, "The topics of the message."),
            .required("since", .time, \.since, "When the message was accepted."),
            .required("expires_at", .time, \.expiresAt, "When the message expires."),
            .required("sent", .count, \.sent, "The number of subscribers that were sent the message."),
            .nullable(
                "done", .count, \.done, "The number of processed subscribers; null if there is no total."),
            .nullable("total", .count, \.total, "The number of subscribers; null if it is unknown."))
    }

    /// The messages that are being sent, the oldest of each sender first.
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
