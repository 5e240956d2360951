/// The answer of APNs to a request that it did not accept (apns 1.6).
public struct APNsVerdict: Sendable, Equatable {
    /// The HTTP status; 0 if the server decided without asking Apple.
    public var status: Int
    /// Apple's word, such as `BadDeviceToken`; empty if the answer had none.
    public var reason: String
    /// Since when the token has been invalid, milliseconds since 1970. `nil` unless Apple said so (status 410).
    public var invalidSince: UnixMilliseconds?

    /// Creates a verdict.
    public init(status: Int, reason: String, invalidSince: UnixMilliseconds? = nil) {
        self.status = status
        self.reason = reason
        self.invalidSince = invalidSince
    }
}

/// Why a message to an iOS app was refused: the classes that app servers can distinguish, and Apple's verdict (apns 4.1).
public struct APNsRefusal: Error, Sendable, Equatable {
    /// The class, by what the app server can do about it. The raw value is the word in logs and metric labels.
    public enum Kind: String, CaseIterable, Sendable {
        /// There is no usable credential for the app, or Apple refuses it.
        case credential = "apns_credential"
        /// The app is gone, or its token has expired.
        case unregistered = "apns_unregistered"
        /// Apple does not know the token, in either environment.
        case badToken = "apns_bad_token"
        /// The token belongs to another app.
        case mismatch = "apns_mismatch"
        /// Apple does not accept the token of a Live Activity. The registration is not concerned.
        case activityEnded = "apns_activity_ended"
        /// The payload is larger than Apple accepts.
        case tooLarge = "apns_too_large"
        /// Apple refuses what the app server asked for, such as an invalid `apns-collapse-id`.
        case invalid = "apns_invalid"
        /// Apple receives too many messages for the device.
        case rateExceeded = "apns_rate_exceeded"
        /// Apple cannot be reached, or cannot take it now.
        case unavailable = "apns_unavailable"
        /// A fault of this server.
        case internalFault = "apns_internal_fault"
    }

    /// The class.
    public var kind: Kind
    /// Apple's verdict. `nil` if Apple was not asked.
    public var verdict: APNsVerdict?

    /// Creates a refusal.
    public init(_ kind: Kind, _ verdict: APNsVerdict? = nil) {
        self.kind = kind
        self.verdict = verdict
    }
}
