public import Basics

/// A syntactically valid message of an app server for one registration.
public struct Submission: Sendable {
    /// Where the answer is sent.
    public var replyTo: ReplyTo
    /// The connection that it came from, which is preferred for its receipts. `nil` if it is not known.
    public var submitter: ConnectionID?
    /// The credential that it was submitted with.
    public var entitlement: Entitlement
    /// The registration that the token names; the token's seal has been verified.
    public var target: RegistrationName
    /// The message and its delivery options.
    public var content: MessageContent
    /// The topic message that it is part of. `nil` if there is none.
    var topic: TopicShare?

    /// Creates a submission that a session received.
    public init(
        requester: Requester, entitlement: Entitlement, target: RegistrationName, content: MessageContent
    ) {
        replyTo = .session(requester)
        submitter = requester.connection
        self.entitlement = entitlement
        self.target = target
        self.content = content
    }

    /// Creates a submission from its parts.
    public init(
        replyTo: ReplyTo, submitter: ConnectionID?, entitlement: Entitlement, target: RegistrationName,
        content: MessageContent
    ) {
        self.replyTo = replyTo
        self.submitter = submitter
        self.entitlement = entitlement
        self.target = target
        self.content = content
    }

    /// Creates one of the submissions of a fan-out, for a member of a group or a subscriber of a topic.
    init(
        replyTo: ReplyTo, submitter: ConnectionID?, sender: SenderID, target: RegistrationName,
        content: MessageContent
    ) {
        self.replyTo = replyTo
        self.submitter = submitter
        entitlement = .account(sender)
        self.target = target
        self.content = content
    }

    /// The account that it was submitted under. `nil` for a web push that is signed with a key.
    public var sender: SenderID? { entitlement.sender }
}

/// The recipient of the outcome of a submission.
public enum ReplyTo: Hashable, Sendable {
    /// A session.
    case session(Requester)
    /// A group message of a sender: the submission is for one member.
    case group(SenderID, GroupSendMember)
    /// No one: the submission is a topic message, which was answered before.
    case nobody
}

/// The requester of a request: a connection, and which of its open requests waits for the answer.
public struct Requester: Hashable, Sendable {
    /// The connection that waits for the answer.
    public var connection: ConnectionID
    /// The requester's number for the request; returned unchanged in the answer.
    public var requestID: UInt32
    /// The rows that the request may add to the registry.
    public var growth = Growth.unbounded

    /// The decision of the admission check on a request that may add rows to the registry.
    public enum Growth: UInt8, Sendable, CaseIterable {
        /// It may add rows.
        case unbounded
        /// It may add rows, and counts against the quota of unauthenticated peers; refunded if the peer proves to be known.
        case counted
        /// It may add rows only for a device that has logged in before: the quota of unauthenticated peers is used up.
        case knownOnly
        /// It may add none: the registry has reached its maximum size.
        case full
    }

    /// Creates the requester of a request.
    public init(connection: ConnectionID, requestID: UInt32) {
        self.connection = connection
        self.requestID = requestID
    }
}
