public import Basics
public import Delivery

/// Where a connection leads, and how it authenticates.
public struct APNsEndpoint: Hashable, Sendable {
    public var credential: APNsCredentialID
    public var environment: APNsEnvironment

    public init(credential: APNsCredentialID, environment: APNsEnvironment) {
        self.credential = credential
        self.environment = environment
    }
}

/// A request to send on a connection.
public struct APNsSend: Sendable {
    public var connection: APNsConnectionID
    /// Names the request in the event that reports its outcome.
    public var requestNumber: UInt64
    public var request: APNsRequest
    /// The provider token for `authorization`. `nil` if the connection has a client certificate.
    public var providerToken: [UInt8]?
    /// The lease without which it is not sent; `nil` without a cluster.
    public var lease: (any DecisionLease)?
}

/// What the gateway takes an answer for.
public enum APNsJudgement: Sendable, Equatable {
    case accepted(APNsEnvironment)
    /// Apple's reason, empty if the answer has none.
    case refused(APNsEnvironment, reason: String)
    /// It is not Apple's.
    case foreign(APNsEnvironment)

    init(_ kind: VerdictClass, _ verdict: APNsVerdict, _ environment: APNsEnvironment) {
        self =
            switch kind {
            case .accepted: .accepted(environment)
            case .foreign: .foreign(environment)
            default: .refused(environment, reason: verdict.reason)
            }
    }
}

/// What the log and the metrics report.
public enum APNsNotice: Sendable, Equatable {
    /// Apple refuses a credential; `nil` if it refused the connection.
    case credentialOff(APNsEndpoint, APNsVerdict?)
    case credentialOn(APNsEndpoint)
    /// Apple refuses a credential for one topic.
    case topicOff(APNsEndpoint, topic: [UInt8], APNsVerdict)
    case topicOn(APNsEndpoint, topic: [UInt8])
    /// Apple refused a provider token as expired although it is this young: the clock is wrong.
    case clockAlarm(APNsCredentialID, tokenAgeSeconds: Int)
    /// A registration named the wrong environment; this is the right one.
    case environmentCorrected(RegistrationName, APNsEnvironment)
    /// Too many device tokens of an app are refused to believe it.
    case massDeath(bundle: [UInt8], APNsEnvironment, bad: Int, of: Int)
    case massDeathOver(bundle: [UInt8], APNsEnvironment)
    case connectFailed(APNsEndpoint, APNsOpenFailure)
    /// Apple sent GOAWAY with this reason, which may be empty.
    case leaving(APNsEndpoint, reason: String)
    /// An answer without a reason of Apple's: something else has answered, such as a proxy.
    case foreignAnswer(APNsEndpoint, APNsVerdict)
    /// Apple refused what only this server sets.
    case internalFault(APNsVerdict)
}

/// What the shell must do. It executes the parts in the order of the properties and empties them.
public struct APNsEffects: Sendable {
    /// Provider tokens to sign; `APNsEvent.minted` reports each.
    public var mints: [APNsCredentialID] = []
    /// Connections to close; the gateway has forgotten them. What was in flight on them may be sent again at once.
    public var closes: [(connection: APNsConnectionID, reason: APNsCloseReason)] = []
    /// Connections to open.
    public var opens: [(connection: APNsConnectionID, endpoint: APNsEndpoint)] = []
    /// Requests to send.
    public var sends: [APNsSend] = []
    /// Answers for the core.
    public var answers: [GatewayAnswer] = []
    /// One for each answer to a request that was not given up before.
    public var judgements: [APNsJudgement] = []
    /// Reports for operators.
    public var notices: [APNsNotice] = []

    /// Creates empty effects.
    public init() {}

    /// Removes everything and keeps the memory.
    public mutating func removeAll() {
        mints.removeAll(keepingCapacity: true)
        opens.removeAll(keepingCapacity: true)
        sends.removeAll(keepingCapacity: true)
        closes.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        judgements.removeAll(keepingCapacity: true)
        notices.removeAll(keepingCapacity: true)
    }
}
