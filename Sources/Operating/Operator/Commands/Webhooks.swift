public import Basics

extension FieldKind where Value == Redacted<String> {
    /// A secret of a webhook, as receivers configure it.
    static var webhookSecret: FieldKind {
        let bytes = Limits.Webhook.chosenSecretBytes
        return secret(
            1...128,
            "whsec_ and Base64 of \(bytes.lowerBound) to \(bytes.upperBound) bytes", as: "SECRET")
    }
}

extension FieldKind where Value == String {
    /// The URL of an endpoint.
    public static var webhookURL: FieldKind { text(1...Limits.Webhook.urlBytes.upperBound, as: "URL") }
}

/// Whether requests are sent to a webhook.
public enum WebhookStateName: String, Sendable, CaseIterable {
    /// Requests are sent while no app server is connected.
    case active
    /// An operator has paused it.
    case paused
    /// The endpoint has answered 410 Gone.
    case gone
}

/// Sets the webhook of a sender.
public struct SetWebhook: OperatorCommand {
    public var sender: SenderID
    public var url: String
    /// The secret; `nil` keeps the present one or generates one.
    public var secret: Redacted<String>?

    public static let summary = OperationSummary.changing(
        "senders webhook set", "Send the upstream messages and receipts of a sender to an HTTPS endpoint.",
        details: [
            "The endpoint gets them while no app server of the sender is connected over XMPP. Requests are signed as Standard Webhooks describes; the secret is shown once, when it is made.",
            "A new URL for a sender that has a webhook keeps its secret, and ends a pause.",
        ])
    public static let fields = Fields(
        SetWebhook.init(sender:url:secret:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .required("url", .webhookURL, \.url, "The endpoint, https://HOST/PATH."),
        .optional(
            "secret", .webhookSecret, \.secret, "The secret that signs. Default: the present or a random one."
        ))

    /// The webhook after the change.
    public struct Answer: Record {
        public var sender: SenderID
        public var url: String
        /// The secret, if it is new.
        public var secret: Redacted<String>?

        /// Creates an answer.
        public init(sender: SenderID, url: String, secret: Redacted<String>?) {
            self.sender = sender
            self.url = url
            self.secret = secret
        }

        public static let fields = Fields(
            Answer.init(sender:url:secret:), .required("sender_id", .sender, \.sender, "The sender."),
            .required("url", .webhookURL, \.url, "The endpoint."),
            .optional("secret", .webhookSecret, \.secret, "The secret, if it is new."))
    }
}

/// The webhook of a sender, with what this daemon has seen of its endpoint.
public struct WebhookReport: Record {
    public var sender: SenderID
    public var url: String
    public var state: WebhookStateName
    public var createdAt: UnixMilliseconds
    /// When each of its secrets was made, oldest first.
    public var secretsMadeAt: [UnixMilliseconds]
    /// When the older secret is no longer used; `nil` if there is none.
    public var oldSecretExpiresAt: UnixMilliseconds?
    public var delivery: WebhookDelivery?

    /// Creates a report.
    public init(
        sender: SenderID, url: String, state: WebhookStateName, createdAt: UnixMilliseconds,
        secretsMadeAt: [UnixMilliseconds], oldSecretExpiresAt: UnixMilliseconds?, delivery: WebhookDelivery?
    ) {
        self.sender = sender
        self.url = url
        self.state = state
        self.createdAt = createdAt
        self.secretsMadeAt = secretsMadeAt
        self.oldSecretExpiresAt = oldSecretExpiresAt
        self.delivery = delivery
    }

    public static let fields = Fields(
        WebhookReport.init(sender:url:state:createdAt:secretsMadeAt:oldSecretExpiresAt:delivery:),
        .required("sender_id", .sender, \.sender, "The sender."),
        .required("url", .webhookURL, \.url, "The endpoint."),
        .required("state", .word, \.state, "Whether requests are sent."),
        .required("created_at", .time, \.createdAt, "When it was set."),
        .required("secrets_made_at", .list(.time), \.secretsMadeAt, "When its secrets were made."),
        .optional(
            "old_secret_expires_at", .time, \.oldSecretExpiresAt,
            "When requests are no longer signed with the older secret."),
        .optional(
            "delivery", .record, \.delivery, "What this daemon has seen of the endpoint since its start."))
}

/// What a daemon has seen of an endpoint since its start.
public struct WebhookDelivery: Record {
    public var acknowledged: Int
    public var failed: Int
    public var failuresInRow: Int
    public var inFlight: Int
    public var waiting: Int
    public var retriesInSeconds: Int?
    public var lastFailure: String?
    public var lastFailureAt: UnixMilliseconds?
    public var lastAcknowledgedAt: UnixMilliseconds?

    /// Creates the figures.
    public init(
        acknowledged: Int, failed: Int, failuresInRow: Int, inFlight: Int, waiting: Int,
        retriesInSeconds: Int?, lastFailure: String?, lastFailureAt: UnixMilliseconds?,
        lastAcknowledgedAt: UnixMilliseconds?
    ) {
        self.acknowledged = acknowledged
        self.failed = failed
        self.failuresInRow = failuresInRow
        self.inFlight = inFlight
        self.waiting = waiting
        self.retriesInSeconds = retriesInSeconds
        self.lastFailure = lastFailure
        self.lastFailureAt = lastFailureAt
        self.lastAcknowledgedAt = lastAcknowledgedAt
    }

    public static let fields = Fields(
        WebhookDelivery.init(
            acknowledged:failed:failuresInRow:inFlight:waiting:retriesInSeconds:lastFailure:lastFailureAt:
            lastAcknowledgedAt:
        ),
        .required("acknowledged", .count, \.acknowledged, "Requests answered with 2xx."),
        .required("failed", .count, \.failed, "Other requests."),
        .required("failures_in_row", .count, \.failuresInRow, "Failures since the last 2xx."),
        .required("in_flight", .count, \.inFlight, "Requests in flight."),
        .required(
            "waiting", .count, \.waiting,
            "Messages and receipts that wait for their request, also those in the store while the webhook is stopped: counted up to \(Limits.Webhook.countedWaiting) for all webhooks of an answer."
        ),
        .optional(
            "retries_in_seconds", .count, \.retriesInSeconds,
            "When the endpoint is tried again, if it is paused for its failures."),
        .optional("last_failure", .text, \.lastFailure, "The last failure."),
        .optional("last_failure_at", .time, \.lastFailureAt, "When that was."),
        .optional(
            "last_acknowledged_at", .time, \.lastAcknowledgedAt, "When a request was last answered with 2xx.")
    )
}

/// Shows the webhook of a sender.
public struct ShowWebhook: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.reading(
        "senders webhook show", "Show the webhook of a sender, and how its endpoint answers.",
        details: ["In a cluster, the node that owns the sender's partition sends, and has the figures."])
    public static let fields = Fields(
        ShowWebhook.init(sender:), .required("sender_id", .sender, \.sender, "The sender."))

    /// The webhook.
    public typealias Answer = WebhookReport
}

/// Lists the webhooks of all senders.
public struct ListWebhooks: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "senders webhook list", "List the webhooks of all senders.")
    public static let fields = Fields(ListWebhooks.init)

    /// All webhooks.
    public struct Answer: Record {
        public var webhooks: [WebhookReport]

        /// Creates an answer.
        public init(webhooks: [WebhookReport]) { self.webhooks = webhooks }

        public static let fields = Fields(
            Answer.init(webhooks:), .required("webhooks", .list(.record), \.webhooks, "The webhooks."))
    }
}
