public import Basics

/// An APNs device token that has ended.
public struct APNsFeedbackRow: Record {
    public var registration: Redacted<String>
    public var apnsToken: Redacted<String>
    public var environment: APNsCredentialEnvironment
    public var bundle: String
    public var invalidSince: UnixMilliseconds?
    public var seenAt: UnixMilliseconds
    public var status: Int
    public var reason: String

    /// Creates a row.
    public init(
        registration: Redacted<String>, apnsToken: Redacted<String>,
        environment: APNsCredentialEnvironment, bundle: String, invalidSince: UnixMilliseconds?,
        seenAt: UnixMilliseconds, status: Int, reason: String
    ) {
        self.registration = registration
        self.apnsToken = apnsToken
        self.environment = environment
        self.bundle = bundle
        self.invalidSince = invalidSince
        self.seenAt = seenAt
        self.status = status
        self.reason = reason
    }

    public static let fields = Fields(
        APNsFeedbackRow.init(
            registration:apnsToken:environment:bundle:invalidSince:seenAt:status:reason:),
        .required(
            "registration_id", .registrationToken, \.registration, "The registration token of the app."),
        .required(
            "apns_token", .secret(0...Int.max, "an APNs device token"), \.apnsToken,
            "The device token, in hexadecimal digits."),
        .required("environment", .word, \.environment, "The environment of the device token."),
        .required("bundle_id", .text, \.bundle, "The app."),
        .nullable(
            "invalid_since", .time, \.invalidSince,
            "Since when the token has been invalid; null if Apple did not report it."),
        .required("seen_at", .time, \.seenAt, "When this server received Apple's verdict."),
        .required("status", .whole, \.status, "The HTTP status of Apple's answer."),
        .required("reason", .text, \.reason, "Apple's reason, such as Unregistered."))
}

/// Lists the APNs device tokens of a sender that have ended.
public struct ListAPNsFeedback: OperatorCommand {
    public var sender: SenderID
    public var limit: Int = Limits.Operator.listedRowsDefault
    public var since: String?

    /// The role is `operator`, since the answer contains tokens.
    public static let summary = OperationSummary.reading(
        "apns feedback", role: .operator,
        "List the APNs device tokens of a sender's apps that have ended, oldest first.",
        details: [
            "Reading does not empty the list. A token leaves it when its app registers again. Each entry is shown for 30 days."
        ])
    public static let fields = Fields(
        ListAPNsFeedback.init(sender:limit:since:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender ID."),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional(
            "since", .text(1...Limits.APNs.feedbackPositionBytes), \.since,
            "Start after this position: milliseconds since 1970, or next of an earlier page."))

    /// A page of the list.
    public struct Answer: Record {
        public var items: [APNsFeedbackRow]
        /// The position at which the next page starts; `nil` on the last page.
        public var next: String?

        /// Creates an answer.
        public init(items: [APNsFeedbackRow], next: String?) {
            self.items = items
            self.next = next
        }

        public static let fields = Fields(
            Answer.init(items:next:), .required("items", .list(.record), \.items, "The device tokens."),
            .nullable("next", .text, \.next, "Where the next page starts; null on the last page."))
    }
}
