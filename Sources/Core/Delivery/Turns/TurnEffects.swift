public import Basics

/// What a turn of a reactor wants done outside of its thread. What crosses to other reactors and nodes, and the figures of the partitions,
/// stay in the loop (`TurnLoop.outgoing`, `TurnLoop.active`), which keeps their storage.
public struct TurnEffects: Sendable {
    /// The writes, in order per partition.
    public var batches: [PartitionBatch] = []
    /// The queries to the store.
    public var loads: [PartitionQuery] = []
    /// For the APNs gateway.
    public var deliveries: [GatewayDelivery] = []
    /// For the webhooks, in order.
    public var webhooks: [WebhookOrder] = []
    /// Whether a device has confirmed the machine's wall clock: every partition is to accept it (`Event.clockAccepted`).
    public var confirmsClock = false

    /// Creates empty effects.
    public init() {}
}

/// The lease by which a node decides for a partition. Another thread sets its end.
public protocol DecisionLease: AnyObject, Sendable {
    /// The end, of the monotonic clock.
    var until: Instant { get }

    /// Asks for a notice when the end is later (`TurnLoop.leaseRenewed`). Its caller looks at `until` afterwards.
    func wait()
}
