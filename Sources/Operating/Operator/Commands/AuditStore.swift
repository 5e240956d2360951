import Basics

/// Checks that no accepted message was lost.
public struct AuditStore: OperatorCommand {
    /// Creates the command.
    public init() {}

    public static let silenceSeconds = Limits.Operator.longSilenceSeconds
    public static let summary = OperationSummary.reading(
        "audit", "Check that no accepted message was lost.",
        details: [
            "Counts the messages in the store and checks that accepted = delivered + forwarded + replaced + expired + discarded + removed + pending."
        ])
    public static let fields = Fields(AuditStore.init)

    /// The message counts of one direction.
    public struct Counts: Record {
        public var accepted: Int
        public var delivered: Int
        public var replaced: Int
        public var expired: Int
        public var discarded: Int
        public var removed: Int
        public var forwarded: Int
        public var pending: Int

        /// Creates the counts.
        public init(
            accepted: Int, delivered: Int, replaced: Int, expired: Int, discarded: Int, removed: Int,
            forwarded: Int, pending: Int
        ) {
            self.accepted = accepted
            self.delivered = delivered
            self.replaced = replaced
            self.expired = expired
            self.discarded = discarded
            self.removed = removed
            self.forwarded = forwarded
            self.pending = pending
        }

        public static let fields = Fields(
            Counts.init(accepted:delivered:replaced:expired:discarded:removed:forwarded:pending:),
            .required("accepted", .whole, \.accepted, "Messages that were accepted."),
            .required("delivered", .whole, \.delivered, "Messages that the receiver acknowledged."),
            .required(
                "replaced", .whole, \.replaced,
                "Messages replaced by a newer one with the same collapse key."),
            .required("expired", .whole, \.expired, "Messages whose lifetime ended."),
            .required("discarded", .whole, \.discarded, "Messages dropped because too many were pending."),
            .required(
                "removed", .whole, \.removed,
                "Messages removed with their token, device or sender, or cancelled."),
            .required(
                "forwarded", .whole, \.forwarded,
                "Messages that APNs accepted for an iOS app, which does not report their delivery."),
            .required("pending", .whole, \.pending, "Messages pending in the store."))
    }

    /// The counts of the store, and whether they are consistent.
    public struct Answer: Record {
        public var holds: Bool
        public var downstream: Counts
        public var upstream: Counts
        public var devices: Int
        public var registrations: Int
        public var senders: Int
        public var groups: Int
        public var installations: Int
        public var subscriptions: Int
        public var topicMessages: Int
        public var partitions: Int
        public var unreadable: [String]
        public var damaged: [String]

        /// Creates an answer.
        public init(
            holds: Bool, downstream: Counts, upstream: Counts, devices: Int, registrations: Int, senders: Int,
            groups: Int, installations: Int, subscriptions: Int, topicMessages: Int, partitions: Int,
            unreadable: [String], damaged: [String] = []
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
            self.damaged = damaged
        }

        public static let fields = Fields(
            Answer.init(
                holds:downstream:upstream:devices:registrations:senders:groups:installations:subscriptions:
                topicMessages:partitions:unreadable:damaged:),
            .required(
                "holds", .boolean, \.holds,
                "Whether no message is missing or counted twice, and every record can be read."),
            .required("downstream", .record, \.downstream, "Messages to devices."),
            .required("upstream", .record, \.upstream, "Messages to app servers."),
            .required("devices", .count, \.devices, "Devices."),
            .required("registrations", .count, \.registrations, "Registrations."),
            .required("senders", .count, \.senders, "Senders."),
            .required("groups", .count, \.groups, "Device groups."),
            .required("installations", .count, \.installations, "Firebase installations."),
            .required("subscriptions", .count, \.subscriptions, "Subscriptions to topics."),
            .required(
                "topic_messages", .count, \.topicMessages, "Messages to topics that not all partitions have."),
            .required(
                "partitions", .count, \.partitions,
                "The number of partitions, over which the counts are summed."),
            .required("unreadable", .list(.text), \.unreadable, "The keys of records that cannot be read."),
            .required(
                "damaged", .list(.text), \.damaged,
                "Tables of the store with wrong checksums: their rows are missing in the counts.")
        )
    }
}
