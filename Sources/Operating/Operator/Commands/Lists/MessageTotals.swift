public import Basics

/// Counts the messages in the history by outcome and day.
public struct CountMessages: OperatorCommand {
    /// The only sender; `nil` counts those of all.
    public var sender: SenderID?
    public var days: Int

    /// Creates a count of the messages of a sender, or of all.
    public init(sender: SenderID?, days: Int) {
        self.sender = sender
        self.days = days
    }

    public static let summary = OperationSummary.reading(
        "messages totals",
        "Count the messages to devices in the history by day, of one sender or of all together.",
        details: [
            "Each acceptance and each end counts on the day (UTC) on which it happened. What went to a topic or a group counts once for each device that it was stored for. The first question after a start reads the whole history, which takes some seconds for a GiB; what was not counted in time is counted by the next one.",
            "In a cluster all nodes are asked.",
        ])
    public static let fields = Fields(
        CountMessages.init(sender:days:),
        .optional("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .preset(
            "days", .integer(1...Limits.History.days), \.days, 7, "The last N days, with the current one."))

    /// The counts of a day.
    public struct Day: Record {
        /// Its start.
        public var day: UnixMilliseconds
        public var counts: [WordCount]

        /// Creates the counts of a day.
        public init(day: UnixMilliseconds, counts: [WordCount]) {
            self.day = day
            self.counts = counts
        }

        public static let fields = Fields(
            Day.init(day:counts:), .required("day", .time, \.day, "The start of the day, in UTC."),
            .required(
                "messages", .counts, \.counts,
                "Messages that were accepted, and that were delivered, forwarded, replaced, expired, discarded, removed or refused."
            ))
    }

    /// The messages to a topic.
    public struct Topic: Record {
        public var to: String
        public var sender: SenderID
        public var messages: Int
        public var reached: Int

        /// Creates the counts of a topic.
        public init(to: String, sender: SenderID, messages: Int, reached: Int) {
            self.to = to
            self.sender = sender
            self.messages = messages
            self.reached = reached
        }

        public static let fields = Fields(
            Topic.init(to:sender:messages:reached:),
            .required("to", .text, \.to, "The topic, or the topics of a condition."),
            .required("sender_id", .sender, \.sender, "The sender."),
            .required("messages", .count, \.messages, "Messages that were sent to it."),
            .required(
                "reached", .count, \.reached,
                "App instances that got one, of the messages whose time is over: topics running has the others."
            ))
    }

    /// The counts by day.
    public struct Answer: Record {
        public var days: [Day]
        public var topics: [Topic]
        public var completeSince: UnixMilliseconds?
        public var unattributed: Int
        public var coverage: HistoryCoverage

        /// Creates an answer.
        public init(
            days: [Day], topics: [Topic], completeSince: UnixMilliseconds?, unattributed: Int,
            coverage: HistoryCoverage
        ) {
            self.days = days
            self.topics = topics
            self.completeSince = completeSince
            self.unattributed = unattributed
            self.coverage = coverage
        }

        public static let fields = Fields(
            Answer.init(days:topics:completeSince:unattributed:coverage:),
            .required("days", .list(.record), \.days, "The days with messages, newest first."),
            .required(
                "topics", .list(.record), \.topics,
                "Up to \(Limits.History.countedTopics) topics of these days, those that have reached most first."
            ),
            .optional(
                "complete_since", .time, \.completeSince,
                "Since when all messages are counted; earlier ones are by a later question. Left out if none are."
            ),
            .required(
                "unattributed", .count, \.unattributed,
                "The number of messages that ended while their device was away, and whose sender was not searched for: they are in the counts of no sender."
            ),
            .required("history", .record, \.coverage, "What the history covers."))
    }
}

/// Counts the messages to devices by outcome, hour and day, of all senders.
public struct CountHours: OperatorCommand {
    public var hours: Int
    public var days: Int

    public static let summary = OperationSummary.reading(
        "messages hours",
        "Count the messages to devices of all senders by hour and by day, of up to four weeks.",
        details: [
            "Each acceptance and each end counts in the hour in which it happened, and on the day (UTC). These counts are kept beside the history, and longer: the last \(Limits.History.countedHours) hours with messages. They are written once a minute: after a crash those of the last minute are missing.",
            "In a cluster all nodes are asked.",
        ])
    public static let fields = Fields(
        CountHours.init(hours:days:),
        .preset(
            "hours", .integer(1...Limits.History.countedHours), \.hours, 48,
            "The last N hours, with the current one."),
        .preset(
            "days", .integer(1...Limits.History.countedDays), \.days, Limits.History.countedDays,
            "The last N days, with the current one."))

    /// The counts of an hour.
    public struct Hour: Record {
        /// Its start.
        public var start: UnixMilliseconds
        public var counts: [WordCount]

        /// Creates the counts of an hour.
        public init(start: UnixMilliseconds, counts: [WordCount]) {
            self.start = start
            self.counts = counts
        }

        public static let fields = Fields(
            Hour.init(start:counts:), .required("hour", .time, \.start, "The start of the hour."),
            .required("messages", .counts, \.counts, "Messages, as in `messages totals`."))
    }

    /// The counts by hour and day.
    public struct Answer: Record {
        public var hours: [Hour]
        public var days: [CountMessages.Day]
        public var coverage: HistoryCoverage

        /// Creates an answer.
        public init(hours: [Hour], days: [CountMessages.Day], coverage: HistoryCoverage) {
            self.hours = hours
            self.days = days
            self.coverage = coverage
        }

        public static let fields = Fields(
            Answer.init(hours:days:coverage:),
            .required("hours", .list(.record), \.hours, "The hours with messages, newest first."),
            .required("days", .list(.record), \.days, "The days with messages, newest first."),
            .required("history", .record, \.coverage, "Since when is counted, and which nodes are missing."))
    }
}
