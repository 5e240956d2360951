public import Basics

/// Adds a service account.
public struct AddAccount: OperatorCommand {
    public var sender: SenderID
    public var publicKey: [UInt8]

    /// Creates the command.
    public init(sender: SenderID, publicKey: [UInt8]) {
        self.sender = sender
        self.publicKey = publicKey
    }

    public static let summary = OperationSummary.changing(
        "service-accounts add", "Create a service account for SDKs of HTTP v1.",
        details: [
            "The caller creates the key pair: the daemon stores the public key and never gets the private one."
        ])
    public static let fields = Fields(
        AddAccount.init(sender:publicKey:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender that the account sends as."),
        .required(
            "public_key", .base64(upTo: Limits.Operator.fileBytes), \.publicKey,
            "The public key of the account: DER of SubjectPublicKeyInfo."))

    /// The added account.
    public struct Answer: Record {
        public var sender: SenderID
        public var project: String
        public var email: String
        public var keyID: String

        /// Creates an answer.
        public init(sender: SenderID, project: String, email: String, keyID: String) {
            self.sender = sender
            self.project = project
            self.email = email
            self.keyID = keyID
        }

        public static let fields = Fields(
            Answer.init(sender:project:email:keyID:),
            .required("sender_id", .sender, \.sender, "The sender that the account sends as."),
            .required("project", .text, \.project, "The project ID of the sender."),
            .required("email", .text, \.email, "The e-mail address, which is the name of the account."),
            .required("key_id", .text, \.keyID, "The ID of the account's key."))
    }
}

/// Lists the service accounts.
public struct ListAccounts: OperatorCommand {
    /// The sender whose accounts are listed; `nil` lists all.
    public var sender: SenderID?

    public static let summary = OperationSummary.reading(
        "service-accounts list", "List the service accounts of one sender or of all.")
    public static let fields = Fields(
        ListAccounts.init(sender:), .optional("sender_id", .sender, \.sender, audit: .sender, "The sender.")
    )

    /// A service account.
    public struct Row: Record {
        public var sender: SenderID
        public var project: String
        public var keyID: String
        public var createdAt: UnixMilliseconds
        public var email: String

        /// Creates a row.
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
            .required("sender_id", .sender, \.sender, "The sender that the account sends as."),
            .required("project", .text, \.project, "The project ID of the sender."),
            .required("key_id", .text, \.keyID, "The ID of the account's key."),
            .required("created_at", .time, \.createdAt, "When the account was added."),
            .required("email", .text, \.email, "The e-mail address of the account."))
    }

    /// The requested accounts.
    public struct Answer: Record {
        public var accounts: [Row]

        /// Creates an answer.
        public init(accounts: [Row]) { self.accounts = accounts }

        public static let fields = Fields(
            Answer.init(accounts:),
            .required("accounts", .list(.record), \.accounts, "The accounts."))
    }
}

/// Removes a service account.
public struct RemoveAccount: OperatorCommand {
    public var sender: SenderID
    public var keyID: String

    public static let summary = OperationSummary.destroying(
        "service-accounts remove", "Remove a service account; its access tokens stop working at once.")

    public var consequence: String? {
        "The service account of sender \(sender.number) with this key is removed; its access tokens become invalid at once."
    }
    public static let fields = Fields(
        RemoveAccount.init(sender:keyID:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .required(
            "key_id", .text(1...Limits.Login.credentialBytes, as: "KEY_ID"), \.keyID, audit: .keyID,
            "The ID of its key: private_key_id in the key file."))

    /// The removed account.
    public struct Answer: Record {
        public var sender: SenderID
        public var email: String

        /// Creates an answer.
        public init(sender: SenderID, email: String) {
            self.sender = sender
            self.email = email
        }

        public static let fields = Fields(
            Answer.init(sender:email:),
            .required("sender_id", .sender, \.sender, "The sender that the account sent as."),
            .required("email", .text, \.email, "The e-mail address of the account."))
    }
}
