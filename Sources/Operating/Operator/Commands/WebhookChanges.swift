public import Basics

/// Gives a webhook a new secret.
public struct RotateWebhookSecret: OperatorCommand {
    public var sender: SenderID
    /// The time for which requests are signed with the old secret as well.
    public var overlapSeconds: Int = RotateKey.presetOverlapSeconds
    /// The secret; `nil` generates one.
    public var secret: Redacted<String>?

    public static let summary = OperationSummary.destroying(
        "senders webhook rotate",
        "Give a webhook a new secret; for a time requests are signed with the old one as well.")

    public var consequence: String? {
        guard overlapSeconds == 0 else { return nil }
        return
            "Requests to the webhook of sender \(sender.number) are no longer signed with the old secret: a receiver that has only that refuses them."
    }
    public static let fields = Fields(
        RotateWebhookSecret.init(sender:overlapSeconds:secret:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .preset(
            "overlap_seconds", .integer(0...31_536_000), \.overlapSeconds, RotateKey.presetOverlapSeconds,
            "Time for which requests have two signatures."),
        .optional("secret", .webhookSecret, \.secret, "The new secret. Default: a random one."))

    /// The new secret.
    public struct Answer: Record {
        public var sender: SenderID
        public var secret: Redacted<String>
        public var oldSecretExpiresAt: UnixMilliseconds

        /// Creates an answer.
        public init(sender: SenderID, secret: Redacted<String>, oldSecretExpiresAt: UnixMilliseconds) {
            self.sender = sender
            self.secret = secret
            self.oldSecretExpiresAt = oldSecretExpiresAt
        }

        public static let fields = Fields(
            Answer.init(sender:secret:oldSecretExpiresAt:),
            .required("sender_id", .sender, \.sender, "The sender."),
            .required("secret", .webhookSecret, \.secret, "The new secret."),
            .required(
                "old_secret_expires_at", .time, \.oldSecretExpiresAt,
                "When requests are no longer signed with the old secret."))
    }
}

/// The state of a webhook after a change.
public struct WebhookState: Record {
    public var sender: SenderID
    public var state: WebhookStateName
    /// Whether the command changed anything.
    public var isChanged: Bool
    /// Whether the command ended a pause after failures.
    public var endsFailurePause: Bool

    /// Creates an answer.
    public init(
        sender: SenderID, state: WebhookStateName, isChanged: Bool, endsFailurePause: Bool = false
    ) {
        self.sender = sender
        self.state = state
        self.isChanged = isChanged
        self.endsFailurePause = endsFailurePause
    }

    public static let fields = Fields(
        WebhookState.init(sender:state:isChanged:endsFailurePause:),
        .required("sender_id", .sender, \.sender, "The sender."),
        .required("state", .word, \.state, "Whether requests are sent."),
        .required("changed", .boolean, \.isChanged, "Whether the command changed anything."),
        .required(
            "failure_pause_ended", .boolean, \.endsFailurePause,
            "Whether the webhook was waiting after failures, and is now tried at once."))
}

/// Pauses a webhook.
public struct PauseWebhook: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "senders webhook pause", "Stop requests to a webhook until it is resumed.",
        details: [
            "Messages wait in the store, and expire in time. App servers that connect over XMPP get them."
        ])
    public static let fields = Fields(
        PauseWebhook.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The webhook after the change.
    public typealias Answer = WebhookState
}

/// Resumes a webhook.
public struct ResumeWebhook: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "senders webhook resume",
        "Send requests to a webhook again that was paused or has answered 410 Gone.",
        details: ["An endpoint that is paused for its failures is tried at once."])
    public static let fields = Fields(
        ResumeWebhook.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The webhook after the change.
    public typealias Answer = WebhookState
}

/// Removes the webhook of a sender.
public struct ClearWebhook: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.destroying(
        "senders webhook clear", "Remove the webhook of a sender with its secrets.")

    public var consequence: String? {
        "The webhook of sender \(sender.number) is removed with its secrets; messages wait for an app server over XMPP."
    }
    public static let fields = Fields(
        ClearWebhook.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The sender whose webhook is removed.
    public struct Answer: Record {
        public var sender: SenderID

        /// Creates an answer.
        public init(sender: SenderID) { self.sender = sender }

        public static let fields = Fields(
            Answer.init(sender:), .required("sender_id", .sender, \.sender, "The sender."))
    }
}
