public import Basics

/// What a sender's partition wants of the webhooks, in order.
///
/// A webhook looks like one more session of the sender, with a window of its own. Each item is answered once with
/// `upstreamFinished` on the connection of its order, unless it is withdrawn or the session is forgotten.
public enum WebhookOrder: Sendable {
    /// Send a message or receipt; those of one device in the order of their orders. Without the lease nothing is sent; `nil` without a cluster.
    indirect case deliver(ConnectionID, StoredUpstream, lease: (any DecisionLease)? = nil)
    /// Forget an item that has left the window; a late answer to it is ignored.
    case withdraw(ConnectionID, SenderID, SequenceNumber)
    /// App servers take over, or the webhook is paused: return everything that is not in flight.
    case recall(ConnectionID)
    /// The session has ended: forget what is left of it, and end its requests.
    case forget(ConnectionID)

    /// The same order under a lease.
    func under(_ lease: (any DecisionLease)?) -> WebhookOrder {
        guard lease != nil, case .deliver(let connection, let message, _) = self else { return self }
        return .deliver(connection, message, lease: lease)
    }
}

extension ConnectionID {
    /// The reactor of no connection.
    static let webhookReactor = UInt16.max

    /// Whether it stands for a webhook's session: orders go to the webhooks, and no command to a reactor.
    public var isWebhook: Bool { reactor == Self.webhookReactor }

    /// The session of a webhook; `salt` differs in each process and partition, so that no answer reaches a session of another one.
    init(webhook number: UInt32, salt: UInt32) {
        self.init(reactor: Self.webhookReactor, slot: salt, generation: number)
    }
}
