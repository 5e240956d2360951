public import Basics

/// Adds a service account.
public struct AddAccount: OperatorCommand {
    /// The sender that it sends as.
    public var sender: SenderID
    /// The public half of its key: DER of SubjectPublicKeyInfo.
    public var publicKey: [UInt8]

    /// A new account.
    public init(sender: SenderID, publicKey: [UInt8]) {
        self.sender = sender
        self.publicKey = publicKey
    }

    public static let summary = OperationSummary.changing(
        .addAccount, "Make a service account for SDKs of HTTP v1.",
        details: [
            "The key is made by the caller: the daemon keeps the public half, and never has the private one."
        ])
    public static let fields = Fields(
        AddAccount.init(sender:publicKey:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender that it sends as."),
        .required(
            "public_key", .base64(upTo: Limits.Operator.fileBytes), \.publicKey,
            "The public half of its key: DER of SubjectPublicKeyInfo."))

    /// An account that was added.
    public struct Answer: Record {
        /// The sender that it sends as.
        public var sender: SenderID
        /// The project ID of the sender.
        public var project: String
        /// Its e-mail address, which is its name.
        public var email: String
        /// The ID of its key.
        public var keyID: String

        /// An account that was added.
        public init(sender: SenderID, project: String, email: String, keyID: String) {
            self.sender = sender
            self.project = project
            self.email = email
            self.keyID = keyID
        }

        public static let fields = Fields(
            Answer.init(sender:project:email:keyID:),
            .required("sender_id", .sender, \.sender, "The sender that it sends as."),
            .required("project", .text, \.project, "The project ID of the sender."),
            .required("email", .text, \.email, "Its e-mail address, which is its name."),
            .required("key_id", .text, \.keyID, "The ID of its key."))
    }
}

/// Lists the service accounts.
public struct ListAccounts: OperatorCommand {
    /// Only those of this sender.
    public var sender: SenderID?

    /// The accounts of one sender or of all.
    public init(sender: SenderID? = nil) { self.sender = sender }

    public static let summary = OperationSummary.reading(
        .listAccounts, "List the service accounts of one sender or of all.")
    public static let fields = Fields(
        ListAccounts.init(sender:), .optional("sender_id", .sender, \.sender, audit: .sender, "The sender.")
    )

    /// An account.
    public struct Row: Record {
        /// The sender that it sends as.
        public var sender: SenderID
        /// The project ID of the sender.
        public var project: String
        /// The ID of its key.
        public var keyID: String
        /// When it was added.
        public var createdAt: UnixMilliseconds
        /// Its e-mail address.
        public var email: String

        /// An account.
        public init(
            sender: SenderID, project: String, keyID: String, createdAt: UnixMilliseconds, email: String
        ) {
            self.sender = sender
            self.project = project
            self.keyID = keyID
            self.createdAt = createdAt
            self.email = email
        }

        public static let fields = Fields(
            Row.init(sender:project:keyID:createdAt:email:),
            .required("sender_id", .sender, \.sender, "The sender that it sends as."),
            .required("project", .text, \.project, "The project ID of the sender."),
            .required("key_id", .text, \.keyID, "The ID of its key."),
            .required("created_at", .time, \.createdAt, "When it was added."),
            .required("email", .text, \.email, "Its e-mail address."))
    }

    /// The accounts.
    public struct Answer: Record {
        /// Those that were asked for.
        public var accounts: [Row]

        /// The accounts.
        public init(accounts: [Row]) { self.accounts = accounts }

        public static let fields = Fields(
            Answer.init(accounts:),
            .required("accounts", .list(.record), \.accounts, "Those that were asked for."))
    }
}

/// Removes a service account.
public struct RemoveAccount: OperatorCommand {
    /// The sender that it sends as.
    public var sender: SenderID
    /// The ID of its key.
    public var keyID: String

    /// The end of an account.
    public init(sender: SenderID, keyID: String) {
        self.sender = sender
        self.keyID = keyID
    }

    public static let summary = OperationSummary.changing(
        .removeAccount, "Remove a service account; its access tokens stop working at once.")
    public static let fields = Fields(
        RemoveAccount.init(sender:keyID:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .required(
            "key_id", .text(1...Limits.Login.credentialBytes, as: "KEY_ID"), \.keyID, audit: .keyID,
            "Its key, by private_key_id of the key file."))

    /// An account that was removed.
    public struct Answer: Record {
        /// The sender that it sent as.
        public var sender: SenderID
        /// Its e-mail address.
        public var email: String

        /// An account that was removed.
        public init(sender: SenderID, email: String) {
            self.sender = sender
            self.email = email
        }

        public static let fields = Fields(
            Answer.init(sender:email:),
            .required("sender_id", .sender, \.sender, "The sender that it sent as."),
            .required("email", .text, \.email, "Its e-mail address."))
    }
}
