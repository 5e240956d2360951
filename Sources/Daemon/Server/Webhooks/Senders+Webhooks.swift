import Basics
import Delivery
import Synchronization
import Webhooks

/// Management of the senders' webhooks.
extension Senders {
    /// Sets the endpoint of a sender. Returns the secret if it is new.
    func setWebhook(
        _ sender: SenderID, url: String, secret given: Redacted<String>?, reach: WebhookReach,
        secrets: WebhookSecrets, now: UnixMilliseconds
    ) throws(Problem) -> Redacted<[UInt8]>? {
        if let problem = WebhookURL.problem(url, reach) {
            throw Problem(
                text: "invalid url: \(problem)",
                hint: "expected https://HOST/PATH, such as https://app.example.com/ccs")
        }
        return try changes.withLock { _ throws(Problem) in
            guard var record = directory[sender] else { throw Self.unknown(sender) }
            var fresh: Redacted<[UInt8]>?
            if given != nil || record.webhook == nil { fresh = try Self.secret(given) }
            let kept = fresh == nil ? record.webhook?.secrets ?? [] : []
            let made = try fresh.map { secret throws(Problem) in
                try Self.stored(secret, of: sender, secrets, now)
            }
            record.webhook = WebhookRecord(
                url: url, secrets: kept + (made.map { [$0] } ?? []),
                createdAt: record.webhook?.createdAt ?? now)
            try put(record)
            return fresh
        }
    }

    /// Gives a webhook another secret; the old one signs for `overlapSeconds` as well.
    func rotateWebhookSecret(
        _ sender: SenderID, overlapSeconds: Int, secret given: Redacted<String>?, secrets: WebhookSecrets,
        now: UnixMilliseconds
    ) throws(Problem) -> (secret: Redacted<[UInt8]>, oldExpiresAt: UnixMilliseconds) {
        try changeWebhook(of: sender) { webhook throws(Problem) in
            let end = now + Int64(overlapSeconds) * 1_000
            let fresh = try Self.secret(given)
            let valid = webhook.secrets.filter { ($0.expiresAt ?? .max) > now }
            webhook.secrets = valid.suffix(Limits.Webhook.secrets - 1).map { old in
                var old = old
                old.expiresAt = min(old.expiresAt ?? end, end)
                return old
            }
            webhook.secrets.append(try Self.stored(fresh, of: sender, secrets, now))
            return (fresh, end)
        }
    }

    /// Pauses or resumes a webhook. Returns its state, and whether that has changed.
    func setWebhook(
        _ sender: SenderID, to state: WebhookRecord.State
    ) throws(Problem) -> Bool {
        try changeWebhook(of: sender) { webhook throws(Problem) in
            let isChanged = webhook.state != state
            webhook.state = state
            return isChanged
        }
    }

    /// Removes a webhook.
    func clearWebhook(_ sender: SenderID) throws(Problem) {
        try changes.withLock { _ throws(Problem) in
            var record = try recordWithWebhook(sender)
            record.webhook = nil
            try put(record)
        }
    }

    /// Records that an endpoint has answered 410, unless an operator has changed it meanwhile.
    func recordGone(_ sender: SenderID) {
        guard directory[sender]?.webhook?.state == .active else { return }
        _ = try? setWebhook(sender, to: .gone)
    }

    private func changeWebhook<Value>(
        of sender: SenderID, _ body: (inout WebhookRecord) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        try changes.withLock { _ throws(Problem) in
            var record = try recordWithWebhook(sender)
            guard var webhook = record.webhook else { throw Self.withoutWebhook(sender) }
            let value = try body(&webhook)
            if webhook != record.webhook {
                record.webhook = webhook
                try put(record)
            }
            return value
        }
    }

    private func recordWithWebhook(_ sender: SenderID) throws(Problem) -> SenderRecord {
        guard let record = directory[sender] else { throw Self.unknown(sender) }
        guard record.webhook != nil else { throw Self.withoutWebhook(sender) }
        return record
    }

    static func withoutWebhook(_ sender: SenderID) -> Problem {
        Problem(
            text: "sender \(sender.number) has no webhook",
            hint: "ccsctl senders webhook set \(sender.number) URL gives it one")
    }

    private static func secret(_ given: Redacted<String>?) throws(Problem) -> Redacted<[UInt8]> {
        guard let given else { return WebhookSecrets.fresh() }
        guard let secret = WebhookSecrets.bytes(given) else {
            let bytes = Limits.Webhook.chosenSecretBytes
            throw Problem(
                text:
                    "invalid secret: expected \(WebhookSecrets.prefix) and Base64 of \(bytes.lowerBound) to \(bytes.upperBound) bytes",
                hint: "without a secret ccsd generates one")
        }
        return secret
    }

    private static func stored(
        _ secret: Redacted<[UInt8]>, of sender: SenderID, _ secrets: WebhookSecrets, _ now: UnixMilliseconds
    ) throws(Problem) -> WebhookRecord.Secret {
        guard let sealed = secrets.sealed(secret, of: sender) else {
            throw Problem(text: "the secret cannot be encrypted", hint: "see the log of ccsd")
        }
        return WebhookRecord.Secret(sealed: sealed, createdAt: now)
    }
}
