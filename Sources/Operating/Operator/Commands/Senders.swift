public import Basics

extension FieldKind where Value == Redacted<String> {
    /// A server key chosen by the operator.
    static var serverKey: FieldKind {
        let bytes = Limits.Operator.shortestServerKey...Limits.Login.credentialBytes
        return secret(
            bytes,
            "a server key of \(bytes.lowerBound) to \(bytes.upperBound) printable ASCII characters without spaces",
            as: "KEY")
    }
}

/// Adds a sender.
public struct AddSender: OperatorCommand {
    /// A descriptive name; may be empty.
    public var label: String
    /// The project ID; `nil` derives it from the sender ID.
    public var project: String?
    /// The sender ID; `nil` generates one.
    public var sender: SenderID?
    /// The server key; `nil` generates one.
    public var key: Redacted<String>?

    /// Creates the command.
    public init(
        label: String = "", project: String? = nil, sender: SenderID? = nil, key: Redacted<String>? = nil
    ) {
        self.label = label
        self.project = project
        self.sender = sender
        self.key = key
    }

    public static let summary = OperationSummary.changing(
        "senders add", "Add a sender and show its ID and key.",
        details: ["Only a hash of the key is stored, so the key cannot be shown again."])
    public static let fields = Fields(
        AddSender.init(label:project:sender:key:),
        .preset(
            "label", .text(0...Limits.Operator.labelBytes), \.label, "", audit: .label,
            "A descriptive name for listings."),
        .optional(
            "project", .text(1...Limits.Operator.projectBytes.upperBound, as: "NAME"), \.project,
            audit: .project,
            "The project ID, which HTTP v1 has in its paths. Default: ccs- and the sender ID."),
        .optional(
            "sender_id", .sender, \.sender, audit: .sender,
            "The sender ID, to keep an existing one. Default: a random one."
        ),
        .optional("key", .serverKey, \.key, "The server key. Default: a random one."))

    /// The added sender.
    public struct Answer: Record {
        public var sender: SenderID
        public var project: String
        public var key: Redacted<String>

        /// Creates an answer.
        public init(sender: SenderID, project: String, key: Redacted<String>) {
            self.sender = sender
            self.project = project
            self.key = key
        }

        public static let fields = Fields(
            Answer.init(sender:project:key:), .required("sender_id", .sender, \.sender, "The sender ID."),
            .required("project", .text, \.project, "The project ID."),
            .required("key", .serverKey, \.key, "The server key."))
    }
}

/// Lists the senders.
public struct ListSenders: OperatorCommand {
    public static let summary = OperationSummary.reading("senders list", "List the senders.")
    public static let fields = Fields(ListSenders.init)

    /// A sender in the list.
    public struct Row: Record {
        public var sender: SenderID
        public var label: String
        public var project: String
        public var keys: Int
        public var createdAt: UnixMilliseconds
        public var isSuspended: Bool

        /// Creates a row.
        public init(
            sender: SenderID, label: String, project: String, keys: Int, createdAt: UnixMilliseconds,
            isSuspended: Bool
        ) {
            self.sender = sender
            self.label = label
            self.project = project
            self.keys = keys
            self.createdAt = createdAt
            self.isSuspended = isSuspended
        }

        public static let fields = Fields(
            Row.init(sender:label:project:keys:createdAt:isSuspended:),
            .required("sender_id", .sender, \.sender, "The sender ID."),
            .required("label", .text, \.label, "The descriptive name."),
            .required("project", .text, \.project, "The project ID."),
            .required("keys", .count, \.keys, "The number of its keys."),
            .required("created_at", .time, \.createdAt, "When the sender was added."),
            .required(
                "suspended", .boolean, \.isSuspended, "Whether the sender is suspended and may not send.")
        )
    }

    /// All senders.
    public struct Answer: Record {
        public var senders: [Row]

        /// Creates an answer.
        public init(senders: [Row]) { self.senders = senders }

        public static let fields = Fields(
            Answer.init(senders:), .required("senders", .list(.record), \.senders, "The senders."))
    }
}

/// Gives a sender a new key.
public struct RotateKey: OperatorCommand {
    public var sender: SenderID
    /// The time for which the old keys keep working.
    public var overlapSeconds: Int = Self.presetOverlapSeconds
    /// The server key; `nil` generates one.
    public var key: Redacted<String>?

    /// The default overlap: a day.
    public static let presetOverlapSeconds = 86_400

    public static let summary = OperationSummary.destroying(
        "senders rotate-key", "Give a sender a new key; its old keys keep working for a time.")

    public var consequence: String? {
        guard overlapSeconds == 0 else { return nil }
        return "The old keys of sender \(sender.number) become invalid at once."
    }
    public static let fields = Fields(
        RotateKey.init(sender:overlapSeconds:key:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .preset(
            "overlap_seconds", .integer(0...31_536_000), \.overlapSeconds, presetOverlapSeconds,
            "Time for which the old keys keep working."),
        .optional("key", .serverKey, \.key, "The server key. Default: a random one."))

    /// The new key.
    public struct Answer: Record {
        public var sender: SenderID
        public var key: Redacted<String>
        public var oldKeysExpireAt: UnixMilliseconds

        /// Creates an answer.
        public init(sender: SenderID, key: Redacted<String>, oldKeysExpireAt: UnixMilliseconds) {
            self.sender = sender
            self.key = key
            self.oldKeysExpireAt = oldKeysExpireAt
        }

        public static let fields = Fields(
            Answer.init(sender:key:oldKeysExpireAt:),
            .required("sender_id", .sender, \.sender, "The sender."),
            .required("key", .serverKey, \.key, "The new key."),
            .required(
                "old_keys_expire_at", .time, \.oldKeysExpireAt,
                "When the old keys stop working, and sessions with them end."))
    }
}

/// Removes a sender.
public struct RemoveSender: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.destroying(
        "senders remove",
        "Remove a sender: its connections end, and its keys stop working. What it has sent is still delivered."
    )

    public var consequence: String? {
        "Sender \(sender.number) is removed with its keys and service accounts; its app servers are disconnected. What it has sent is still delivered. Tokens and subscriptions of its apps stay, and work again if a sender with this ID is added."
    }
    public static let fields = Fields(
        RemoveSender.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The removed sender.
    public struct Answer: Record {
        public var sender: SenderID

        /// Creates an answer.
        public init(sender: SenderID) { self.sender = sender }

        public static let fields = Fields(
            Answer.init(sender:), .required("sender_id", .sender, \.sender, "The sender ID."))
    }
}

/// A sender after a change.
public struct SenderState: Record {
    public var sender: SenderID
    public var isSuspended: Bool
    /// Whether the command changed anything.
    public var isChanged: Bool

    /// Creates an answer.
    public init(sender: SenderID, isSuspended: Bool, isChanged: Bool) {
        self.sender = sender
        self.isSuspended = isSuspended
        self.isChanged = isChanged
    }

    public static let fields = Fields(
        SenderState.init(sender:isSuspended:isChanged:),
        .required("sender_id", .sender, \.sender, "The sender ID."),
        .required("suspended", .boolean, \.isSuspended, "Whether the sender is suspended."),
        .required("changed", .boolean, \.isChanged, "Whether the command changed that."))
}

/// Suspends a sender.
public struct SuspendSender: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "senders suspend",
        "Suspend a sender: its connections end, and its app servers are refused until it is resumed.",
        details: [
            "Logins over XMPP are answered with account-disabled, HTTP requests with its server keys or access tokens with 401, and requests for access tokens with invalid_grant. Web pushes are refused with 403 if they are for a web app of the sender.",
            "Its registrations, topics and groups stay. Messages that were accepted before are still delivered. Devices are not affected: their upstream messages to the sender are accepted and stored until it is resumed or their lifetime ends. The suspension survives a restart.",
        ])
    public static let fields = Fields(
        SuspendSender.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The sender after the change.
    public typealias Answer = SenderState
}

/// Ends the suspension of a sender.
public struct ResumeSender: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "senders resume", "Resume a suspended sender: its app servers may log in and send again.")
    public static let fields = Fields(
        ResumeSender.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// The sender after the change.
    public typealias Answer = SenderState
}
