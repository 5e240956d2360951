public import Basics

/// The name of a topic, without `/topics/` in front.
public struct TopicName: Hashable, Sendable, Comparable {
    /// 1 to `Limits.Topic.nameBytes` of `a-z A-Z 0-9 - _ . ~ %`.
    public let octets: [UInt8]

    /// A name; nil for what is none (mcs-device 5.4).
    public init?(_ octets: some Collection<UInt8>) {
        guard !octets.isEmpty, octets.count <= Limits.Topic.nameBytes,
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
