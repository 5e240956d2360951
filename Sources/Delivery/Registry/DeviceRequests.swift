public import Basics

/// A login over MCS (mcs-device 3.1).
public struct DeviceLogin: Sendable {
    /// The connection that logs in.
    public var connection: ConnectionID
    /// The Android id it claims.
    public var device: DeviceID
    /// Digest of the security token it gave (decimal text).
    public var token: SecretDigest
    /// Messages that it has received and not yet known to be acknowledged.
    public var received: [PersistentID]
    /// Whether it says that it is idle; until it says so, it counts as active.
    public var isIdle: Bool

    /// A login; all parts are the caller's.
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

/// A check-in (mcs-device 5.1). Fresh numbers come with it, since the core draws none that must stay secret.
public struct CheckIn: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The device it says to be, with the token it gave; nil: a new one.
    public var claimed: (DeviceID, SecretDigest)?
    /// The numbers for a new device.
    public var freshDevice: DeviceID
    /// The security token for a new device.
    public var freshToken: UInt64
    /// Digest of that token's decimal text.
    public var freshDigest: SecretDigest
    /// Whether a wrong token is to be refused (Chromium) rather than answered with a new device (mcs-device 5.1).
    public var refusesWrongToken: Bool

    /// A check-in; all parts are the caller's.
    public init(
        origin: Origin, claimed: (DeviceID, SecretDigest)?, freshDevice: DeviceID, freshToken: UInt64,
        freshDigest: SecretDigest, refusesWrongToken: Bool
    ) {
        self.origin = origin
        self.claimed = claimed
        self.freshDevice = freshDevice
        self.freshToken = freshToken
        self.freshDigest = freshDigest
        self.refusesWrongToken = refusesWrongToken
    }
}

/// A request to register or unregister an app (mcs-device 5.2, 5.3).
public struct RegistrationRequest: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The device, with the security token it gave.
    public var device: DeviceID
    /// Digest of the security token.
    public var token: SecretDigest
    /// `app`.
    public var category: [UInt8]
    /// `X-subtype`; empty where absent. For `unregister`, empty matches every subtype.
    public var subtype: [UInt8]
    /// `sender` as sent. For `unregister`, empty or `*` matches every sender.
    public var senderText: [UInt8]
    /// `X-appid`: the instance of the app, new after its data was cleared; empty where absent.
    public var instance: [UInt8]
    /// Whether a token of the installation that `instance` names was shown, and is good.
    public var isProved = false
    /// `X-scope`, to register.
    public var scope = RegistrationScope.unnamed
    /// The scopes of what is to be ended, to unregister.
    public var endedScopes = EndedScopes.any
    /// `apns_token` of an iOS app; empty where absent.
    public var apnsToken: [UInt8] = []
    /// `app_ver`; empty where absent.
    public var appVersion: [UInt8] = []

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, device: DeviceID, token: SecretDigest, category: [UInt8], subtype: [UInt8],
        senderText: [UInt8], instance: [UInt8] = []
    ) {
        self.origin = origin
        self.device = device
        self.token = token
        self.category = category
        self.subtype = subtype
        self.senderText = senderText
        self.instance = instance
    }
}

/// A request to make a token whose messages the server encrypts, beside that of a web push endpoint (mcs-device 5.6).
public struct WebRegistrationRequest: Sendable {
    /// Whose app servers may use the token.
    public enum Project: Sendable, Equatable {
        /// A sender ID.
        case sender(SenderID)
        /// The label of a sender.
        case label([UInt8])
    }

    /// Where the answer goes.
    public var origin: Origin
    /// The registration of the endpoint, which must be one of web push.
    public var endpoint: RegistrationName
    /// What messages are to be encrypted with.
    public var keys: WebKeys
    /// Whose app servers may use the token.
    public var project: Project
    /// The installation that asks; empty where none is named.
    public var instance: [UInt8]
    /// Whether a token of that installation was shown, and is good.
    public var isProved = false
    /// What shows who asks; without any a registration can be made, and none changed.
    public var proof = RegistrationProof.none
    /// The token that is to be renewed; nil for a new one.
    public var renewed: TokenClaim?

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, endpoint: RegistrationName, keys: WebKeys, project: Project,
        instance: [UInt8] = [], renewed: TokenClaim? = nil
    ) {
        self.origin = origin
        self.endpoint = endpoint
        self.keys = keys
        self.project = project
        self.instance = instance
        self.renewed = renewed
    }
}
