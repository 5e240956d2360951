public import Basics

/// Lists the topics.
public struct ListTopics: OperatorCommand {
    /// Only the topics of this sender.
    public var sender: SenderID?
    /// How many to list at most.
    public var limit: Int
    /// The topic after which the page begins; `nil` for the first page.
    public var after: TopicPosition?

    /// A page of the list.
    public init(
        sender: SenderID? = nil, limit: Int = Limits.Operator.listedRowsDefault, after: TopicPosition? = nil
    ) {
        self.sender = sender
        self.limit = limit
        self.after = after
    }

    public static let summary = OperationSummary.reading(
        .listTopics, "List the topics, with how many subscribe to each.",
        details: [
            "A topic is there as long as it has a subscriber. Its subscribers are counted one by one: a million take a second or so."
        ])
    public static let fields = Fields(
        ListTopics.init(sender:limit:after:),
        .optional("sender_id", .sender, \.sender, audit: .sender, "Only the topics of one sender."),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .topicPosition, \.after, "Go on after this topic."))

    /// A topic.
    public struct Row: Record {
        /// Its sender.
        public var sender: SenderID
        /// Its name.
        public var topic: String
        /// How many subscribe to it.
        public var subscribers: Int

        /// A topic.
        public init(sender: SenderID, topic: String, subscribers: Int) {
            self.sender = sender
            self.topic = topic
            self.subscribers = subscribers
        }

        public static let fields = Fields(
            Row.init(sender:topic:subscribers:), .required("sender_id", .sender, \.sender, "Its sender."),
            .required("topic", .text, \.topic, "Its name."),
            .required("subscribers", .count, \.subscribers, "How many subscribe to it."))
    }

    /// A page of the topics.
    public struct Answer: Record {
        /// The topics.
        public var topics: [Row]
        /// After which topic the next page begins; `nil` if this is the last one.
        public var nextAfter: TopicPosition?

        /// A page.
        public init(topics: [Row], nextAfter: TopicPosition?) {
            self.topics = topics
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(topics:nextAfter:), .required("topics", .list(.record), \.topics, "The topics."),
            .optional("next_after", .topicPosition, \.nextAfter, "After which topic the next page begins."))
    }
}

/// Lists the messages to topics that are still being sent.
public struct ListRunningTopics: OperatorCommand {
    /// How many to list at most.
    public var limit: Int

    /// A list of up to so many.
    public init(limit: Int = Self.presetLimit) { self.limit = limit }

    /// How many are listed where no number is given: their subscribers are counted one by one.
    public static let presetLimit = 20

    public static let summary = OperationSummary.reading(
        .listRunningTopics, "List the messages to topics and conditions that are still being sent.",
        details: [
            "Done of total subscribers have been gone through, and sent of them were sent the message: it is not for those who have left the topic, or who do not meet the rest of a condition. Of a condition that reaches who subscribes to nothing there is no total."
        ])
    public static let fields = Fields(
        ListRunningTopics.init(limit:),
        .preset("limit", .integer(1...Limits.Operator.listedRows), \.limit, presetLimit, "List up to N."))

    /// A message to a topic or a condition.
    public struct Row: Record {
        /// Its sender.
        public var sender: SenderID
        /// The ID that its sender gave it.
        public var messageID: String
        /// The topic that it is for, or that it is for a condition.
        public var to: String
        /// The topics that it is for.
        public var topics: [String]
        /// When it was accepted.
        public var since: UnixMilliseconds
        /// When its lifetime ends.
        public var expiresAt: UnixMilliseconds
        /// How many subscribers were sent it.
        public var sent: Int
        /// How many subscribers have been gone through; `nil` if there is no total.
        public var done: Int?
        /// How many subscribers there are; `nil` if that is not known.
        public var total: Int?

        /// A message that is being sent.
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
            .required("sender_id", .sender, \.sender, "Its sender."),
            .required("message_id", .text, \.messageID, "The ID that its sender gave it."),
            .required("to", .text, \.to, "/topics/NAME, or condition."),
            .required("topics", .list(.text), \.topics, "The topics that it is for."),
            .required("since", .time, \.since, "When it was accepted."),
            .required("expires_at", .time, \.expiresAt, "When its lifetime ends."),
            .required("sent", .count, \.sent, "How many subscribers were sent it."),
            .nullable("done", .count, \.done, "How many subscribers have been gone through."),
            .nullable("total", .count, \.total, "How many subscribers there are."))
    }

    /// The messages that are being sent, the oldest of each sender first.
    public struct Answer: Record {
        /// The messages.
        public var messages: [Row]
        /// How many more there are.
        public var leftOut: Int

        /// A list.
        public init(messages: [Row], leftOut: Int) {
            self.messages = messages
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(messages:leftOut:),
            .required("messages", .list(.record), \.messages, "The messages."),
            .required("left_out", .count, \.leftOut, "How many more there are."))
    }
}
