public import Basics

/// Shows what the app servers of senders have done since the start of the daemon.
public struct SenderStatistics: OperatorCommand {
    /// The only sender; `nil` shows all.
    public var sender: SenderID?

    public static let summary = OperationSummary.reading(
        "senders stats",
        "Show the sessions and message counts of one sender or of all, since the start of ccsd.",
        details: [
            "Messages of a topic, a group or a batch are counted once for each recipient. A message counts as delivered, expired and so on for the first sender that its registration names. Refused requests are counted by reason, whichever interface they came from.",
            "Upstream messages that wait are counted in the store, up to \(Limits.Operator.countedUpstream) of each sender.",
        ])
    public static let fields = Fields(
        SenderStatistics.init(sender:),
        .optional("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The figures of a sender.
    public struct Row: Record {
        public var sender: SenderID
        public var label: String
        public var isSuspended: Bool
        public var sessions: Int
        public var draining: Int
        public var window: Int
        public var unacknowledged: Int
        public var waiting: Int
        public var isWaitingCounted: Bool
        public var downstream: [WordCount]
        public var upstream: [WordCount]
        public var refused: [WordCount]

        /// Creates a row.
        public init(
            sender: SenderID, label: String, isSuspended: Bool, sessions: Int, draining: Int, window: Int,
            unacknowledged: Int, waiting: Int, isWaitingCounted: Bool, downstream: [WordCount],
            upstream: [WordCount], refused: [WordCount]
        ) {
            self.sender = sender
            self.label = label
            self.isSuspended = isSuspended
            self.sessions = sessions
            self.draining = draining
            self.window = window
            self.unacknowledged = unacknowledged
            self.waiting = waiting
            self.isWaitingCounted = isWaitingCounted
            self.downstream = downstream
            self.upstream = upstream
            self.refused = refused
        }

        public static let fields = Fields(
            Row.init(
                sender:label:isSuspended:sessions:draining:window:unacknowledged:waiting:isWaitingCounted:
                downstream:upstream:refused:),
            .required("sender_id", .sender, \.sender, "The sender ID."),
            .required("label", .text, \.label, "The descriptive name."),
            .required("suspended", .boolean, \.isSuspended, "Whether the sender is suspended."),
            .required("sessions", .count, \.sessions, "Sessions of its app servers."),
            .required("draining", .count, \.draining, "Those of them that are draining."),
            .required(
                "window", .count, \.window,
                "Upstream messages that its sessions may have unacknowledged, all together."),
            .required(
                "unacknowledged", .count, \.unacknowledged,
                "Upstream messages that were sent and are not acknowledged."),
            .required("waiting", .count, \.waiting, "Upstream messages and receipts in the store."),
            .required(
                "waiting_is_exact", .boolean, \.isWaitingCounted, "Whether there are no more than that."),
            .required("downstream", .counts, \.downstream, "Messages to devices, by milestone."),
            .required("upstream", .counts, \.upstream, "Messages from devices, by milestone."),
            .required("refused", .counts, \.refused, "Refused messages and requests, by reason."))
    }

    /// The figures of the requested senders.
    public struct Answer: Record {
        public var since: UnixMilliseconds
        public var senders: [Row]

        /// Creates an answer.
        public init(since: UnixMilliseconds, senders: [Row]) {
            self.since = since
            self.senders = senders
        }

        public static let fields = Fields(
            Answer.init(since:senders:),
            .required("since", .time, \.since, "When the daemon started, and the counts were 0."),
            .required("senders", .list(.record), \.senders, "The senders."))
    }
}
