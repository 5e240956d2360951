/// Checks that no accepted message was lost.
public struct AuditStore: OperatorCommand {
    /// The command.
    public init() {}

    public static let summary = OperationSummary.reading(
        .auditStore, "Check that no accepted message was lost.",
        details: [
            "Counts what is in the store and compares: accepted = delivered + replaced + expired + discarded + removed + pending."
        ])
    public static let fields = Fields(AuditStore.init)

    /// The counts of one direction.
    public struct Law: Record {
        /// Messages that were accepted.
        public var accepted: Int
        /// Messages that their receiver acknowledged.
        public var delivered: Int
        /// Messages that a newer one with the same collapse key replaced.
        public var replaced: Int
        /// Messages whose lifetime ended.
        public var expired: Int
        /// Messages that were dropped since too many waited.
        public var discarded: Int
        /// Messages that went with their token, device or sender.
        public var removed: Int
        /// Messages that wait in the store.
        public var pending: Int

        /// Counts of one direction.
        public init(
            accepted: Int, delivered: Int, replaced: Int, expired: Int, discarded: Int, removed: Int,
            pending: Int
        ) {
            self.accepted = accepted
            self.delivered = delivered
            self.replaced = replaced
            self.expired = expired
            self.discarded = discarded
            self.removed = removed
            self.pending = pending
        }

        public static let fields = Fields(
            Law.init(accepted:delivered:replaced:expired:discarded:removed:pending:),
            .required("accepted", .whole, \.accepted, "Messages that were accepted."),
            .required("delivered", .whole, \.delivered, "Messages that their receiver acknowledged."),
            .required(
                "replaced", .whole, \.replaced,
                "Messages that a newer one with the same collapse key replaced."),
            .required("expired", .whole, \.expired, "Messages whose lifetime ended."),
            .required("discarded", .whole, \.discarded, "Messages that were dropped since too many waited."),
            .required("removed", .whole, \.removed, "Messages that went with their token, device or sender."),
            .required("pending", .whole, \.pending, "Messages that wait in the store."))
    }

    /// What is in the store.
    public struct Answer: Record {
        /// Whether nothing is missing, nothing is counted twice, and everything can be read.
        public var holds: Bool
        /// Messages to devices.
        public var downstream: Law
        /// Messages to app servers.
        public var upstream: Law
        /// Devices.
        public var devices: Int
        /// Registrations.
        public var registrations: Int
        /// Senders.
        public var senders: Int
        /// Device groups.
        public var groups: Int
        /// Firebase installations.
        public var installations: Int
        /// Subscriptions to topics.
        public var subscriptions: Int
        /// Messages to topics that are still being sent.
        public var topicMessages: Int
        /// The partitions of the store, which the counts add up.
        public var partitions: Int
        /// Records that cannot be read, by their keys.
        public var unreadable: [String]

        /// What is in the store.
        public init(
            holds: Bool, downstream: Law, upstream: Law, devices: Int, registrations: Int, senders: Int,
            groups: Int, installations: Int, subscriptions: Int, topicMessages: Int, partitions: Int,
            unreadable: [String]
        ) {
            self.holds = holds
            self.downstream = downstream
            self.upstream = upstream
            self.devices = devices
            self.registrations = registrations
            self.senders = senders
            self.groups = groups
            self.installations = installations
            self.subscriptions = subscriptions
            self.topicMessages = topicMessages
            self.partitions = partitions
            self.unreadable = unreadable
        }

        public static let fields = Fields(
            Answer.init(
                holds:downstream:upstream:devices:registrations:senders:groups:installations:subscriptions:
                topicMessages:partitions:unreadable:),
            .required(
                "holds", .truth, \.holds,
                "Whether nothing is missing, nothing is counted twice, and everything can be read."),
            .required("downstream", .record, \.downstream, "Messages to devices."),
            .required("upstream", .record, \.upstream, "Messages to app servers."),
            .required("devices", .count, \.devices, "Devices."),
            .required("registrations", .count, \.registrations, "Registrations."),
            .required("senders", .count, \.senders, "Senders."),
            .required("groups", .count, \.groups, "Device groups."),
            .required("installations", .count, \.installations, "Firebase installations."),
            .required("subscriptions", .count, \.subscriptions, "Subscriptions to topics."),
            .required(
                "topic_messages", .count, \.topicMessages, "Messages to topics that are still being sent."),
            .required(
                "partitions", .count, \.partitions, "The partitions of the store, which the counts add up."),
            .required("unreadable", .list(.text), \.unreadable, "Records that cannot be read, by their keys.")
        )
    }
}
