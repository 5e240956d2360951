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

/// What a protocol session is told to do.
public enum SessionCommand: Sendable {
    // App servers.
    /// The keys that may be proved, newest first; none for an unknown sender, which must not show.
    case loginKeys([ServerKey])
    /// The login stands.
    case loginAccepted
    /// The login fails.
    case loginRefused(LoginRefusal)
    /// Write the ACK of a submission; `canonical` where the token was replaced.
    ///
    /// `id` is what the device knows the message by; nil for a dry run, which makes none.
    case acknowledge(ticket: UInt32, id: PersistentID?, canonical: RegistrationName?)
    /// Write the NACK of a submission.
    case refuse(ticket: UInt32, Refusal)
    /// Write the stanza of an upstream message or receipt. Boxed, so that commands are small and cheap to hand on.
    indirect case deliverUpstream(StoredUpstream)
    /// Go on with this stream (XEP-0198).
    case streamResumed(ResumableStream)
    /// There is no such stream to go on with.
    case streamNotResumed
    /// Announce CONNECTION_DRAINING; the host closes later.
    case drain
    /// Let so many messages go unanswered in each direction from now on; what is under way stays so.
    case changePendingWindow(Int)
    /// A drained connection may end for this reason as soon as nothing is owed on it, from this instant on.
    case endWhenIdle(from: Instant, CloseReason)

    /// Answer a message to a group.
    indirect case groupAnswered(ticket: UInt32, GroupAnswer)
    /// Answer a request about a group with the group as it is now; without members it is gone.
    indirect case groupKnown(ticket: UInt32, GroupRecord)
    /// Refuse a request about a group.
    case groupRefused(ticket: UInt32, GroupRefusal)

    /// Answer a question about a registration, or that its subscription is made or ended.
    indirect case tokenKnown(ticket: UInt32, TokenReport)
    /// Refuse such a request.
    case tokenRefused(ticket: UInt32, TokenRefusal)

    // Devices.
    /// The login stands; upstream messages of these persistent ids are known to be stored.
    case deviceLoginAccepted
    /// Write the frame of a message or marker. Boxed, as above.
    indirect case deliver(DeviceDelivery)
    /// All of a page has been handed over: answer `deviceReady` when it has left.
    case reportWhenReady
    /// The upstream message of a ticket is on disk (or known): its frame may be acknowledged.
    case upstreamStored(ticket: UInt32)
    /// The upstream message of a ticket is refused.
    case upstreamRefused(ticket: UInt32, UpstreamRefusal)

    // HTTP.
    /// Answer a check-in; the token is nil where the device keeps the one it gave.
    case checkedIn(ticket: UInt32, DeviceID, freshToken: UInt64?)
    /// Answer a check-in with a wrong token.
    case checkInRefused(ticket: UInt32)
    /// Answer a registration.
    case registered(ticket: UInt32, RegistrationName)
    /// Answer an unregistration; done, whether or not there was something to remove.
    case unregistered(ticket: UInt32)
    /// Answer either with an error.
    case registrationRefused(ticket: UInt32, RegistrationRefusal)
    /// Answer a request about an installation with its record, as it is now, and how many registrations it has.
    indirect case installationKnown(ticket: UInt32, InstallationRecord, registrations: Int)
    /// Answer an operator's request to forget; the counts of what went.
    case forgotten(ticket: UInt32, registrations: Int, messages: Int)

    /// A step of a message of the device that is watched.
    indirect case traced(ticket: UInt32, TraceNote)

    // All.
    /// A request was no stranger's: the place that it took among theirs is free again (`Origin.Growth.counted`).
    case placeUnused
    /// Say goodbye in the protocol's own way, then close.
    case close(CloseReason)
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
