import Basics
import Crypto
import Delivery
import Transport
import Webhooks

/// The secrets that requests to webhooks are signed with: encrypted in the records of their senders.
struct WebhookSecrets: Sendable {
    /// What a secret begins with as text (Standard Webhooks).
    static let prefix = "whsec_"

    private let seal: SecretSeal

    /// Uses a secret of the server that all nodes of a cluster share.
    init(secret: [UInt8]) { seal = SecretSeal(secret: secret, purpose: "secrets of webhooks") }

    /// Returns a new secret.
    static func fresh() -> Redacted<[UInt8]> { Redacted(SecureRandom.bytes(Limits.Webhook.secretBytes)) }

    /// Returns a secret as text, as receivers configure it.
    static func text(_ secret: Redacted<[UInt8]>) -> Redacted<String> {
        Redacted(prefix + Base64.text(secret.revealed))
    }

    /// Reads a secret of an operator, with or without the prefix. Returns `nil` if it is not Base64 of an allowed length.
    static func bytes(_ text: Redacted<String>) -> Redacted<[UInt8]>? {
        let digits =
            text.revealed.hasPrefix(prefix) ? text.revealed.dropFirst(prefix.count) : text.revealed[...]
        guard let bytes = Base64.bytes(Array(digits.utf8).raw),
            Limits.Webhook.chosenSecretBytes.contains(bytes.count)
        else { return nil }
        return Redacted(bytes)
    }

    /// Encrypts a secret of a sender. Returns `nil` if OpenSSL fails.
    func sealed(_ secret: Redacted<[UInt8]>, of sender: SenderID) -> [UInt8]? {
        seal.seal(
            secret, context: Self.context(sender), nonce: SecureRandom.bytes(SecretSeal.nonceBytes))
    }

    /// Decrypts a secret of a sender. Returns `nil` if it was sealed by another server.
    func opened(_ sealed: [UInt8], of sender: SenderID) -> Redacted<[UInt8]>? {
        seal.open(sealed, context: Self.context(sender))
    }

    private static func context(_ sender: SenderID) -> [UInt8] { Array("webhook of \(sender.number)".utf8) }

    /// Returns all endpoints with their keys.
    func endpoints(of directory: SenderDirectory) -> [WebhookEndpoint] {
        directory.all.compactMap { record in
            record.webhook.map { webhook in
                WebhookEndpoint(
                    sender: record.sender, url: webhook.url,
                    keys: webhook.secrets.compactMap { secret in
                        opened(secret.sealed, of: record.sender).map {
                            WebhookEndpoint.Key(secret: $0, expiresAt: secret.expiresAt)
                        }
                    }, isActive: record.usesWebhook,
                    isGone: webhook.state == .gone)
            }
        }
    }
}
