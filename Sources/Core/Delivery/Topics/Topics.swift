public import Basics

/// The name of a topic, without the prefix `/topics/`.
public struct TopicName: Hashable, Sendable, Comparable {
    /// 1 to `Limits.Topic.nameBytes` of `a-z A-Z 0-9 - _ . ~ %`.
    public let bytes: [UInt8]

    /// Creates a name. Returns `nil` if it is invalid (mcs-device 5.4).
    public init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= Limits.Topic.nameBytes,
            bytes.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"):
                    true
                default: false
                }
            })
        else { return nil }
        self.bytes = Array(bytes)
    }

    /// Creates a name from its form with the prefix `/topics/`. Returns `nil` for anything else.
    public init?(path: [UInt8]) {
        let prefix = Array("/topics/".utf8)
        guard path.starts(with: prefix) else { return nil }
        self.init(path.dropFirst(prefix.count))
    }

    public static func < (a: Self, b: Self) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

/// A registration's subscription to a topic of a sender. Equal topic names of different senders are unrelated.
public struct Subscription: Sendable, Equatable {
    /// The subscribed registration.
    public var name: RegistrationName
    /// The owner of the topic.
    public var sender: SenderID
    public var topic: TopicName
    /// When it was made, in milliseconds since 1970.
    public var since: UnixMilliseconds

    public init(
        name: RegistrationName, sender: SenderID, topic: TopicName, since: UnixMilliseconds
    ) {
        self.name = name
        self.sender = sender
        self.topic = topic
        self.since = since
    }
}

/// A device's request to subscribe one of its registrations to a topic or to unsubscribe it (mcs-device 5.4).
public struct TopicRequest: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    public var name: RegistrationName
    /// Digest of the device's security token.
    public var token: SecretDigest
    public var topic: TopicName
    /// Whether the subscription is to be removed.
    public var isEnd: Bool

    public init(
        requester: Requester, name: RegistrationName, token: SecretDigest, topic: TopicName, isEnd: Bool
    ) {
        self.requester = requester
        self.name = name
        self.token = token
        self.topic = topic
        self.isEnd = isEnd
    }
}

/// The APNs address of an iOS app that registers by its installation alone (mcs-device 5.6) or not at all (http 7.4).
public struct AppleRegistration: Sendable, Equatable {
    /// The bundle ID: the category of its registration.
    public var bundle: [UInt8]
    /// See `Registration.apnsToken`.
    public var token: [UInt8]
    /// The device ID to create if the installation has no device.
    public var freshDevice: DeviceID
    /// Digest of a random, discarded security token: such a device never logs in.
    public var freshDigest: SecretDigest
    /// The version of the app; empty if unknown.
    public var appVersion: [UInt8] = []
    /// Whether an app server registers the token instead of the app (http 7.4): `InstallationRequest.installation` then holds its
    /// store key, from which the device ID is derived.
    public var isImport: Bool

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
