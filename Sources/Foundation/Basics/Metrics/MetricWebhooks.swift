extension Metric {
    /// The values of the label `outcome` of requests to webhooks.
    public enum WebhookOutcome: String, LabelWord {
        /// Answered with 2xx.
        case acknowledged
        /// Answered with another status.
        case refused
        /// Not answered.
        case unanswered
    }

    /// The values of the label `state` of endpoints that are not paused by an operator.
    public static let webhookStates = ["open", "paused", "gone"]

    static let webhooks: [Row] = [
        Row(
            metric: .webhookRequests, name: "ccs_webhook_requests_total", kind: .counter,
            help: "Requests to webhooks, by outcome; one that is not acknowledged is repeated.",
            labels: [Label(name: "outcome", values: WebhookOutcome.allCases.map(\.rawValue))]),
        Row(
            metric: .webhookAnswerTimes, name: "ccs_webhook_answer_seconds", kind: .histogram,
            help: "Time between requests to webhooks and their end.", bounds: latencyBounds),
        Row(
            metric: .webhookRequestsOpen, name: "ccs_webhook_requests_open", kind: .gauge,
            help: "Requests to webhooks in flight."),
        Row(
            metric: .webhookEndpoints, name: "ccs_webhook_endpoints", kind: .gauge,
            help:
                "Endpoints of webhooks by state: `open` ones get messages, `paused` ones have failed and are tried again, `gone` ones have answered 410.",
            labels: [Label(name: "state", values: webhookStates)]),
    ]
}
