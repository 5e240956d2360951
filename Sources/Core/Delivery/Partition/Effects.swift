public import Basics

/// A stored or transient message on its way to a device, with what the frame needs of its registration.
///
/// A class, since a copy of its values would count half a dozen references.
public final class DeviceDelivery: Sendable {
    /// The message or marker.
    public let message: StoredMessage
    /// What the app registered with: `category`, the `subtype` pair, and the keys of a web app, with which the message is
    /// encrypted.
    public let app: RegisteredApp
    /// `from` of the frame.
    public let from: [UInt8]
    /// Whether the message is stored: it then carries a persistent ID, and its acknowledgement removes it.
    public let isStored: Bool

    public init(message: StoredMessage, app: RegisteredApp, from: [UInt8], isStored: Bool) {
        self.message = message
        self.app = app
        self.from = from
        self.isStored = isStored
    }

    /// `category` of the frame.
    public var category: [UInt8] { app.parts.category }
    /// The `subtype` pair; empty if there is none.
    public var subtype: [UInt8] { app.parts.subtype }
    /// The keys of a web app; `nil` if the message is sent unencrypted.
    public var web: WebKeys? { app.parts.web }
}

/// Why an upstream message was refused: the device receives `send_error` (mcs-device 4.4).
public enum UpstreamRefusal: String, Sendable, CaseIterable {
    /// The sender does not exist, or the app is not registered with it.
    case invalidParameters = "invalid_parameters"
    /// Over the payload limit.
    case tooLarge = "messagetoobig"
    /// It has expired: it was now-or-never, and no app server was connected.
    case expired = "service_not_available"
    /// Too many messages are waiting.
    case tooMany = "toomanymessages"
    /// The store is unavailable: the message is not acknowledged, so that the device sends it again.
    case unavailable = "unavailable"
}

/// Why a registration was refused; the raw value is the `Error=` word (mcs-device 5.2).
public enum RegistrationRefusal: String, Error, Sendable, CaseIterable {
    case authenticationFailed = "AUTHENTICATION_FAILED"
    case invalidSender = "INVALID_SENDER"
    case invalidParameters = "INVALID_PARAMETERS"
    case tooManyRegistrations = "TOO_MANY_REGISTRATIONS"
    /// The registration has the maximum number of topics.
    case tooManySubscriptions = "TOO_MANY_SUBSCRIBERS"
    /// The token that the request names is not or no longer registered.
    case notRegistered = "UNREGISTERED"
    /// The registration belongs to another installation, device or project than the request shows.
    case notPermitted = "PERMISSION_DENIED"
    case serviceNotAvailable = "SERVICE_NOT_AVAILABLE"
    /// Unauthenticated peers have sent too many requests in this minute.
    case tooManyUnauthenticated = "QUOTA_EXCEEDED"
    /// The registry has reached its maximum size. Clients do not understand this word, so each answer carries one that its client
    /// does.
    case registryFull = "REGISTRY_FULL"
}

/// The actions that the core wants done, gathered over one turn. The shell empties it and reuses its storage.
public struct Effects: Sendable {
    /// For sessions, in order per connection.
    public var commands: [(ConnectionID, SessionCommand)] = []
    /// For the APNs gateway.
    public var deliveries: [GatewayDelivery] = []
    /// For the webhooks, in order.
    public var webhooks: [WebhookOrder] = []
    /// For other partitions (or this one), routed by their key.
    public var forwards: [Event] = []
    /// For the store: written together, in order, as the batch of this turn.
    public var mutations: [Mutation] = []
    /// Questions to the store.
    public var loads: [StoreQuery] = []
    /// Downstream messages that reached each milestone, for metrics.
    public var downstream = MilestoneCounts()
    /// Upstream messages that reached each milestone, for metrics.
    public var upstream = MilestoneCounts()
    /// Messages by sender, for metrics.
    public var senders = SenderTally()
    /// When delivered messages were accepted whose devices were connected all the time, for metrics.
    public var delivered = StartTimes()
    /// Devices that were removed because they had not been seen for too long.
    public var expiredDevices = 0
    /// Devices that were removed because they were never used.
    public var unusedDevices = 0
    /// Registrations that ended because APNs does not know their device token any more.
    public var endedTokens = 0
    /// Whether a device has confirmed the machine's wall clock: the shell sends `clockAccepted` to every partition.
    public var confirmsClock = false
    /// Steps of messages, for the history.
    public var history = HistoryBatch()
    /// Failed invariants.
    public var invariantFailures: [InvariantFailure] = []
    /// Topic messages that were accepted.
    public var topicJobs = 0
    /// Change of the number of topic messages that not all partitions have, or that connected devices are being sent.
    public var topicJobsOpen = 0
    /// App instances that topic messages were sent to.
    public var topicMembers = 0

    /// Creates empty effects.
    public init() {}

    /// Empties the effects and keeps their storage for the next turn.
    public mutating func removeAll() {
        commands.removeAll(keepingCapacity: true)
        deliveries.removeAll(keepingCapacity: true)
        webhooks.removeAll(keepingCapacity: true)
        forwards.removeAll(keepingCapacity: true)
        mutations.removeAll(keepingCapacity: true)
        loads.removeAll(keepingCapacity: true)
        downstream = MilestoneCounts()
        upstream = MilestoneCounts()
        senders.removeAll()
        delivered = StartTimes()
        expiredDevices = 0
        unusedDevices = 0
        endedTokens = 0
        confirmsClock = false
        history.removeAll()
        invariantFailures.removeAll(keepingCapacity: true)
        topicJobs = 0
        topicJobsOpen = 0
        topicMembers = 0
    }
}

/// How many messages passed each milestone.
public struct MilestoneCounts: Sendable, Equatable {
    public var accepted = 0
    public var stored = 0
    public var sent = 0
    public var delivered = 0
    public var replaced = 0
    public var expired = 0
    public var refused = 0
    public var discarded = 0
    public var removed = 0
    public var forwarded = 0

    /// Creates counts of 0.
    public init() {}

    /// The count of one milestone.
    public subscript(milestone: Milestone) -> Int {
        get {
            switch milestone {
            case .accepted: accepted
            case .stored: stored
            case .sent: sent
            case .delivered: delivered
            case .replaced: replaced
            case .expired: expired
            case .refused: refused
            case .discarded: discarded
            case .removed: removed
            case .forwarded: forwarded
            }
        }
        set {
            switch milestone {
            case .accepted: accepted = newValue
            case .stored: stored = newValue
            case .sent: sent = newValue
            case .delivered: delivered = newValue
            case .replaced: replaced = newValue
            case .expired: expired = newValue
            case .refused: refused = newValue
            case .discarded: discarded = newValue
            case .removed: removed = newValue
            case .forwarded: forwarded = newValue
            }
        }
    }

    /// Adds what the store has counted: each message that it added was accepted and is stored.
    mutating func add(stored counts: MilestoneCounts) {
        add(counts)
        stored += counts.accepted
    }

    /// Adds the counts of another turn or partition.
    public mutating func add(_ other: MilestoneCounts) {
        accepted += other.accepted
        stored += other.stored
        sent += other.sent
        delivered += other.delivered
        replaced += other.replaced
        expired += other.expired
        refused += other.refused
        discarded += other.discarded
        removed += other.removed
        forwarded += other.forwarded
    }

    /// Messages that should still be pending: accepted minus all terminal milestones.
    public var expectedPending: Int {
        accepted - delivered - forwarded - replaced - expired - discarded - removed
    }
}
