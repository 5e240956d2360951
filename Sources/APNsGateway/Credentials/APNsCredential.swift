public import Basics
public import Delivery

/// The name of a credential, unique and never given to another one.
public struct APNsCredentialID: Hashable, Sendable, Comparable {
    /// The name that operators see.
    public var name: String
    public init(_ name: String) { self.name = name }
    public static func < (a: Self, b: Self) -> Bool { a.name < b.name }
}

/// What the gateway must know about a credential; the secrets stay with the shell.
public struct APNsCredential: Sendable, Equatable {
    /// The two ways to authenticate to APNs.
    public enum Kind: Sendable, Equatable {
        /// A client certificate of one app (apns 1.5). An empty list of topics permits all of the app's.
        case certificate(bundle: [UInt8], topics: [[UInt8]], expiresAt: UnixMilliseconds)
        /// A key that signs provider tokens (apns 1.4). An empty list of bundle IDs stands for all apps of the team.
        case key(keyID: String, teamID: String, bundles: [[UInt8]])
    }

    public var id: APNsCredentialID
    public var kind: Kind
    /// The environments that it is valid for.
    public var environments: Set<APNsEnvironment>
    /// Differs whenever the operator has added it again: then connections and refusals of before are forgotten.
    public var revision: UInt64

    /// Describes a credential.
    public init(
        id: APNsCredentialID, kind: Kind, environments: Set<APNsEnvironment>, revision: UInt64 = 0
    ) {
        self.id = id
        self.kind = kind
        self.environments = environments
        self.revision = revision
    }

    /// Whether requests carry a provider token.
    public var isKey: Bool {
        if case .key = kind { true } else { false }
    }

    /// How well it fits an app; higher is better, `nil` if it does not. A key wins over a certificate (apns 1.5).
    func fitness(for bundle: [UInt8], in environment: APNsEnvironment) -> Int? {
        guard environments.contains(environment) else { return nil }
        switch kind {
        case .certificate(bundle, _, _): return 1
        case .certificate: return nil
        case .key(_, _, let bundles) where bundles.isEmpty: return 2
        case .key(_, _, let bundles): return bundles.contains(bundle) ? 3 : nil
        }
    }

    /// Whether it is a certificate whose time is over. While the clock is in doubt, none is.
    func isExpired(_ now: Now) -> Bool {
        if case .certificate(_, _, let end) = kind { end <= now.expiryCutoff } else { false }
    }

    /// Whether it may be used for a topic, as far as its own text shows.
    func permits(topic: [UInt8]) -> Bool {
        if case .certificate(_, let topics, _) = kind {
            topics.isEmpty || topics.contains(topic)
        } else {
            true
        }
    }
}

/// The state of a credential in one environment, for operators.
public struct APNsCredentialStatus: Sendable, Equatable {
    /// What Apple thinks of it.
    public enum Health: Sendable, Equatable {
        /// Nothing has been sent with it yet.
        case unused
        case accepted
        /// Apple refuses it; a request is tried from time to time.
        case refused(APNsVerdict?)
        /// Apple finds the provider token too old though it is young: the clock of this server is wrong.
        case clockDoubted
    }

    public var id: APNsCredentialID
    public var environment: APNsEnvironment
    public var health: Health
    /// Topics that Apple refuses, in order.
    public var refusedTopics: [[UInt8]]
    public var connections: Int
    public var requestsInFlight: Int
    public var waiting: Int
    /// The age of the provider token. `nil` if there is none.
    public var tokenAgeSeconds: Int?
}
