extension Metric {
    /// The values of the label `environment`.
    public static let apnsEnvironments = ["production", "sandbox"]

    /// The values of the label `outcome`: what became of a delivery.
    public enum APNsOutcome: String, LabelWord {
        case accepted
        case later
        case refused
        case tokenEnded = "token_ended"
        case tokenUnknown = "token_unknown"
        case tokenMismatched = "token_mismatched"
    }

    /// Apple's reasons (apns 1.6) as values of the label `reason`. The first one stands for status 200, and the last ones for an
    /// unknown reason, and for requests without an answer.
    public static let apnsReasons = [
        "accepted", "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority",
        "BadTopic", "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType",
        "MissingDeviceToken", "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadCertificate",
        "BadCertificateEnvironment", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
        "MissingProviderToken", "UnrelatedKeyIdInToken", "BadEnvironmentKeyInToken",
        "BadEnvironmentKeyIdInToken", "BadPath", "MethodNotAllowed", "Unregistered", "ExpiredToken",
        "PayloadTooLarge", "TooManyProviderTokenUpdates", "TooManyRequests", "InternalServerError",
        "ServiceUnavailable", "Shutdown", "other", "unprocessed", "unanswered",
    ]

    /// Bounds for answers from a network, in microseconds: from 5 ms to 10 s, as usual for Prometheus.
    static let latencyBounds = [
        5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    ]

    static let gateway: [Row] = [
        Row(
            metric: .apnsDeliveries, name: "ccs_apns_deliveries_total", kind: .counter,
            help: "Deliveries of messages to Apple, by outcome; one that is answered later is repeated.",
            labels: [Label(name: "outcome", values: APNsOutcome.allCases.map(\.rawValue))]),
        Row(
            metric: .apnsAnswers, name: "ccs_apns_answers_total", kind: .counter,
            help:
                "Apple's answers by reason; `unprocessed` requests never reached Apple, `unanswered` ones may have.",
            labels: [
                Label(name: "environment", values: apnsEnvironments),
                Label(name: "reason", values: apnsReasons),
            ]),
        Row(
            metric: .apnsAnswerTimes, name: "ccs_apns_answer_seconds", kind: .histogram,
            help: "Time between requests to Apple and their answers.",
            labels: [Label(name: "environment", values: apnsEnvironments)], bounds: latencyBounds),
        Row(
            metric: .apnsConnections, name: "ccs_apns_connections", kind: .gauge,
            help: "Open connections to Apple.",
            labels: [Label(name: "environment", values: apnsEnvironments)]),
        Row(
            metric: .apnsConnects, name: "ccs_apns_connects_total", kind: .counter,
            help: "Attempts to connect to Apple, by result.",
            labels: [Label(name: "result", values: results)]),
        Row(
            metric: .apnsRequestsOpen, name: "ccs_apns_requests_open", kind: .gauge,
            help: "Requests that Apple has not answered yet."),
        Row(
            metric: .apnsQueue, name: "ccs_apns_queue", kind: .gauge,
            help: "Deliveries in the gateway, those being sent included."),
        Row(
            metric: .apnsTokenMinted, name: "ccs_apns_provider_token_minted_seconds", kind: .gauge,
            help: "When a provider token was signed last, in seconds since 1970; 0 if there is none."),
    ]
}
