public import Basics

/// Lists the messages that are sent at a later time, without their payload.
public struct ListScheduled: OperatorCommand {
    /// The sender whose messages are listed; `nil` lists all.
    public var sender: SenderID?
    public var limit: Int = Limits.Operator.listedRowsDefault
    /// The position after which the page starts; `nil` for the first page.
    public var after: String?

    public static let summary = OperationSummary.reading(
        "messages scheduled",
        "List the messages that are sent at a later time, the next one first, without their payload.",
        details: [
            "App servers schedule a message with send_at. messages cancel cancels it. Its time to live counts from send_at, and from then on messages list shows it as waiting."
        ])
    public static let fields = Fields(
        ListScheduled.init(sender:limit:after:),
        .optional("sender_id", .sender, \.sender, audit: .sender, "List only the messages of this sender."),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional(
            "after", .text(1...Limits.Schedule.positionBytes, as: "POSITION"), \.after,
            "Start after this position: next_after of the previous page."))

    /// A page of the schedule.
    public struct Answer: Record {
        public var messages: [ListMessages.Row]
        /// The position after which the next page starts; `nil` on the last page.
        public var nextAfter: String?

        /// Creates an answer.
        public init(messages: [ListMessages.Row], nextAfter: String?) {
            self.messages = messages
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(messages:nextAfter:),
            .required("messages", .list(.record), \.messages, "The messages, the next one first."),
            .optional(
                "next_after", .text, \.nextAfter,
                "The position after which the next page starts; left out on the last page. A page of one sender may be short, or empty, and not be the last."
            ))
    }
}
