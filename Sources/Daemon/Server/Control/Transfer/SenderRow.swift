import Basics
public import Delivery
public import Operator

extension SCRAMVerifier: Record {
    public static let fields: Fields<SCRAMVerifier> = Fields(
        SCRAMVerifier.init(storedKey:serverKey:salt:iterations:),
        .required("stored_key", .digest, \.storedKey, "StoredKey."),
        .required("server_key", .digest, \.serverKey, "ServerKey."),
        .required("salt", .base64(upTo: 64), \.salt, "The salt."),
        .required("iterations", .integer(1...10_000_000), \.iterations, "The iteration count."))
}

extension ServerKey: Record {
    public static let fields: Fields<ServerKey> = Fields(
        ServerKey.init(digest:createdAt:expiresAt:scram:),
        .required("sha256", .secretDigest, \.digest, "The digest of the key."),
        .required("created_at", .time, \.createdAt, "When it was made."),
        .optional("expires_at", .time, \.expiresAt, "When it expires."),
        .optional("scram", .record, \.scram, "What SCRAM-SHA-256 needs."))
}

extension ServiceAccount: Record {
    public static let fields: Fields<ServiceAccount> = Fields(
        ServiceAccount.init(email:keyID:publicKey:createdAt:),
        .required("email", .text(1...320), \.email, "The name of the account."),
        .required("key_id", .text(1...64), \.keyID, "The ID of its key."),
        .required("public_key", .base64(upTo: 1_024), \.publicKey, "Its public key (DER)."),
        .required("created_at", .time, \.createdAt, "When it was made."))
}

/// A sender with the digests of its keys, and with its webhook, whose secrets are in the store only encrypted.
struct SenderRow: Record {
    /// A webhook.
    struct Webhook: Record, Equatable {
        var url: String
        var state: WebhookStateName
        var createdAt: UnixMilliseconds
        var secrets: [Secret]

        static let fields = Fields(
            Webhook.init(url:state:createdAt:secrets:),
            .required("url", .webhookURL, \.url, "The endpoint."),
            .required("state", .word, \.state, "Whether requests are sent."),
            .required("created_at", .time, \.createdAt, "When it was set."),
            .required("secrets", .list(.record), \.secrets, "Its secrets, oldest first."))
    }

    /// A secret that requests to a webhook are signed with.
    struct Secret: Record, Equatable {
        var secret: Redacted<[UInt8]>
        var createdAt: UnixMilliseconds
        var expiresAt: UnixMilliseconds?

        static func == (a: Self, b: Self) -> Bool {
            ConstantTime.equal(a.secret.revealed, b.secret.revealed) && a.createdAt == b.createdAt
                && a.expiresAt == b.expiresAt
        }

        static let fields = Fields(
            Secret.init(secret:createdAt:expiresAt:),
            .required(
                "secret", .secretFile(upTo: Limits.Webhook.chosenSecretBytes.upperBound), \.secret,
                "The secret."),
            .required("created_at", .time, \.createdAt, "When it was made."),
            .optional("expires_at", .time, \.expiresAt, "When requests are no longer signed with it."))
    }

    /// The record without its webhook.
    let record: SenderRecord
    let webhook: Webhook?

    static let fields = Fields(
        SenderRow.init(sender:label:project:isSuspended:createdAt:keys:accounts:webhook:),
        .required("sender_id", .sender, \.record.sender, "The sender ID."),
        .preset("label", .text(0...Limits.Operator.labelBytes), \.record.label, "", "The name for people."),
        .preset(
            "project", .text(0...Limits.Operator.projectBytes.upperBound), \.record.project, "",
            "The project ID; empty for the default one."),
        .preset("suspended", .boolean, \.record.isSuspended, false, "Whether it is suspended."),
        .required("created_at", .time, \.record.createdAt, "When it was made."),
        .required("keys", .list(.record), \.record.keys, "Its server keys, oldest first."),
        .required("accounts", .list(.record), \.record.accounts, "Its service accounts, oldest first."),
        .optional("webhook", .record, \.webhook, "Its webhook."))

    init(
        sender: SenderID, label: String, project: String, isSuspended: Bool, createdAt: UnixMilliseconds,
        keys: [ServerKey], accounts: [ServiceAccount], webhook: Webhook?
    ) {
        record = SenderRecord(
            sender: sender, label: label, keys: keys, createdAt: createdAt, isSuspended: isSuspended,
            project: project, accounts: accounts)
        self.webhook = webhook
    }

    /// Creates the row of a record.
    init(_ record: SenderRecord, _ secrets: WebhookSecrets) {
        self.record = record
        webhook = record.webhook.map { webhook in
            Webhook(
                url: webhook.url, state: WebhookStateName(webhook.state), createdAt: webhook.createdAt,
                secrets: webhook.secrets.compactMap { stored in
                    secrets.opened(stored.sealed, of: record.sender).map {
                        Secret(secret: $0, createdAt: stored.createdAt, expiresAt: stored.expiresAt)
                    }
                })
        }
    }

    func check() throws(FieldProblem) {
        guard record.keys.count <= Limits.Operator.keysPerSender else {
            throw .conflict(
                "invalid keys: expected at most \(Limits.Operator.keysPerSender)", hint: "rotate keys first")
        }
        guard record.accounts.count <= Limits.Operator.accountsPerSender else {
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
}
