public import Basics

/// The name of a topic, without `/topics/` in front.
public struct TopicName: Hashable, Sendable, Comparable {
    /// 1 to `Limits.topicNameBytes` of `a-z A-Z 0-9 - _ . ~ %`.
    public let octets: [UInt8]

    /// A name; nil for what is none (mcs-device 5.4).
    public init?(_ octets: some Collection<UInt8>) {
        guard !octets.isEmpty, octets.count <= Limits.topicNameBytes,
            octets.allSatisfy({ octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"):
                    true
                default: false
                }
            })
        else { return nil }
        self.octets = Array(octets)
    }

    /// A name with `/topics/` in front of it; nil for anything else.
    public init?(path: [UInt8]) {
        let prefix = Array("/topics/".utf8)
        guard path.starts(with: prefix) else { return nil }
        self.init(path.dropFirst(prefix.count))
    }

    public static func < (a: Self, b: Self) -> Bool { a.octets.lexicographicallyPrecedes(b.octets) }
}

/// That what a sender publishes under a topic goes to a registration. Topics of different senders have nothing in common.
public struct Subscription: Sendable, Equatable {
    /// Who subscribed.
    public var name: RegistrationName
    /// Whose topic it is.
    public var sender: SenderID
    /// Which topic.
    public var topic: TopicName
    /// Since when, milliseconds since 1970.
    public var since: UnixMilliseconds

    /// A subscription; all parts are the caller's.
    public init(
        name: RegistrationName, sender: SenderID, topic: TopicName, since: UnixMilliseconds
    ) {
        self.name = name
        self.sender = sender
        self.topic = topic
        self.since = since
    }
}

/// A request of a device to subscribe one of its registrations to a topic, or to end that (mcs-device 5.4).
public struct TopicRequest: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The registration.
    public var name: RegistrationName
    /// Digest of the security token of its device.
    public var token: SecretDigest
    /// The topic.
    public var topic: TopicName
    /// Whether the subscription is to end.
    public var isEnd: Bool

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, name: RegistrationName, token: SecretDigest, topic: TopicName, isEnd: Bool
    ) {
        self.origin = origin
        self.name = name
        self.token = token
        self.topic = topic
        self.isEnd = isEnd
    }
}

/// Where Apple reaches an iOS app that registers by its installation alone (mcs-device 5.6), or not at all (http 7.4).
public struct AppleAddress: Sendable, Equatable {
    /// The bundle id: the category of its registration.
    public var bundle: [UInt8]
    /// See `Registration.apnsToken`.
    public var token: [UInt8]
    /// The number of the device that is made for an installation which has none.
    public var freshDevice: DeviceID
    /// Digest of a security token that nobody is told: such a device never logs in.
    public var freshDigest: SecretDigest
    /// The version of the app; empty where it tells none.
    public var appVersion: [UInt8] = []
    /// Whether an app server names the token, and not the app (http 7.4): `InstallationRequest.installation` is then its
    /// place, and the number of the device follows from that.
    public var isImport: Bool

    /// An address; all parts are the caller's.
    public init(
        bundle: [UInt8], token: [UInt8], freshDevice: DeviceID, freshDigest: SecretDigest,
        isImport: Bool = false
    ) {
        self.isImport = isImport
        self.bundle = bundle
        self.token = token
        self.freshDevice = freshDevice
        self.freshDigest = freshDigest
    }
}

/// A request that names an installation and no device: of an app that shows a token of it (mcs-device 5.4, 5.5), or of an
/// app server (http 8.7).
public struct InstallationRequest: Sendable {
    /// What is wanted.
    public enum Action: Sendable {
        /// Subscribe the registration of the installation.
        case subscribe(TopicName)
        /// End the subscription.
        case unsubscribe(TopicName)
        /// What an app server of the sender wants of the installation's registration with it.
        case address(TokenRequest.Action)
        /// Send this to the installation's registration with the sender, whose name is set then (http 8.2).
        indirect case send(Submission)
        /// Remove all registrations of the installation.
        case remove
        /// Go on with a request of the app, which has shown a token of the installation.
        indirect case vouch(for: Event)
        /// Go on with a request of a device whose app names the installation without any token of it: only where nobody else has.
        indirect case claim(for: Event, by: DeviceID)
        /// Make the installation (mcs-device 5.5).
        indirect case create(InstallationOffer)
        /// Go on making it: its device has looked at the check-in pair that was shown.
        indirect case vouched(InstallationOffer, isProved: Bool)
        /// Grant an access token for the refresh token of this digest.
        case refresh(SecretDigest)
        /// End the installation, with what it has registered, for the refresh token of this digest.
        case end(SecretDigest)
        /// End its tokens, in the name of an operator.
        case revoke
        /// Forget it, if it was last used before that, or, while it has no registrations, before this.
        case expire(before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds)
        /// Note where Apple reaches the app.
        case apple(AppleAddress)

        /// Whether it changes the installation itself.
        var isChange: Bool {
            switch self {
            case .create, .refresh, .end, .revoke, .expire: true
            case .subscribe, .unsubscribe, .address, .send, .remove, .vouch, .claim, .vouched, .apple: false
            }
        }
    }

    /// Where the answer goes.
    public var origin: Origin
    /// The installation id.
    public var installation: [UInt8]
    /// The sender whose topic it is; its token says which.
    public var sender: SenderID
    /// What is wanted.
    public var action: Action
    /// The mark of the access token that the app shows; nil where it is not the app that asks, or another proof is in `action`.
    public var mark: UInt64?
    /// Whether the installation has a record, so that only what was registered with a token of it is its own; told by the store.
    public var isBound = false

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, installation: [UInt8], sender: SenderID, action: Action, mark: UInt64? = nil
    ) {
        self.origin = origin
        self.installation = installation
        self.sender = sender
        self.action = action
        self.mark = mark
    }
}
