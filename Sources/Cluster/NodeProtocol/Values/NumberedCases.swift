import Basics
import Delivery

// The numbers of cases without values. They are part of the format.

extension CloseReason: Listed {
    static let numbers = NumberTable<Self>(
        "close reason",
        [
            .peerClosed, .peerReset, .peerEndedStream, .connectFailed, .handshakeDeadline, .loginDeadline,
            .requestDeadline, .slowRequest, .frameDeadline, .idle, .deadPeer, .slowConsumer, .proxyHeader,
            .handshakeFailed, .invalidXML, .restrictedXML, .unsupportedEncoding, .protocolViolation,
            .tooLarge, .flood, .tooManyLogins, .loginRefused, .notAuthorized, .replacedByNewerLogin,
            .streamResumed, .tooManyUnacknowledged, .tooManyConnections, .connectionDraining,
            .systemShutdown, .credentialsRevoked, .senderSuspended, .deviceForgotten, .operatorRequest,
            .responseComplete, .storeFailed, .internalError, .ownerChanged, .storeDamaged,
        ])
}

extension APNsRefusal.Kind: Listed {
    static let numbers = NumberTable<Self>(
        "kind of APNs refusal",
        [
            .credential, .unregistered, .badToken, .mismatch, .activityEnded, .tooLarge, .invalid,
            .rateExceeded, .unavailable, .internalFault,
        ])
}

extension ScheduleLimit: Listed {
    static let numbers = NumberTable<Self>("limit of the schedule", [.device, .sender, .server])
}

extension LoginRefusal: Listed {
    static let numbers = NumberTable<Self>(
        "login refusal",
        [
            .wrongCredentials, .expiredCredentials, .suspended, .tooManyConnections, .tooManyFailures,
            .unavailable,
        ])
}

extension UpstreamRefusal: Listed {
    static let numbers = NumberTable<Self>(
        "upstream refusal", [.invalidParameters, .tooLarge, .expired, .tooMany, .unavailable])
}

extension RegistrationRefusal: Listed {
    static let numbers = NumberTable<Self>(
        "registration refusal",
        [
            .authenticationFailed, .invalidSender, .invalidParameters, .tooManyRegistrations,
            .tooManySubscriptions, .notRegistered, .notPermitted, .serviceNotAvailable,
            .tooManyUnauthenticated, .registryFull,
        ])
}

extension TokenRefusal: Listed {
    static let numbers = NumberTable<Self>(
        "token refusal",
        [.notRegistered, .senderMismatch, .tooManyTopics, .rateExceeded, .registryFull, .unavailable])
}

extension GroupRefusal: Listed {
    static let numbers = NumberTable<Self>(
        "group refusal",
        [
            .labelTaken, .noMembers, .notFound, .labelMismatch, .tooManyMembers, .registryFull, .unavailable,
            .storeDamaged,
        ])
}

extension ImportOutcome: Listed {
    static let numbers = NumberTable<Self>(
        "import outcome",
        [
            .added, .unchanged, .replaced, .differs, .noDevice, .noRegistration, .beyondDevice, .full,
        ])
}

extension APNsEnvironment: Listed {
    static let numbers = NumberTable<Self>("APNs environment", [.production, .sandbox])
}

extension TraceRecord.Direction: Listed {
    static let numbers = NumberTable<Self>("direction", [.downstream, .upstream, .connection])
}

extension TraceRecord.Step: Listed {
    static let numbers = NumberTable<Self>(
        "step",
        [
            .accepted, .stored, .sent, .delivered, .replaced, .expired, .refused, .discarded, .removed,
            .forwarded, .acknowledged, .received, .duplicate, .deferred, .connected, .disconnected, .idle,
            .active, .loginRefused, .forgotten, .cancelled, .scheduled, .released,
        ])
}

extension Priority: Listed {
    static let numbers = NumberTable<Self>("priority", [.normal, .high])
    // Each message has one.
    var number: UInt8 { self == .normal ? 1 : 2 }
}

extension Requester.Growth: Listed {
    static let numbers = NumberTable<Self>("growth", [.unbounded, .counted, .knownOnly, .full])
}

extension UpstreamOutcome: Listed {
    static let numbers = NumberTable<Self>(
        "upstream outcome", [.acknowledged, .refused, .unanswered, .expired, .returned])
}

extension Milestone: Listed {
    static let numbers = NumberTable<Self>(
        "milestone",
        [
            .accepted, .stored, .sent, .delivered, .replaced, .expired, .refused, .discarded, .removed,
            .forwarded,
        ])

    // Each message has one: a search would take a tenth of the time of its removal.
    var number: UInt8 {
        switch self {
        case .accepted: 1
        case .stored: 2
        case .sent: 3
        case .delivered: 4
        case .replaced: 5
        case .expired: 6
        case .refused: 7
        case .discarded: 8
        case .removed: 9
        case .forwarded: 10
        }
    }
}

extension StoreMark: Listed {
    static let numbers = NumberTable<Self>("mark", [.sequence, .clock])
}
