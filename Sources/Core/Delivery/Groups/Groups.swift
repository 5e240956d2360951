public import Basics

/// A device group as it is stored (http 6).
public struct GroupRecord: Sendable, Equatable {
    /// Identifies the group; encoded in its notification key.
    public var name: GroupName
    /// `notification_key_name`: unique among the groups of its sender.
    public var label: [UInt8]
    /// Its members in the order in which they were added, 0 … `Limits.Group.members`; the tokens are those that the app server gave.
    public var members: [TokenName]
    /// When it was created, in milliseconds since 1970.
    public var createdAt: UnixMilliseconds

    public init(
        name: GroupName, label: [UInt8], members: [TokenName], createdAt: UnixMilliseconds
    ) {
        self.name = name
        self.label = label
        self.members = members
        self.createdAt = createdAt
    }
}

/// An app server's request on its groups (http 6.1, 6.2). The caller has checked that the members' tokens are authentic.
public struct GroupRequest: Sendable {
    /// What a request does with a group.
    public enum Operation: Sendable {
        /// Create a group with this label.
        case create(label: [UInt8], members: [TokenName])
        /// Add members; a label, if given, must be the group's.
        case add(number: UInt64, label: [UInt8]?, members: [TokenName])
        /// Remove members. The group lives on without its last member; one without members is deleted.
        case remove(number: UInt64, label: [UInt8]?, members: [TokenName])
        /// Take over a group of another server. It replaces one with this label and number if `replaces` is set.
        case imported(GroupRecord, replaces: Bool)
        /// Read the group with this label.
        case find(label: [UInt8])
        /// Read the group with this number.
        case show(number: UInt64)
        /// Apply what a group message has shown: members that are unregistered, and members whose token was replaced.
        case reconcile(
            number: UInt64, gone: [RegistrationName],
            replaced: [(old: RegistrationName, new: TokenName)])
    }

    /// Where the answer is sent; `nil` if the core itself made the request.
    public var requester: Requester?
    /// The owner of the groups.
    public var sender: SenderID
    public var operation: Operation

    public init(requester: Requester?, sender: SenderID, operation: Operation) {
        self.requester = requester
        self.sender = sender
        self.operation = operation
    }
}

/// Why a group request was refused; each interface words it in its own way (http 6.1).
public enum GroupRefusal: String, Error, Sendable, CaseIterable {
    /// Another group of the sender has the label.
    case labelTaken = "label_taken"
    /// None of the given tokens can be a member.
    case noMembers = "no_members"
    /// The group does not exist.
    case notFound = "not_found"
    /// The given label is not the group's.
    case labelMismatch = "label_mismatch"
    /// The group would exceed `Limits.Group.members`.
    case tooManyMembers = "too_many_members"
    /// The registry has reached its maximum size.
    case registryFull = "registry_full"
    /// The store is unavailable.
    case unavailable = "unavailable"
    /// What the store holds of the group, or of the groups of its sender, is damaged.
    case storeDamaged = "store_damaged"
}

/// The app instance that sends a message to a group of which it is a member (ccs-xmpp 4.4).
public struct GroupAuthor: Sendable {
    /// The registrations of its app on its device, the newest last. One of them must be a member; none of them receives the
    /// message.
    public var own: [RegistrationName]

    /// Creates an author from at least one registration.
    public init(own: [RegistrationName]) {
        self.own = own
    }
}

/// A message for every member of a group.
public struct GroupSubmission: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    /// The account that it was submitted under, which must be the owner of the group.
    public var sender: SenderID
    public var group: GroupName
    /// The app instance that sends it; `nil` if an app server does.
    public var author: GroupAuthor?
    /// The message that each member gets.
    public var content: MessageContent

    public init(
        requester: Requester, sender: SenderID, group: GroupName, author: GroupAuthor? = nil,
        content: MessageContent
    ) {
        self.requester = requester
        self.sender = sender
        self.group = group
        self.author = author
        self.content = content
    }
}

/// The result of a group message.
public struct GroupAnswer: Sendable, Equatable {
    /// Number of members that were reached.
    public var success: Int
    /// The members that were not reached, in the order of the group, each with its refusal.
    public var failed: [(member: TokenName, refusal: Refusal)]

    public init(success: Int, failed: [(member: TokenName, refusal: Refusal)]) {
        self.success = success
        self.failed = failed
    }

    /// Why the message has reached no member, as one refusal for all of them. `nil` if it has reached one, or the group has none.
    ///
    /// A retryable refusal comes first, since trying again may then help; next what is wrong with a registered member. Only if all
    /// members are unregistered is that the result.
    public var refusal: Refusal? {
        guard success == 0 else { return nil }
        return
            (failed.first { $0.refusal.isRetryable } ?? failed.first { $0.refusal != .notRegistered }
            ?? failed.first)?.refusal
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.success == b.success && a.failed.elementsEqual(b.failed) { $0 == $1 }
    }
}

/// The answer to a submission that the core itself made.
public enum MemberAnswer: Sendable {
    /// Accepted; `canonical` is the token that replaced the one it was sent to.
    case sent(canonical: TokenName?)
    /// Refused.
    case refused(Refusal)
}

extension GroupEvent {
    /// Returns whether the content of the event belongs to a sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .requested(let request): request.sender == sender
        case .submitted(let submission): submission.group.sender == sender
        case .memberAnswered: true
        }
    }
}
