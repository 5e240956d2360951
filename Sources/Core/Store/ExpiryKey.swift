public import Basics
public import Delivery

/// An entry of the expiry index: sorted by time, so that a sweep finds the earliest entries first.
public struct ExpiryKey: Hashable, Comparable, Sendable {
    /// What expires. The raw values are part of the format.
    public enum Kind: UInt8, Sendable {
        case message = 0
        case upstream = 1
        /// The pairs of a topic message in a partition. The owner is the sender of the topic message.
        case topicBody = 2
        /// The pairs of a request to many in a partition. The owner is its sender.
        case requestBody = 3
        /// A message that is due. The owner is its device.
        case scheduled = 4
    }

    /// The time of expiry.
    public var time: UnixMilliseconds
    /// What expires.
    public var kind: Kind
    /// The number of the device or the sender.
    public var owner: UInt64
    /// The sequence in the mailbox.
    public var sequence: UInt64

    /// Creates a key from its parts.
    public init(time: UnixMilliseconds, kind: Kind, owner: UInt64, sequence: UInt64) {
        self.time = time
        self.kind = kind
        self.owner = owner
        self.sequence = sequence
    }

    /// Creates the key of a downstream message.
    public init(_ message: StoredMessage) {
        self.init(
            time: message.expiresAt, kind: .message, owner: message.device.number,
            sequence: message.sequence.number)
    }

    /// Creates the key of an upstream message.
    public init(_ upstream: StoredUpstream) {
        self.init(
            time: upstream.expiresAt, kind: .upstream, owner: upstream.sender.number,
            sequence: upstream.sequence.number)
    }

    /// Creates the key of a scheduled message.
    public init(scheduled device: DeviceID, _ sequence: SequenceNumber, dueAt: UnixMilliseconds) {
        self.init(time: dueAt, kind: .scheduled, owner: device.number, sequence: sequence.number)
    }

    /// Creates the key of shared pairs.
    public init(bodyOf name: SharedBodyName, endsAt time: UnixMilliseconds) {
        let kind: Kind =
            switch name {
            case .topic: .topicBody
            case .request: .requestBody
            }
        self.init(time: time, kind: kind, owner: name.sender.number, sequence: name.sequence.number)
    }

    /// Returns the owner of the entry in the index of a partition.
    public func owner(in partition: Int) -> PartitionKey {
        switch kind {
        case .message, .scheduled: .device(DeviceID(owner))
        case .upstream: .sender(SenderID(owner))
        case .topicBody, .requestBody: .partition(partition)
        }
    }

    /// Returns the entry for the core, from the index of a partition. `author` is used for upstream messages only.
    public func entry(in partition: Int, author: UpstreamAuthor?) -> ExpiredEntry {
        switch kind {
        case .message: .message(DeviceID(owner), SequenceNumber(sequence), expiresAt: time)
        case .scheduled: .scheduled(DeviceID(owner), SequenceNumber(sequence), dueAt: time)
        case .upstream: .upstream(SenderID(owner), SequenceNumber(sequence), expiresAt: time, author: author)
        case .topicBody:
            .sharedBody(
                .topic(TopicMessageName(sender: SenderID(owner), sequence: SequenceNumber(sequence))),
                partition: partition, expiresAt: time)
        case .requestBody:
            .sharedBody(
                .request(SenderID(owner), SequenceNumber(sequence)), partition: partition, expiresAt: time)
        }
    }

    public static func < (a: Self, b: Self) -> Bool {
        (a.time, a.kind.rawValue, a.owner, a.sequence) < (b.time, b.kind.rawValue, b.owner, b.sequence)
    }
}

/// Rules about upstream messages that all stores share.
public enum Upstreams {
    /// Returns whether a message that was put at a time still suppresses its repeats.
    public static func isRemembered(_ time: UnixMilliseconds, at now: UnixMilliseconds) -> Bool {
        now - time < Int64(Limits.Message.upstreamMemorySeconds) * 1_000
    }
}
