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

    /// Its name.
    public var id: APNsCredentialID
    public var kind: Kind
    /// The only sender whose messages it is used for. `nil` if it is for all senders.
    public var sender: SenderID?
    /// The environments that it is valid for.
    public var environments: Set<APNsEnvironment>
    /// Differs whenever the operator has added it again: then connections and refusals of before are forgotten.
    public var revision: UInt64

    /// Describes a credential.
    public init(
        id: APNsCredentialID, kind: Kind, sender: SenderID? = nil, environments: Set<APNsEnvironment>,
        revision: UInt64 = 0
    ) {
        self.id = id
        self.kind = kind
        self.sender = sender
        self.environments = environments
        self.revision = revision
    }

    /// Whether requests carry a provider token.
    public var isKey: Bool {
        if case .key = kind { true } else { false }
    }

    /// How well it fits a message of a sender to an app; higher is better, `nil` if it does not. One for the sender alone wins over
    /// one for all, then a key over a certificate (apns 1.5). `nil` as the sender stands for the operator, who may use all.
    func fitness(for bundle: [UInt8], of sender: SenderID?, in environment: APNsEnvironment) -> Int? {
        guard environments.contains(environment), let fitness = fitness(for: bundle) else { return nil }
        guard let only = self.sender else { return fitness }
        return sender == nil || sender == only ? fitness + 3 : nil
    }

    private func fitness(for bundle: [UInt8]) -> Int? {
        switch kind {
        case .certificate(bundle, _, _): 1
        case .certificate: nil
        case .key(_, _, let bundles) where bundles.isEmpty: 2
        case .key(_, _, let bundles): bundles.contains(bundle) ? 3 : nil
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

    /// The name of the credential.
    public var id: APNsCredentialID
    public var environment: APNsEnvironment
    public var health: Health
    /// Topics that Apple refuses, in order.
    public var refusedTopics: [[UInt8]]
    public var connections: Int
    public var requestsInFlight: Int
    public var waiting: Int
    /// For how long no request was accepted, although some should have been. `nil` if all is well.
    public var failingSeconds: Int?
    /// The age of the provider token. `nil` if there is none.
    public var tokenAgeSeconds: Int?
}
