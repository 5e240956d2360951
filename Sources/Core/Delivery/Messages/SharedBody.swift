public import Basics

/// Names pairs that several messages of one partition share.
public enum SharedBodyName: Hashable, Sendable {
    /// Those of a topic message.
    case topic(TopicMessageName)
    /// Those of a request of a sender to many, by the sequence number of its first message in the partition.
    case request(SenderID, SequenceNumber)

    /// The account that sent them.
    public var sender: SenderID {
        switch self {
        case .topic(let name): name.sender
        case .request(let sender, _): sender
        }
    }

    /// The number of the topic message or of the first message.
    public var sequence: SequenceNumber {
        switch self {
        case .topic(let name): name.sequence
        case .request(_, let sequence): sequence
        }
    }
}

/// What messages that share their pairs have in common. A class, because every message has the reference and most have none.
public final class SharedReference: Sendable, Equatable {
    /// The name of the pairs.
    public let name: SharedBodyName
    /// `from` of the frame; empty for the sender's number, as in other messages.
    public let path: [UInt8]
    /// Whether the message has the pairs. A record of one does not, and one that is read has them unless they are damaged.
    public let hasBody: Bool

    /// Creates the reference of a message that has the pairs.
    public init(_ name: SharedBodyName, path: [UInt8] = []) {
        self.name = name
        self.path = path
        hasBody = true
    }

    /// Creates the reference of a message that only names the pairs.
    public init(withoutBodyOf name: SharedBodyName) {
        self.name = name
        path = []
        hasBody = false
    }

    public static func == (a: SharedReference, b: SharedReference) -> Bool {
        a.name == b.name && a.path == b.path && a.hasBody == b.hasBody
    }
}

/// The part of several messages of a partition that is stored once.
public struct SharedBody: Sendable, Equatable {
    /// The reference that the messages have.
    public var reference: SharedReference
    /// The key-value pairs.
    public var body: EncodedAppData
    /// See `MessageFields`.
    public var apns: [UInt8]?

    public init(reference: SharedReference, body: EncodedAppData, apns: [UInt8]?) {
        self.reference = reference
        self.body = body
        self.apns = apns
    }

    /// Returns the fields of a message without pairs completed with these.
    public func joined(to fields: MessageFields) -> MessageFields {
        MessageFields(
            messageID: fields.messageID, collapseKey: fields.collapseKey, body: body,
            apns: fields.apns == nil ? nil : apns ?? [])
    }
}
