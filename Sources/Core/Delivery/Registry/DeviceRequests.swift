public import Basics

/// A login over MCS (mcs-device 3.1).
public struct DeviceLogin: Sendable {
    /// The connection that logs in.
    public var connection: ConnectionID
    /// The Android id that it claims.
    public var device: DeviceID
    /// Digest of the security token that it presents (decimal text).
    public var token: SecretDigest
    /// Messages that it has received but whose acknowledgement the server has not confirmed.
    public var received: [PersistentID]
    /// Whether it reports that it is idle; a device counts as active until it reports otherwise.
    public var isIdle: Bool

    /// Creates a login.
    public init(
        connection: ConnectionID, device: DeviceID, token: SecretDigest, received: [PersistentID],
        isIdle: Bool = false
    ) {
        self.isIdle = isIdle
        self.connection = connection
        self.device = device
        self.token = token
        self.received = received
    }
}

/// A check-in (mcs-device 5.1). It brings fresh random numbers, since the core generates no secrets.
public struct CheckIn: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    /// The device that it claims to be, with the token that it presents. `nil` for a new device.
    public var claimed: (DeviceID, SecretDigest)?
    /// The Android id for a new device.
    public var freshDevice: DeviceID
    /// The security token for a new device.
    public var freshToken: UInt64
    /// Digest of the decimal text of `freshToken`.
    public var freshDigest: SecretDigest
    /// Whether a wrong token is to be refused (Chromium) rather than answered with a new device (mcs-device 5.1).
    public var refusesWrongToken: Bool

    /// Creates a check-in.
    public init(
        requester: Requester, claimed: (DeviceID, SecretDigest)?, freshDevice: DeviceID, freshToken: UInt64,
        freshDigest: SecretDigest, refusesWrongToken: Bool
    ) {
        self.requester = requester
        self.claimed = claimed
        self.freshDevice = freshDevice
        self.freshToken = freshToken
        self.freshDigest = freshDigest
        self.refusesWrongToken = refusesWrongToken
    }
}

/// A request to register or unregister an app (mcs-device 5.2, 5.3).
public struct RegistrationRequest: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    /// The device that the request claims to come from.
    public var device: DeviceID
    /// Digest of the security token that it presents.
    public var token: SecretDigest
    /// `app`.
    public var category: [UInt8]
    /// `X-subtype`; empty where absent. For `unregister`, empty matches every subtype.
    public var subtype: [UInt8]
    /// `sender` as sent. For `unregister`, empty or `*` matches every sender.
    public var senderText: [UInt8]
    /// `X-appid`: the instance of the app, new after its data was cleared; empty where absent.
    public var instance: [UInt8]
    /// Whether the request presents a valid token of the installation that `instance` names.
    public var isProved = false
    /// `X-scope` of a request to register.
    public var scope = RegistrationScope.unnamed
    /// The scopes of the registrations to end, for a request to unregister.
    public var endedScopes = EndedScopes.any
    /// `apns_token` of an iOS app; empty where absent.
    public var apnsToken: [UInt8] = []
    /// `app_ver`; empty where absent.
    public var appVersion: [UInt8] = []

    /// Creates a request to register or unregister.
    public init(
        requester: Requester, device: DeviceID, token: SecretDigest, category: [UInt8], subtype: [UInt8],
        senderText: [UInt8], instance: [UInt8] = []
    ) {
        self.requester = requester
        self.device = device
        self.token = token
        self.category = category
        self.subtype = subtype
        self.senderText = senderText
        self.instance = instance
    }
}

/// A request for a token whose messages the server encrypts, in addition to a web push endpoint (mcs-device 5.6).
public struct WebRegistrationRequest: Sendable {
    /// The project whose app servers may use the token.
    public enum Project: Sendable, Equatable {
        /// A sender ID.
        case sender(SenderID)
        /// The label of a sender.
        case label([UInt8])
    }

    /// Where the answer is sent.
    public var requester: Requester
    /// The registration of the endpoint, which must be a web push endpoint.
    public var endpoint: RegistrationName
    /// The keys to encrypt messages with.
    public var keys: WebKeys
    /// The project whose app servers may use the token.
    public var project: Project
    /// The installation that makes the request; empty if the request names none.
    public var instance: [UInt8]
    /// Whether the request presents a valid token of that installation.
    public var isProved = false
    /// The proof of identity; without one, a registration can be made but none changed.
    public var proof = RegistrationProof.none
    /// The token to renew. `nil` to make a new one.
    public var renewed: TokenClaim?

    /// Creates a request for a token.
    public init(
        requester: Requester, endpoint: RegistrationName, keys: WebKeys, project: Project,
        instance: [UInt8] = [], renewed: TokenClaim? = nil
    ) {
        self.requester = requester
        self.endpoint = endpoint
        self.keys = keys
        self.project = project
        self.instance = instance
        self.renewed = renewed
    }
}
