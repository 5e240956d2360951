/// What the gateway does with an answer of APNs: the column "class" of apns 1.6.
enum VerdictClass: Equatable, CaseIterable {
    /// Apple has the message.
    case accepted
    /// Apple refuses something that either the app server or the mapping has set.
    case badRequest
    /// Apple refuses something that only this server sets.
    case internalFault
    case tooLarge
    case tokenUnknown
    case tokenMismatched
    case tokenEnded
    /// Apple refuses the credential, for all requests.
    case credential
    /// Apple refuses the credential for this topic.
    case topic
    /// The provider token is too old, or the clock is wrong.
    case tokenExpired
    /// The key of the provider token is not the one that the connection started with.
    case unrelatedKey
    /// The connection has had too many provider tokens.
    case tooManyTokens
    /// The device gets too many messages.
    case tooManyRequests
    /// Apple's server cannot take it now.
    case busy
    /// Apple's server is going down.
    case shutdown
    /// The connection is at its end.
    case connection
    /// Something other than Apple has answered: it shows nothing about the message, the device token or the credential.
    case foreign

    /// Whether Apple has accepted the credential for the topic: it judged the message or the device token.
    var provesCredential: Bool {
        switch self {
        case .accepted, .badRequest, .tooLarge, .tokenUnknown, .tokenMismatched, .tokenEnded,
            .tooManyRequests:
            true
        case .internalFault, .credential, .topic, .tokenExpired, .unrelatedKey, .tooManyTokens, .busy,
            .shutdown, .connection, .foreign:
            false
        }
    }
}

/// The table of Apple's answers (apns 1.6).
enum VerdictTable {
    /// Every reason, its status and its class.
    static let rows: [(status: Int, reason: String, kind: VerdictClass)] = [
        (400, "BadCollapseId", .badRequest),
        (400, "BadDeviceToken", .tokenUnknown),
        (400, "BadExpirationDate", .badRequest),
        (400, "BadMessageId", .internalFault),
        (400, "BadPriority", .badRequest),
        (400, "BadTopic", .topic),
        (400, "DeviceTokenNotForTopic", .tokenMismatched),
        (400, "DuplicateHeaders", .internalFault),
        (400, "IdleTimeout", .connection),
        (400, "InvalidPushType", .badRequest),
        (400, "MissingDeviceToken", .internalFault),
        (400, "MissingTopic", .topic),
        (400, "PayloadEmpty", .badRequest),
        (400, "TopicDisallowed", .topic),
        (403, "BadCertificate", .credential),
        (403, "BadCertificateEnvironment", .credential),
        (403, "ExpiredProviderToken", .tokenExpired),
        (403, "Forbidden", .credential),
        (403, "InvalidProviderToken", .credential),
        (403, "MissingProviderToken", .credential),
        (403, "UnrelatedKeyIdInToken", .unrelatedKey),
        (403, "BadEnvironmentKeyInToken", .credential),
        (403, "BadEnvironmentKeyIdInToken", .credential),
        (404, "BadPath", .internalFault),
        (405, "MethodNotAllowed", .internalFault),
        (410, "Unregistered", .tokenEnded),
        (410, "ExpiredToken", .tokenEnded),
        (413, "PayloadTooLarge", .tooLarge),
        (429, "TooManyProviderTokenUpdates", .tooManyTokens),
        (429, "TooManyRequests", .tooManyRequests),
        (500, "InternalServerError", .busy),
        (503, "ServiceUnavailable", .busy),
        (503, "Shutdown", .shutdown),
    ]

    private static let byReason = Dictionary(uniqueKeysWithValues: rows.map { ($0.reason, $0) })

    /// Returns the class of an answer with the request's `apns-id`. An unknown reason, or one under another status, is classed by the status.
    ///
    /// Apple always gives a reason. Whatever answers without one is on the way to Apple, and nothing may end because of it; nor does a
    /// credential because of a reason that is not one of Apple's for this status, which would refuse all messages.
    static func kind(status: Int, reason: String) -> VerdictClass {
        if status == 200 { return .accepted }
        if let row = byReason[reason], row.status == status { return row.kind }
        guard !reason.isEmpty else { return .foreign }
        switch status {
        case 400: return .badRequest
        case 403: return .foreign
        case 404, 405: return .internalFault
        // No known reason: a new one of Apple's may end the message, but not the registration.
        case 410: return .busy
        case 413: return .tooLarge
        case 429: return .tooManyRequests
        default: return .busy
        }
    }

    /// Returns whether the reason of a GOAWAY frame refuses the credential, so that a new connection would fare no better.
    static func refusesCredential(_ reason: String) -> Bool { byReason[reason]?.kind == .credential }
}
