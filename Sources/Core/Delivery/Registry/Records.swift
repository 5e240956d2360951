public import Basics

/// The SHA-256 digest of a secret, stored in place of the secret and compared in constant time.
public struct SecretDigest: Sendable, Equatable {
    /// The 32 bytes of the digest.
    public var bytes: [UInt8]
    /// Creates a digest from its bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }
    public static func == (a: Self, b: Self) -> Bool { ConstantTime.equal(a.bytes, b.bytes) }
}

/// The stored record of a device, made at check-in.
public struct DeviceRecord: Sendable, Equatable {
    /// The Android id.
    public var device: DeviceID
    /// Digest of the security token's decimal text.
    public var token: SecretDigest
    /// Time of the first check-in, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// Time of the last check-in or login, milliseconds since 1970; written lazily.
    public var seenAt: UnixMilliseconds
    /// Number of the next registration; only ever increases, so that no token is issued twice.
    public var nextRegistration: UInt64
    /// Whether it has ever logged in; until then it counts as an unauthenticated peer.
    public var hasLoggedIn: Bool

    /// Creates a record.
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

    /// Whether it has never logged in or registered an app.
    public var isUnused: Bool { !hasLoggedIn && nextRegistration == 1 }

    /// The start of the period for which it is unused, milliseconds since 1970. A check-in while the clock was in doubt counts
    /// from the first contact afterwards.
    public var unusedSince: UnixMilliseconds { createdAt >= Limits.Clock.earliest ? createdAt : seenAt }
}

/// The SCRAM-SHA-256 verifier of a key; the key cannot be derived from it (RFC 5802, 3).
public struct SCRAMVerifier: Sendable, Equatable {
    /// Length of StoredKey and of ServerKey in bytes.
    public static let keyBytes = 32

    /// Hash of the client key, which verifies the client's proof.
    public var storedKey: [UInt8]
    /// The key of the server's own proof.
    public var serverKey: [UInt8]
    /// The salt; all keys of a sender share it, so that one exchange can try them all.
    public var salt: [UInt8]
    /// The iteration count.
    public var iterations: Int

    /// Creates a verifier.
    public init(storedKey: [UInt8], serverKey: [UInt8], salt: [UInt8], iterations: Int) {
        self.storedKey = storedKey
        self.serverKey = serverKey
        self.salt = salt
        self.iterations = iterations
    }
}

/// A server key of a sender. Several may be valid at once, so that keys can be rotated without an interruption.
public struct ServerKey: Sendable, Equatable {
    /// Digest of the key.
    public var digest: SecretDigest
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// When it expires, milliseconds since 1970. `nil` if it never does.
    public var expiresAt: UnixMilliseconds?
    /// Its SCRAM verifier. `nil` for a key made before SCRAM was supported, which works with PLAIN only.
    public var scram: SCRAMVerifier?

    /// Creates a key.
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
    /// A human-readable name; may be empty.
    public var label: String
    /// Its keys, oldest first.
    public var keys: [ServerKey]
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// Whether an operator has suspended it.
    public var isSuspended: Bool
    /// The assigned project id; empty for the default, `ccs-` and the sender ID.
    public var project: String
    /// Its service accounts for HTTP v1, oldest first.
    public var accounts: [ServiceAccount]
    /// Its webhook. `nil` if it has none.
    public var webhook: WebhookRecord?

    /// Creates a record.
    public init(
        sender: SenderID, label: String, keys: [ServerKey], createdAt: UnixMilliseconds,
        isSuspended: Bool = false, project: String = "", accounts: [ServiceAccount] = [],
        webhook: WebhookRecord? = nil
    ) {
        self.sender = sender
        self.label = label
        self.keys = keys
        self.createdAt = createdAt
        self.isSuspended = isSuspended
        self.project = project
        self.accounts = accounts
        self.webhook = webhook
    }
}
