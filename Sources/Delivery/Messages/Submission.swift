public import Basics

/// What an app server submitted, checked in form, for one registration.
public struct Submission: Sendable {
    /// Where the answer goes.
    public var replyTo: ReplyTo
    /// The connection that it came on, which is sent the receipts; nil where it is not known.
    public var submitter: ConnectionID?
    /// By what right it is submitted.
    public var entitlement: Entitlement
    /// The registration that the token names; its seal has been verified.
    public var target: RegistrationName
    /// What is to be sent.
    public var content: MessageContent
    /// The message to topics that it is part of; nil: none.
    public var topic: TopicShare?

    /// A submission of a session; all parts are the caller's.
    public init(
        origin: Origin, entitlement: Entitlement, target: RegistrationName, content: MessageContent
    ) {
        replyTo = .session(origin)
        submitter = origin.connection
        self.entitlement = entitlement
        self.target = target
        self.content = content
    }

    /// A submission that the core makes of another one, for a member of a group or a subscriber of a topic.
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

    /// The account that it was submitted under; nil for a web push.
    public var sender: SenderID? { entitlement.sender }
}

/// Who is told what became of a submission.
public enum ReplyTo: Hashable, Sendable {
    /// A session.
    case session(Origin)
    /// A message to a group of a sender: the submission is for one of its members.
    case group(SenderID, GroupSendMember)
    /// A message to topics of a sender, by the number of its run: the submission is for one subscriber.
    case topic(SenderID, run: UInt32)
}

/// Who waits for the answer to a request: a connection, and which of its open requests.
public struct Origin: Hashable, Sendable {
    /// The connection.
    public var connection: ConnectionID
    /// The requester's own number for it; returns in the answer unchanged.
    public var ticket: UInt32
    /// What the registry may gain by it.
    public var growth = Growth.unbounded

    /// What the door says of a request that may add rows to the registry.
    public enum Growth: UInt8, Sendable {
        /// As much as it asks for.
        case unbounded
        /// The same; the place that it takes among the strangers' is to be given back if it is none's.
        case counted
        /// What a device that has logged in asks for: strangers have had all their places.
        case knownOnly
        /// Nothing: the registry is as large as it may become.
        case full
    }

    /// Names a request.
    public init(connection: ConnectionID, ticket: UInt32) {
        self.connection = connection
        self.ticket = ticket
    }
}
