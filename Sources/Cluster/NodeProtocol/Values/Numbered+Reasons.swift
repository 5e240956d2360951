import Basics
import Delivery

// The numbers of reasons. They are part of the format.

extension CloseReason: Numbered {
    static let kind: StaticString = "close reason"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .peerClosed: 1
        case .peerReset: 2
        case .peerEndedStream: 3
        case .connectFailed: 4
        case .handshakeDeadline: 5
        case .loginDeadline: 6
        case .requestDeadline: 7
        case .slowRequest: 8
        case .frameDeadline: 9
        case .idle: 10
        case .deadPeer: 11
        case .slowConsumer: 12
        case .proxyHeader: 13
        case .handshakeFailed: 14
        case .invalidXML: 15
        case .restrictedXML: 16
        case .unsupportedEncoding: 17
        case .protocolViolation: 18
        case .tooLarge: 19
        case .flood: 20
        case .tooManyLogins: 21
        case .loginRefused: 22
        case .notAuthorized: 23
        case .replacedByNewerLogin: 24
        case .streamResumed: 25
        case .tooManyUnacknowledged: 26
        case .tooManyConnections: 27
        case .connectionDraining: 28
        case .systemShutdown: 29
        case .credentialsRevoked: 30
        case .senderSuspended: 31
        case .deviceForgotten: 32
        case .operatorRequest: 33
        case .responseComplete: 34
        case .storeFailed: 35
        case .internalError: 36
        case .ownerChanged: 37
        case .storeDamaged: 38
        }
    }
}

extension APNsRefusal.Kind: Numbered {
    static let kind: StaticString = "kind of APNs refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .credential: 1
        case .unregistered: 2
        case .badToken: 3
        case .mismatch: 4
        case .activityEnded: 5
        case .tooLarge: 6
        case .invalid: 7
        case .rateExceeded: 8
        case .unavailable: 9
        case .internalFault: 10
        }
    }
}

extension LoginRefusal: Numbered {
    static let kind: StaticString = "login refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .wrongCredentials: 1
        case .expiredCredentials: 2
        case .suspended: 3
        case .tooManyConnections: 4
        case .tooManyFailures: 5
        case .unavailable: 6
        }
    }
}

extension UpstreamRefusal: Numbered {
    static let kind: StaticString = "upstream refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .invalidParameters: 1
        case .tooLarge: 2
        case .expired: 3
        case .tooMany: 4
        case .unavailable: 5
        }
    }
}

extension RegistrationRefusal: Numbered {
    static let kind: StaticString = "registration refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .authenticationFailed: 1
        case .invalidSender: 2
        case .invalidParameters: 3
        case .tooManyRegistrations: 4
        case .tooManySubscriptions: 5
        case .notRegistered: 6
        case .notPermitted: 7
        case .serviceNotAvailable: 8
        case .tooManyUnauthenticated: 9
        case .registryFull: 10
        }
    }
}

extension TokenRefusal: Numbered {
    static let kind: StaticString = "token refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .notRegistered: 1
        case .senderMismatch: 2
        case .tooManyTopics: 3
        case .rateExceeded: 4
        case .registryFull: 5
        case .unavailable: 6
        }
    }
}

extension GroupRefusal: Numbered {
    static let kind: StaticString = "group refusal"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .labelTaken: 1
        case .noMembers: 2
        case .notFound: 3
        case .labelMismatch: 4
        case .tooManyMembers: 5
        case .registryFull: 6
        case .unavailable: 7
        case .storeDamaged: 8
        }
    }
}
