public import Basics

extension FieldKind where Value == Redacted<String> {
    /// A server key, which is chosen by the operator.
    static var serverKey: FieldKind {
        let bytes = Limits.Operator.shortestServerKey...Limits.Login.credentialBytes
        return secret(
            bytes,
            "a server key of \(bytes.lowerBound) to \(bytes.upperBound) printable ASCII characters, no blanks",
            as: "KEY")
    }
}

/// Adds a sender.
public struct AddSender: OperatorCommand {
    /// A name for people; empty for none.
    public var label: String
    /// The project ID; `nil` for one made of the sender ID.
    public var project: String?
    /// The sender ID; `nil` for one that is made.
    public var sender: SenderID?
    /// The server key; `nil` for one that is made.
    public var key: Redacted<String>?

    /// A new sender.
    public init(
        label: String = "", project: String? = nil, sender: SenderID? = nil, key: Redacted<String>? = nil
    ) {
        self.label = label
        self.project = project
        self.sender = sender
        self.key = key
    }

    public static let summary = OperationSummary.changing(
        .addSender, "Add a sender and show its ID and key.",
        details: ["The key is stored as a hash only: this is the one time that it can be shown."])
    public static let fields = Fields(
        AddSender.init(label:project:sender:key:),
        .preset(
            "label", .text(0...Limits.Operator.labelBytes), \.label, "", audit: .label, "A name for people."),
        .optional(
            "project", .text(1...Limits.Operator.projectBytes.upperBound, as: "NAME"), \.project,
            audit: .project,
            "The project ID, which stands in the paths of HTTP v1. Without it: ccs- and the sender ID."),
        .optional(
            "sender_id", .sender, \.sender, audit: .sender, "The sender ID, where it must be a certain one."
        ),
        .optional("key", .serverKey, \.key, "The server key. Without it one is made."))

    /// A sender that was added.
    public struct Answer: Record {
        /// Its ID.
        public var sender: SenderID
        /// Its project ID.
        public var project: String
        /// Its server key.
        public var key: Redacted<String>

        /// A sender that was added.
        public init(sender: SenderID, project: String, key: Redacted<String>) {
            self.sender = sender
            self.project = project
            self.key = key
        }

        public static let fields = Fields(
            Answer.init(sender:project:key:), .required("sender_id", .sender, \.sender, "Its ID."),
            .required("project", .text, \.project, "Its project ID."),
            .required("key", .serverKey, \.key, "Its server key."))
    }
}

/// Lists the senders.
public struct ListSenders: OperatorCommand {
    /// The command.
    public init() {}

    public static let summary = OperationSummary.reading(.listSenders, "List the senders.")
    public static let fields = Fields(ListSenders.init)

    /// A sender.
    public struct Row: Record {
        /// Its ID.
        public var sender: SenderID
        /// Its name for people.
        public var label: String
        /// Its project ID.
        public var project: String
        /// How many keys it has.
        public var keys: Int
        /// When it was added.
        public var createdAt: UnixMilliseconds
        /// Whether it may not send.
        public var isSuspended: Bool

        /// A sender.
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
            .required("sender_id", .sender, \.sender, "Its ID."),
            .required("label", .text, \.label, "Its name for people."),
            .required("project", .text, \.project, "Its project ID."),
            .required("keys", .count, \.keys, "How many keys it has."),
            .required("created_at", .time, \.createdAt, "When it was added."),
            .required("suspended", .truth, \.isSuspended, "Whether it may not send."))
    }

    /// The senders.
    public struct Answer: Record {
        /// All of them.
        public var senders: [Row]

        /// The senders.
        public init(senders: [Row]) { self.senders = senders }

        public static let fields = Fields(
            Answer.init(senders:), .required("senders", .list(.record), \.senders, "All of them."))
    }
}

/// Gives a sender a new key.
public struct RotateKey: OperatorCommand {
    /// The sender.
    public var sender: SenderID
    /// For how long the old keys work.
    public var overlapSeconds: Int
    /// The server key; `nil` for one that is made.
    public var key: Redacted<String>?

    /// A new key of a sender.
    public init(
        sender: SenderID, overlapSeconds: Int = Self.presetOverlapSeconds, key: Redacted<String>? = nil
    ) {
        self.sender = sender
        self.overlapSeconds = overlapSeconds
        self.key = key
    }

    /// For how long the old keys work where nothing is given: a day.
    public static let presetOverlapSeconds = 86_400

    public static let summary = OperationSummary.changing(
        .rotateKey, "Give a sender a new key; the old ones work for a while.")
    public static let fields = Fields(
        RotateKey.init(sender:overlapSeconds:key:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .preset(
            "overlap_seconds", .integer(0...31_536_000), \.overlapSeconds, presetOverlapSeconds,
            "Old keys work for so long."),
        .optional("key", .serverKey, \.key, "The server key. Without it one is made."))

    /// A key that was given.
    public struct Answer: Record {
        /// The sender.
        public var sender: SenderID
        /// Its new key.
        public var key: Redacted<String>
        /// When the old keys stop working.
        public var oldKeysExpireAt: UnixMilliseconds

        /// A key that was given.
        public init(sender: SenderID, key: Redacted<String>, oldKeysExpireAt: UnixMilliseconds) {
            self.sender = sender
            self.key = key
            self.oldKeysExpireAt = oldKeysExpireAt
        }

        public static let fields = Fields(
            Answer.init(sender:key:oldKeysExpireAt:),
            .required("sender_id", .sender, \.sender, "The sender."),
            .required("key", .serverKey, \.key, "Its new key."),
            .required("old_keys_expire_at", .time, \.oldKeysExpireAt, "When the old keys stop working."))
    }
}

/// Removes a sender.
public struct RemoveSender: OperatorCommand {
    /// The sender.
    public var sender: SenderID

    /// The end of a sender.
    public init(sender: SenderID) { self.sender = sender }

    public static let summary = OperationSummary.changing(
        .removeSender, "Remove a sender; its connections end and its tokens are dead.")
    public static let fields = Fields(
        RemoveSender.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."))

    /// A sender that was removed.
    public struct Answer: Record {
        /// Its ID.
        public var sender: SenderID

        /// A sender that was removed.
        public init(sender: SenderID) { self.sender = sender }

        public static let fields = Fields(
            Answer.init(sender:), .required("sender_id", .sender, \.sender, "Its ID."))
    }
}
