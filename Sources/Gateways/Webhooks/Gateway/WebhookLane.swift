import Basics
import Delivery

/// What is sent one after the other.
enum WebhookLaneKey: Hashable {
    /// The messages of a device, in order.
    case device(DeviceID)
    /// A receipt, which waits for nothing.
    case receipt(SequenceNumber)

    init(_ message: StoredUpstream) {
        self = message.kind == .message ? .device(message.from.device) : .receipt(message.sequence)
    }
}

/// A message or receipt that the core wants delivered.
struct WebhookItem {
    /// The session that answers for it.
    let session: ConnectionID
    let message: StoredUpstream
    /// When the core ordered it.
    let since: Instant
    /// The lease without which it is not sent; `nil` without a cluster.
    let lease: (any DecisionLease)?

    /// Whether it has no lifetime: it has one attempt, and soon.
    var isPrompt: Bool { message.kind == .message && message.lifetimeSeconds == 0 }

    /// Whether it is too late to send a message without a lifetime. The core judges the others, whose clock is guarded.
    func isOverdue(_ now: Instant) -> Bool {
        isPrompt && now.milliseconds(since: since) >= Limits.Message.promptMilliseconds
    }

    func finished(_ outcome: UpstreamOutcome) -> Event {
        .upstreamFinished(session, message.sender, message.sequence, outcome)
    }
}

/// A request in flight.
struct WebhookFlight {
    let sender: SenderID
    let lane: WebhookLaneKey
    let item: WebhookItem
    /// Whether the core has withdrawn the message, and waits for no outcome.
    var isWithdrawn = false
}

/// The messages of one device, or one receipt: at most one is in flight.
struct WebhookLane {
    /// What waits, in order.
    var items: [WebhookItem] = []
    /// The request in flight.
    var flight: UInt64?
    /// When the first one may be sent.
    var dueAt = Instant.distantPast
    /// The attempts of the first one that have failed.
    private(set) var failures = 0
    /// The waits between its attempts.
    var backoff: Backoff

    init(seed: UInt64) {
        backoff = Backoff(
            minimumMilliseconds: Limits.Webhook.retryMilliseconds,
            maximumMilliseconds: Limits.Webhook.longestRetryMilliseconds, seed: seed)
    }

    var isEmpty: Bool { items.isEmpty && flight == nil }

    /// Whether the first item can be sent now.
    func isDue(_ now: Instant) -> Bool { flight == nil && !items.isEmpty && dueAt <= now }

    /// Puts an item back whose attempt has failed.
    mutating func putBack(_ item: WebhookItem, _ now: Instant) {
        items.insert(item, at: 0)
        failures += 1
        dueAt = now.advanced(milliseconds: backoff.next())
    }

    /// Has the first item wait for its lease.
    mutating func waitForLease(_ now: Instant) {
        dueAt = now.advanced(milliseconds: Limits.Webhook.leaseMilliseconds)
    }

    /// Begins anew for the next item.
    mutating func advance() {
        dueAt = .distantPast
        failures = 0
        backoff.reset()
    }
}
