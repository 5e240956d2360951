public import Basics
public import Delivery

/// An input of the gateway.
public enum WebhookEvent: Sendable {
    /// The core's orders.
    case orders([WebhookOrder])
    /// All endpoints, replacing those before.
    case endpoints([WebhookEndpoint])
    /// A request has ended.
    case answered(request: UInt64, WebhookAnswer)
    /// An operator wants the endpoint of a sender tried at once.
    case retry(SenderID)
    /// The daemon shuts down: start nothing more.
    case drain
    /// Time has passed; see `nextTick`.
    case tick
}

/// How a request ended.
public enum WebhookAnswer: Sendable, Equatable {
    /// The endpoint answered; `retryAfter` is its `Retry-After` in seconds.
    case status(Int, retryAfter: Int?)
    /// There was no answer.
    case failed(WebhookFailure, detail: String)

    /// Whether the message counts as delivered.
    var isAcknowledgement: Bool { if case .status(200..<300, _) = self { true } else { false } }

    /// What the endpoint asks for, in seconds.
    var retryAfter: Int? { if case .status(_, let seconds) = self { seconds } else { nil } }

    /// A description for operators, at most of a limited length.
    var words: String {
        switch self {
        case .status(let code, _): "HTTP status \(code)"
        case .failed(let failure, let detail):
            String(
                (detail.isEmpty ? failure.rawValue : "\(failure.rawValue): \(detail)")
                    .prefix(Limits.Webhook.reasonBytes))
        }
    }
}

/// Why there was no answer.
public enum WebhookFailure: String, Sendable, CaseIterable {
    /// The host name has no address.
    case unresolved = "name not resolved"
    /// The address is not a public one.
    case addressRefused = "address refused"
    /// No connection.
    case unreachable = "no connection"
    /// The certificate or the TLS version is not accepted.
    case untrusted = "TLS refused"
    /// The time is over.
    case timedOut = "timed out"
    /// Anything else, such as an answer that is not HTTP.
    case broken = "connection broken"
}

/// The actions that the gateway wants done.
public struct WebhookEffects: Sendable {
    /// Requests to end without a report; before `starts`.
    public var aborts: [UInt64] = []
    /// Requests to start.
    public var starts: [WebhookRequest] = []
    /// Events for the core.
    public var outcomes: [Event] = []
    /// Senders whose endpoints have answered 410, which is to be recorded.
    public var gone: [SenderID] = []
    /// For the log.
    public var notices: [WebhookNotice] = []

    /// Creates empty effects.
    public init() {}
}

/// What the gateway has noticed about an endpoint.
public enum WebhookNotice: Sendable, Equatable {
    /// It fails, and is paused for these milliseconds.
    case paused(SenderID, milliseconds: Int64, reason: String)
    /// It works again.
    case resumed(SenderID)
    /// It has answered 410.
    case gone(SenderID)
}
