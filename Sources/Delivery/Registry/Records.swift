public import Basics

/// SHA-256 of a secret: what is stored and compared in place of the secret, in constant time.
public struct SecretDigest: Sendable, Equatable {
    /// The 32 octets of the digest.
    public var octets: [UInt8]
    /// Wraps a digest.
    public init(octets: [UInt8]) { self.octets = octets }
    public static func == (a: Self, b: Self) -> Bool { ConstantTime.equal(a.octets, b.octets) }
}

/// A device as check-in left it.
public struct DeviceRecord: Sendable, Equatable {
    /// The Android id.
    public var device: DeviceID
    /// Digest of the security token's decimal text.
    public var token: SecretDigest
    /// First check-in, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// Last check-in or login, milliseconds since 1970; written lazily.
    public var seenAt: UnixMilliseconds
    /// Number of the next registration; grows, so that a token is never made twice.
    public var nextRegistration: UInt64
    /// Whether it has ever logged in: until then it is a stranger.
    public var hasLoggedIn: Bool

    /// A record; all parts are the caller's.
    public init(
        device: DeviceID, token: SecretDigest, createdAt: UnixMilliseconds, seenAt: UnixMilliseconds,
        nextRegistration: UInt64, hasLoggedIn: Bool = true
    ) {
        self.hasLoggedIn = hasLoggedIn
        self.device = device
        self.token = token
        self.createdAt = createdAt
        self.seenAt = seenAt
        self.nextRegistration = nextRegistration
    }

    /// Whether nothing has ever been done with it: no login, no registration.
    public var isUnused: Bool { !hasLoggedIn && nextRegistration == 1 }

    /// Since when it could have been used, milliseconds since 1970: a check-in under a clock that was in doubt counts from the
    /// first contact after it.
    public var unusedSince: UnixMilliseconds { createdAt >= Limits.Clock.earliest ? createdAt : seenAt }
}

/// What SCRAM-SHA-256 checks a key by; the key cannot be had from it (RFC 5802, 3).
public struct SCRAMVerifier: Sendable, Equatable {
    /// Octets of StoredKey and of ServerKey.
    public static let keyBytes = 32

    /// Hash of the client's key: what its proof must come to.
    public var storedKey: [UInt8]
    /// What the server proves itself with.
    public var serverKey: [UInt8]
    /// What the key was salted with; all keys of a sender share it, so that one exchange can try them all.
    public var salt: [UInt8]
    /// How often it was hashed.
    public var iterations: Int

    /// A verifier; all parts are the caller's.
    public init(storedKey: [UInt8], serverKey: [UInt8], salt: [UInt8], iterations: Int) {
        self.storedKey = storedKey
        self.serverKey = serverKey
        self.salt = salt
        self.iterations = iterations
    }
}

/// A key of a sender. Several may be valid at once, so that keys can be changed without a gap.
public struct ServerKey: Sendable, Equatable {
    /// Digest of the key.
    public var digest: SecretDigest
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// When it stops to be accepted; nil: never.
    public var expiresAt: UnixMilliseconds?
    /// What SCRAM checks it by; nil for a key made before there was SCRAM, which serves PLAIN alone.
    public var scram: SCRAMVerifier?

    /// A key; all parts are the caller's.
    public init(
        digest: SecretDigest, createdAt: UnixMilliseconds, expiresAt: UnixMilliseconds? = nil,
        scram: SCRAMVerifier? = nil
    ) {
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.scram = scram
    }
}

/// An account of app servers.
public struct SenderRecord: Sendable, Equatable {
    /// The sender ID.
    public var sender: SenderID
    /// A name for people; may be empty.
    public var label: String
    /// Its keys, oldest first.
    public var keys: [ServerKey]
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// Whether an operator has suspended it.
    public var isSuspended: Bool
    /// The project id that it was given; empty for `ccs-` and its number.
    public var project: String
    /// Its accounts of HTTP v1, oldest first.
    public var accounts: [ServiceAccount]

    /// A record; all parts are the caller's.
    public init(
        sender: SenderID, label: String, keys: [ServerKey], createdAt: UnixMilliseconds,
        isSuspended: Bool = false, project: String = "", accounts: [ServiceAccount] = []
    ) {
        self.sender = sender
        self.label = label
        self.keys = keys
        self.createdAt = createdAt
        self.isSuspended = isSuspended
        self.project = project
        self.accounts = accounts
    }
}
