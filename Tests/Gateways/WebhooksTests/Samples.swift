import Basics
import Delivery
import Transport

@testable import Webhooks

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

enum Samples {
    static let epoch: UnixMilliseconds = 1_700_000_000_000
    static let sender = SenderID(100)
    static let secret = [UInt8](repeating: 7, count: 32)

    static let writer = WebhookWriter(seal: TokenSeal(secret: secret)) { text, key in
        Digest.hmacSHA256(key: key, text)
    }

    static func session(_ number: UInt32 = 1) -> ConnectionID {
        ConnectionID(reactor: .max, slot: 9, generation: number)
    }

    static func message(
        _ sequence: UInt64, device: UInt64 = 1, lifetime: Int = 3_600, sender: SenderID = sender
    ) -> StoredUpstream {
        StoredUpstream(
            sender: sender, sequence: SequenceNumber(sequence),
            from: RegistrationName(device: DeviceID(device), number: RegistrationNumber(1)),
            category: bytes("com.example"), messageID: bytes("m\(sequence)"),
            expiresAt: epoch + Int64(lifetime) * 1_000, lifetimeSeconds: lifetime, body: [])
    }

    static func receipt(_ sequence: UInt64) -> StoredUpstream {
        var receipt = message(sequence, lifetime: 0)
        receipt.kind = .receipt(sentAt: epoch)
        return receipt
    }

    static func endpoint(
        _ sender: SenderID = sender, url: String = "https://a.example/", isActive: Bool = true
    ) -> WebhookEndpoint {
        WebhookEndpoint(
            sender: sender, url: url, keys: [WebhookEndpoint.Key(secret: Redacted(secret))],
            isActive: isActive)
    }
}

/// A gateway whose events a test feeds one by one, at a time that it sets.
final class Desk {
    var gateway = WebhookGateway(writer: Samples.writer, seed: 1)
    private(set) var milliseconds: Int64 = 0

    init(endpoints: [WebhookEndpoint] = [Samples.endpoint()]) { _ = feed(.endpoints(endpoints)) }

    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: 0).advanced(milliseconds: milliseconds),
            wall: Samples.epoch + milliseconds)
    }

    func feed(_ events: WebhookEvent...) -> WebhookEffects {
        var effects = WebhookEffects()
        for event in events { gateway.handle(event, now: now, effects: &effects) }
        return effects
    }

    func pass(_ milliseconds: Int64) -> WebhookEffects {
        self.milliseconds += milliseconds
        return feed(.tick)
    }

    func deliver(_ messages: StoredUpstream..., to session: ConnectionID = Samples.session())
        -> WebhookEffects
    {
        feed(.orders(messages.map { .deliver(session, $0) }))
    }

    func answer(_ request: WebhookRequest?, _ status: Int, retryAfter: Int? = nil) -> WebhookEffects {
        feed(.answered(request: request?.number ?? 0, .status(status, retryAfter: retryAfter)))
    }

    var status: WebhookStatus? { gateway.status(of: Samples.sender, now: now.monotonic) }
}

extension WebhookEffects {
    /// The messages of the requests that start.
    var sent: [String] {
        starts.compactMap { $0.headers.first { $0.name == "webhook-id" }?.value }
            .map { String($0.split(separator: "_").last ?? "") }
    }

    /// The outcomes as `SEQUENCE OUTCOME`.
    var ended: [String] {
        outcomes.map { event in
            if case .sender(_, .upstreamFinished(_, let sequence, let outcome)) = event {
                "\(sequence.number) \(outcome)"
            } else {
                "\(event)"
            }
        }
    }
}
