public import Basics
public import Delivery

/// When something in a mailbox ends, and which: the order in which a sweep meets it.
public struct ExpiryKey: Hashable, Comparable, Sendable {
    /// What is in which mailbox; the raw value is part of the format.
    public enum Kind: UInt8, Sendable {
        case message = 0
        case upstream = 1
        /// The body that the messages of a job share; the owner is its sender.
        case topicBody = 2
    }

    /// When it ends, milliseconds since 1970.
    public var time: UnixMilliseconds
    /// Which kind of mailbox.
    public var kind: Kind
    /// The device's or sender's number.
    public var owner: UInt64
    /// Place in the mailbox.
    public var sequence: UInt64

    /// A key; all parts are the caller's.
    public init(time: UnixMilliseconds, kind: Kind, owner: UInt64, sequence: UInt64) {
        self.time = time
        self.kind = kind
        self.owner = owner
        self.sequence = sequence
    }

    /// The key of a message's end.
    public init(_ message: StoredMessage) {
        self.init(
            time: message.expiresAt, kind: .message, owner: message.device.number,
            sequence: message.sequence.number)
    }

    /// The key of an upstream message's end.
    public init(_ upstream: StoredUpstream) {
        self.init(
            time: upstream.expiresAt, kind: .upstream, owner: upstream.sender.number,
            sequence: upstream.sequence.number)
    }

    /// The key of the end of the body that a job's messages share.
    public init(bodyOf job: TopicJobName, endsAt time: UnixMilliseconds) {
        self.init(
            time: time, kind: .topicBody, owner: job.sender.number, sequence: job.sequence.number)
    }

    /// Whose it is.
    public var key: PartitionKey { kind == .message ? .device(DeviceID(owner)) : .sender(SenderID(owner)) }

    /// What the core is told; `author` is that of an upstream message, and not looked at for anything else.
    public func entry(author: UpstreamAuthor?) -> ExpiredEntry {
        switch kind {
        case .message: .message(DeviceID(owner), SequenceNumber(sequence), expiresAt: time)
        case .upstream: .upstream(SenderID(owner), SequenceNumber(sequence), expiresAt: time, author: author)
        case .topicBody:
            .topicBody(
                TopicJobName(sender: SenderID(owner), sequence: SequenceNumber(sequence)), expiresAt: time)
        }
    }

    public static func < (a: Self, b: Self) -> Bool {
        (a.time, a.kind.rawValue, a.owner, a.sequence) < (b.time, b.kind.rawValue, b.owner, b.sequence)
    }
}
