// The numbers of cases with values. They are part of the format.

/// The numbers of the requests that name an installation.
enum InstallationActionCase: UInt8, Numbered {
    case subscribe = 1
    case unsubscribe = 2
    case address = 3
    case send = 4
    case remove = 5
    case vouch = 6
    case claim = 7
    case create = 8
    case vouched = 9
    case refresh = 10
    case end = 11
    case revoke = 12
    case imported = 13
    case apple = 14

    static let kind: StaticString = "installation request"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the requests about a registration.
enum TokenActionCase: UInt8, Numbered {
    case describe = 1
    case subscribe = 2
    case unsubscribe = 3

    static let kind: StaticString = "token request"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the requests about groups.
enum GroupOperationCase: UInt8, Numbered {
    case create = 1
    case add = 2
    case remove = 3
    case imported = 4
    case find = 5
    case show = 6
    case reconcile = 7

    static let kind: StaticString = "group request"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the answers of the gateway.
enum GatewayOutcomeCase: UInt8, Numbered {
    case accepted = 1
    case later = 2
    case refused = 3
    case tokenEnded = 4
    case tokenUnknown = 5
    case tokenMismatched = 6

    static let kind: StaticString = "gateway answer"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of refusals.
enum RefusalCase: UInt8, Numbered {
    case missingTarget = 1
    case wrongType = 2
    case outOfRange = 3
    case notAllowed = 4
    case tooLarge = 5
    case reservedKey = 6
    case conflict = 7
    case repeatedMessageID = 8
    case badAck = 9
    case invalidToken = 10
    case senderMismatch = 11
    case notRegistered = 12
    case packageMismatch = 13
    case senderSuspended = 14
    case deviceRateExceeded = 15
    case senderRateExceeded = 16
    case topicRateExceeded = 17
    case unavailable = 18
    case internalError = 19
    case draining = 20
    case apns = 21
    case storeDamaged = 22

    static let kind: StaticString = "refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the faults of an ack.
enum AckFaultCase: UInt8, Numbered {
    case missing = 1
    case notAString = 2
    case unknown = 3

    static let kind: StaticString = "fault of an ack"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of scopes.
enum ScopeCase: UInt8, Numbered {
    case unrecorded = 1
    case unnamed = 2
    case all = 3
    case only = 4

    static let kind: StaticString = "scope"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the scopes that a request ends.
enum EndedScopesCase: UInt8, Numbered {
    case any = 1
    case unnamed = 2
    case named = 3
    case one = 4

    static let kind: StaticString = "ended scopes"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of proofs.
enum ProofCase: UInt8, Numbered {
    case none = 1
    case device = 2
    case installation = 3

    static let kind: StaticString = "proof"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the names of projects.
enum ProjectCase: UInt8, Numbered {
    case sender = 1
    case label = 2

    static let kind: StaticString = "project"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the recipients of answers.
enum ReplyToCase: UInt8, Numbered {
    case session = 1
    case group = 2
    case topic = 3

    static let kind: StaticString = "recipient of an answer"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of credentials.
enum EntitlementCase: UInt8, Numbered {
    case account = 1
    case webPush = 2
    case webPushAccount = 3

    static let kind: StaticString = "entitlement"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the answers of members of a group.
enum MemberAnswerCase: UInt8, Numbered {
    case sent = 1
    case refused = 2

    static let kind: StaticString = "answer of a member"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}
