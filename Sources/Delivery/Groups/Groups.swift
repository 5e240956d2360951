public import Basics

/// A device group as it is stored (http 6).
public struct GroupRecord: Sendable, Equatable {
    /// Which group it is: what the notification key says.
    public var name: GroupName
    /// `notification_key_name`: unique among the groups of its sender.
    public var label: [UInt8]
    /// Its members in the order in which they came, 1 … `Limits.Group.members`.
    public var members: [RegistrationName]
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds

    /// A group; all parts are the caller's.
    public init(
        name: GroupName, label: [UInt8], members: [RegistrationName], createdAt: UnixMilliseconds
    ) {
        self.name = name
        self.label = label
        self.members = members
        self.createdAt = createdAt
    }
}

/// What an app server wants of its groups (http 6.1, 6.2). Members have been looked at before: they are real.
public struct GroupRequest: Sendable {
    /// What is wanted.
    public enum Operation: Sendable {
        /// Make a group of this label.
        case create(label: [UInt8], members: [RegistrationName])
        /// Add members; a label, where one is given, must be the group's.
        case add(number: UInt64, label: [UInt8]?, members: [RegistrationName])
        /// Remove members; the last one takes the group with it.
        case remove(number: UInt64, label: [UInt8]?, members: [RegistrationName])
        /// The group of a label.
        case find(label: [UInt8])
        /// The group of a number.
        case show(number: UInt64)
        /// What a send has shown: members that are gone, and those that another token has replaced.
        case settle(
            number: UInt64, gone: [RegistrationName],
            replaced: [(old: RegistrationName, new: RegistrationName)])
    }

    /// Where the answer goes; nil: nobody waits for one.
    public var origin: Origin?
    /// Whose groups.
    public var sender: SenderID
    /// What is wanted.
    public var operation: Operation

    /// A request; all parts are the caller's.
    public init(origin: Origin?, sender: SenderID, operation: Operation) {
        self.origin = origin
        self.sender = sender
        self.operation = operation
    }
}

/// Why a request about a group was refused; each interface words it in its own way (http 6.1).
public enum GroupRefusal: String, Error, Sendable {
    /// Another group of the sender has the label.
    case labelTaken = "label_taken"
    /// None of the tokens given can be a member.
    case noMembers = "no_members"
    /// There is no such group, or no longer.
    case notFound = "not_found"
    /// The label given is not the group's.
    case labelMismatch = "label_mismatch"
    /// It would have more than `Limits.Group.members`.
    case tooManyMembers = "too_many_members"
    /// The registry is as large as it may become.
    case registryFull = "registry_full"
    /// The store cannot take it now.
    case unavailable = "unavailable"
}

/// The app instance that sends a message to a group which it is in (ccs-xmpp 4.4).
public struct GroupAuthor: Sendable {
    /// The registrations of its app on its device, the newest last, of which one must be a member. They are not sent it.
    public var own: [RegistrationName]

    /// An author, which has one registration at least.
    public init(own: [RegistrationName]) {
        self.own = own
    }
}

/// A message for every member of a group.
public struct GroupSubmission: Sendable {
    /// Where the answer goes.
    public var origin: Origin
    /// The account that it was submitted under, which must be that of the group.
    public var sender: SenderID
    /// The group.
    public var group: GroupName
    /// Who sends it, where no app server does.
    public var author: GroupAuthor?
    /// What each member gets.
    public var content: MessageContent

    /// A message to a group.
    public init(
        origin: Origin, sender: SenderID, group: GroupName, author: GroupAuthor? = nil,
        content: MessageContent
    ) {
        self.origin = origin
        self.sender = sender
        self.group = group
        self.author = author
        self.content = content
    }
}

/// What became of a message to a group.
public struct GroupAnswer: Sendable, Equatable {
    /// How many members were reached.
    public var success: Int
    /// The members that were not, in the order of the group, each with why.
    public var failed: [(member: RegistrationName, refusal: Refusal)]

    /// An answer; both parts are the caller's.
    public init(success: Int, failed: [(member: RegistrationName, refusal: Refusal)]) {
        self.success = success
        self.failed = failed
    }

    /// Why the message has reached no member, as one word for all of them; nil where it has reached one, or there is none.
    ///
    /// One that goes away by itself comes first, since trying again may then help; then what is wrong with a member that
    /// is there; that all are gone comes last.
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

/// What became of a submission that the core itself made.
public enum MemberAnswer: Sendable {
    /// Taken; the token that replaced the one it was sent to, if one did.
    case sent(canonical: RegistrationName?)
    /// Refused.
    case refused(Refusal)
}

extension GroupEvent {
    /// Whether what the event carries is of a sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .requested(let request): request.sender == sender
        case .submitted(let submission): submission.group.sender == sender
        case .memberAnswered: true
        }
    }
}
