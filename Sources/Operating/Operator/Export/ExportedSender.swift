public import Basics

/// A secret of the server that what it has handed out depends on.
public struct ExportedSecret: Record, Equatable {
    /// What the secret is for.
    public enum Name: String, Sendable, CaseIterable {
        /// Authenticates registration tokens, notification keys and access tokens.
        case token = "token_secret"
    }

    public var name: Name
    public var value: Redacted<[UInt8]>

    /// Creates a row.
    public init(name: Name, value: Redacted<[UInt8]>) {
        self.name = name
        self.value = value
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.name == b.name && ConstantTime.equal(a.value.revealed, b.value.revealed)
    }

    public func check() throws(FieldProblem) {
        guard value.revealed.count == 32 else {
            throw .conflict("invalid value: expected Base64 of 32 bytes", hint: "export again")
        }
    }

    public static let fields = Fields(
        ExportedSecret.init(name:value:),
        .required("name", .word, \.name, "What it is for."),
        .required("value", .secretFile(upTo: 32), \.value, "The secret."))
}

/// A sender with digests of its keys.
public struct ExportedSender: Record, Equatable {
    /// A server key.
    public struct Key: Record, Equatable {
        public var sha256: [UInt8]
        public var createdAt: UnixMilliseconds
        public var expiresAt: UnixMilliseconds?
        public var scram: SCRAM?

        /// Creates a key.
        public init(
            sha256: [UInt8], createdAt: UnixMilliseconds, expiresAt: UnixMilliseconds?, scram: SCRAM?
        ) {
            self.sha256 = sha256
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.scram = scram
        }

        public static let fields = Fields(
            Key.init(sha256:createdAt:expiresAt:scram:),
            .required("sha256", .digest, \.sha256, "The digest of the key."),
            .required("created_at", .time, \.createdAt, "When it was made."),
            .optional("expires_at", .time, \.expiresAt, "When it expires."),
            .optional("scram", .record, \.scram, "What SCRAM-SHA-256 needs."))
    }

    /// The SCRAM verifier of a key, from which the key cannot be derived.
    public struct SCRAM: Record, Equatable {
        public var storedKey: [UInt8]
        public var serverKey: [UInt8]
        public var salt: [UInt8]
        public var iterations: Int

        /// Creates a verifier.
        public init(storedKey: [UInt8], serverKey: [UInt8], salt: [UInt8], iterations: Int) {
            self.storedKey = storedKey
            self.serverKey = serverKey
            self.salt = salt
            self.iterations = iterations
        }

        public static let fields = Fields(
            SCRAM.init(storedKey:serverKey:salt:iterations:),
            .required("stored_key", .digest, \.storedKey, "StoredKey."),
            .required("server_key", .digest, \.serverKey, "ServerKey."),
            .required("salt", .base64(upTo: 64), \.salt, "The salt."),
            .required("iterations", .integer(1...10_000_000), \.iterations, "The iteration count."))
    }

    /// A service account.
    public struct Account: Record, Equatable {
        public var email: String
        public var keyID: String
        public var publicKey: [UInt8]
        public var createdAt: UnixMilliseconds

        /// Creates an account.
        public init(email: String, keyID: String, publicKey: [UInt8], createdAt: UnixMilliseconds) {
            self.email = email
            self.keyID = keyID
            self.publicKey = publicKey
            self.createdAt = createdAt
        }

        public static let fields = Fields(
            Account.init(email:keyID:publicKey:createdAt:),
            .required("email", .text(1...320), \.email, "The name of the account."),
            .required("key_id", .text(1...64), \.keyID, "The ID of its key."),
            .required("public_key", .base64(upTo: 1_024), \.publicKey, "Its public key (DER)."),
            .required("created_at", .time, \.createdAt, "When it was made."))
    }

    /// A webhook.
    public struct Webhook: Record, Equatable {
        public var url: String
        public var state: WebhookStateName
        public var createdAt: UnixMilliseconds
        public var secrets: [Secret]

        /// Creates a webhook.
        public init(url: String, state: WebhookStateName, createdAt: UnixMilliseconds, secrets: [Secret]) {
            self.url = url
            self.state = state
            self.createdAt = createdAt
            self.secrets = secrets
        }

        public static let fields = Fields(
            Webhook.init(url:state:createdAt:secrets:),
            .required("url", .webhookURL, \.url, "The endpoint."),
            .required("state", .word, \.state, "Whether requests are sent."),
            .required("created_at", .time, \.createdAt, "When it was set."),
            .required("secrets", .list(.record), \.secrets, "Its secrets, oldest first."))
    }

    /// A secret that requests to a webhook are signed with.
    public struct Secret: Record, Equatable {
        public var secret: Redacted<[UInt8]>
        public var createdAt: UnixMilliseconds
        public var expiresAt: UnixMilliseconds?

        /// Creates a secret.
        public init(secret: Redacted<[UInt8]>, createdAt: UnixMilliseconds, expiresAt: UnixMilliseconds?) {
            self.secret = secret
            self.createdAt = createdAt
            self.expiresAt = expiresAt
        }

        public static func == (a: Self, b: Self) -> Bool {
            ConstantTime.equal(a.secret.revealed, b.secret.revealed) && a.createdAt == b.createdAt
                && a.expiresAt == b.expiresAt
        }

        public static let fields = Fields(
            Secret.init(secret:createdAt:expiresAt:),
            .required(
                "secret", .secretFile(upTo: Limits.Webhook.chosenSecretBytes.upperBound), \.secret,
                "The secret."),
            .required("created_at", .time, \.createdAt, "When it was made."),
            .optional("expires_at", .time, \.expiresAt, "When requests are no longer signed with it."))
    }

    public var sender: SenderID
    public var label: String
    public var project: String
    public var isSuspended: Bool
    public var createdAt: UnixMilliseconds
    public var keys: [Key]
    public var accounts: [Account]
    public var webhook: Webhook?

    /// Creates a row.
    public init(
        sender: SenderID, label: String, project: String, isSuspended: Bool, createdAt: UnixMilliseconds,
        keys: [Key], accounts: [Account], webhook: Webhook? = nil
    ) {
        self.sender = sender
        self.label = label
        self.project = project
        self.isSuspended = isSuspended
        self.createdAt = createdAt
        self.keys = keys
        self.accounts = accounts
        self.webhook = webhook
    }

    public func check() throws(FieldProblem) {
        guard keys.count <= Limits.Operator.keysPerSender else {
            throw .conflict(
                "invalid keys: expected at most \(Limits.Operator.keysPerSender)", hint: "rotate keys first")
        }
        guard accounts.count <= Limits.Operator.accountsPerSender else {
            throw .conflict(
                "invalid accounts: expected at most \(Limits.Operator.accountsPerSender)",
                hint: "remove accounts first")
        }
        guard webhook?.secrets.count ?? 0 <= Limits.Webhook.secrets else {
            throw .conflict(
                "invalid webhook: expected at most \(Limits.Webhook.secrets) secrets",
                hint: "rotate the secret first")
        }
    }

    public static let fields = Fields(
        ExportedSender.init(sender:label:project:isSuspended:createdAt:keys:accounts:webhook:),
        .required("sender_id", .sender, \.sender, "The sender ID."),
        .preset("label", .text(0...Limits.Operator.labelBytes), \.label, "", "The name for people."),
        .preset(
            "project", .text(0...Limits.Operator.projectBytes.upperBound), \.project, "",
            "The project ID; empty for the default one."),
        .preset("suspended", .boolean, \.isSuspended, false, "Whether it is suspended."),
        .required("created_at", .time, \.createdAt, "When it was made."),
        .required("keys", .list(.record), \.keys, "Its server keys, oldest first."),
        .required("accounts", .list(.record), \.accounts, "Its service accounts, oldest first."),
        .optional("webhook", .record, \.webhook, "Its webhook."))
}
