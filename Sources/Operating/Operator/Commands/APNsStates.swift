import Basics

/// The state of a credential in one environment, as the APNs gateway sees it.
public struct APNsStateRow: Record {
    /// What Apple thinks of a credential.
    public enum Health: String, CaseIterable, Sendable {
        /// Apple has not judged it since the start.
        case unused
        case accepted
        /// Apple refuses it; one request is tried from time to time.
        case refused
        /// Apple finds its provider token too old although it is young: the clock of the server is wrong.
        case clockDoubted = "clock_doubted"
    }

    public var credential: String
    public var environment: APNsCredentialEnvironment
    public var health: Health
    public var status: Int?
    public var reason: String?
    public var refusedTopics: [String]
    public var connections: Int
    public var requestsInFlight: Int
    public var waiting: Int
    public var failingSeconds: Int?
    public var tokenAgeSeconds: Int?

    /// Creates a row.
    public init(
        credential: String, environment: APNsCredentialEnvironment, health: Health, status: Int? = nil,
        reason: String? = nil, refusedTopics: [String] = [], connections: Int = 0, requestsInFlight: Int = 0,
        waiting: Int = 0, failingSeconds: Int? = nil, tokenAgeSeconds: Int? = nil
    ) {
        self.credential = credential
        self.environment = environment
        self.health = health
        self.status = status
        self.reason = reason
        self.refusedTopics = refusedTopics
        self.connections = connections
        self.requestsInFlight = requestsInFlight
        self.waiting = waiting
        self.failingSeconds = failingSeconds
        self.tokenAgeSeconds = tokenAgeSeconds
    }

    public static let fields = Fields(
        APNsStateRow.init(
            credential:environment:health:status:reason:refusedTopics:connections:requestsInFlight:waiting:
            failingSeconds:tokenAgeSeconds:),
        .required("credential", .apnsCredential, \.credential, "The ID of the credential."),
        .required("environment", .word, \.environment, "The environment."),
        .required(
            "health", .word, \.health,
            "Whether Apple accepts the credential: unused since the start, accepted, refused, or clock_doubted if Apple finds a young provider token too old."
        ),
        .optional(
            "status", .whole, \.status,
            "The status of Apple's refusal; absent if there is none, or if the connection was refused."),
        .optional("reason", .text, \.reason, "Apple's word for it."),
        .required("refused_topics", .list(.text), \.refusedTopics, "The topics that Apple refuses."),
        .required("connections", .count, \.connections, "Connections to Apple."),
        .required("requests_in_flight", .count, \.requestsInFlight, "Requests without an answer."),
        .required("waiting", .count, \.waiting, "Messages that wait for a connection."),
        .optional(
            "failing_seconds", .whole, \.failingSeconds,
            "For how long Apple has accepted no request, although some were tried; absent if all is well."),
        .optional("token_age_seconds", .whole, \.tokenAgeSeconds, "The age of the provider token of a key."))
}
