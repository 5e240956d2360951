public import Basics

/// A stored or passing message on its way to a device, with what the frame says about its registration.
public struct DeviceDelivery: Sendable {
    /// The message or marker.
    public var message: StoredMessage
    /// What the app said of itself: `category`, `subtype` among the pairs, and the keys of a web app, which the message is to
    /// be encrypted with.
    public var app: RegisteredApp
    /// `from` of the frame.
    public var from: [UInt8]
    /// Whether it is stored, so that it carries a persistent id and its acknowledgement matters.
    public var isStored: Bool

    /// A delivery; all parts are the caller's.
    public init(message: StoredMessage, app: RegisteredApp, from: [UInt8], isStored: Bool) {
        self.message = message
        self.app = app
        self.from = from
        self.isStored = isStored
    }

    /// `category` of the frame.
    public var category: [UInt8] { app.parts.category }
    /// `subtype` among the pairs; empty: none.
    public var subtype: [UInt8] { app.parts.subtype }
    /// The keys of a web app; nil: the message is sent as it is.
    public var web: WebKeys? { app.parts.web }
}

/// Why an upstream message was refused: the device hears `send_error` (mcs-device 4.4).
public enum UpstreamRefusal: String, Sendable {
    /// No such sender, or the app is not registered with it.
    case invalidParameters = "invalid_parameters"
    /// Over the payload limit.
    case tooLarge = "messagetoobig"
    /// Its time is over: now or never, and no app server was there.
    case expired = "service_not_available"
    /// Too many wait.
    case tooMany = "toomanymessages"
    /// The store cannot take it: it is not acknowledged, so that the device sends it again.
    case unavailable = "unavailable"
}

/// Why a registration was refused; the raw value is the `Error=` word (mcs-device 5.2).
public enum RegistrationRefusal: String, Error, Sendable, CaseIterable {
    case authenticationFailed = "AUTHENTICATION_FAILED"
    case invalidSender = "INVALID_SENDER"
    case invalidParameters = "INVALID_PARAMETERS"
    case tooManyRegistrations = "TOO_MANY_REGISTRATIONS"
    /// The registration has all the topics that it may have.
    case tooManySubscriptions = "TOO_MANY_SUBSCRIBERS"
    /// The token that a request names is not registered, or not any more.
    case notRegistered = "UNREGISTERED"
    /// The registration is another's: of another installation, device or project than the request shows.
    case notPermitted = "PERMISSION_DENIED"
    case serviceNotAvailable = "SERVICE_NOT_AVAILABLE"
    /// Strangers have asked too often in this minute.
    case tooManyStrangers = "QUOTA_EXCEEDED"
    /// The registry is as large as it may become; no client knows this word, and each is answered with one that it knows.
    case registryFull = "REGISTRY_FULL"
}

/// What the core wants done, gathered over one turn. The shell empties it and keeps its storage.
public struct Effects: Sendable {
    /// For sessions, in order per connection.
    public var commands: [(ConnectionID, SessionCommand)] = []
    /// For other partitions (or this one); routed by their address.
    public var forwards: [Event] = []
    /// For the store: written together, in order, by the batch of this turn.
    public var mutations: [Mutation] = []
    /// Questions to the store.
    public var loads: [Load] = []
    /// What happened, for metrics: how many messages passed each milestone, down and up.
    public var downstream = MilestoneCounts()
    /// The same for upstream messages.
    public var upstream = MilestoneCounts()
    /// Devices that were forgotten because they had not been seen for too long.
    public var expiredDevices = 0
    /// Devices that were forgotten because nothing was ever done with them.
    public var unusedDevices = 0
    /// Whether a device has confirmed the machine's wall clock: every partition is to be told `clockAccepted`.
    public var confirmsClock = false
    /// States that were found and cannot be.
    public var invariantFailures: [InvariantFailure] = []
    /// Messages to topics that were accepted.
    public var topicJobs = 0
    /// How many more of them are under way than before.
    public var topicJobsOpen = 0
    /// App instances that such messages were sent to.
    public var topicMembers = 0

    /// Nothing to do.
    public init() {}

    /// Empties it, keeping the storage for the next turn.
    public mutating func removeAll() {
        commands.removeAll(keepingCapacity: true)
        forwards.removeAll(keepingCapacity: true)
        mutations.removeAll(keepingCapacity: true)
        loads.removeAll(keepingCapacity: true)
        downstream = MilestoneCounts()
        upstream = MilestoneCounts()
        expiredDevices = 0
        unusedDevices = 0
        confirmsClock = false
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

    /// All zero.
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
            }
        }
    }

    /// Adds the counts of others.
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
    }

    /// What is neither ended nor still to be: accepted less all terminal ones.
    public var expectedPending: Int { accepted - delivered - replaced - expired - discarded - removed }
}
