public import Basics
import Delivery
import Wire

/// One request to an endpoint.
public struct WebhookRequest: Sendable {
    /// Identifies the request in the answer.
    public var number: UInt64
    /// The sender of the endpoint.
    public var sender: SenderID
    /// Where it goes.
    public var url: String
    /// The headers of Standard Webhooks, which identify, date and sign the body.
    public var headers: [(name: String, value: String)]
    /// A JSON object.
    public var body: [UInt8]

    /// The host that it goes to, for errors.
    public var host: String { WebhookURL.host(of: url) }
}

/// Makes the bodies of requests, and signs them.
public struct WebhookWriter: Sendable {
    /// Returns the HMAC-SHA-256 of a text with a key.
    public typealias MAC = @Sendable (_ text: [UInt8], _ key: [UInt8]) -> [UInt8]

    private let seal: TokenSeal
    private let mac: MAC

    /// Creates a writer; `seal` makes the tokens of registrations.
    public init(seal: TokenSeal, mac: @escaping MAC) {
        self.seal = seal
        self.mac = mac
    }

    /// Returns the ID of a message, the same at each attempt and after a restart.
    static func id(of message: StoredUpstream) -> String {
        "msg_\(message.sender.number)_\(message.sequence.number)"
    }

    /// Returns the headers of a body (Standard Webhooks): one signature for each key that is valid now, newest
    /// first. Receivers compare the timestamp with their clocks, so it is that of the machine.
    func headers(
        of message: StoredUpstream, body: [UInt8], keys: [WebhookEndpoint.Key], _ now: Now
    ) -> [(name: String, value: String)] {
        let id = Self.id(of: message)
        let time = String(now.machineWall / 1_000)
        let signed = Array("\(id).\(time).".utf8) + body
        let signatures = keys.reversed().filter { ($0.expiresAt ?? .max) > now.wall }.map {
            "v1,\(Base64.text(mac(signed, $0.secret.revealed)))"
        }
        return [
            ("webhook-id", id), ("webhook-timestamp", time),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }

    /// Returns the body for a message or receipt, the same at each attempt.
    func body(of message: StoredUpstream) -> [UInt8] {
        var json = ByteBuffer()
        json.append("{\"type\":")
        switch message.kind {
        case .message: json.append("\"upstream\"")
        case .receipt: json.append("\"receipt\"")
        }
        json.append(",\"id\":")
        JSONWriter.append(text: Self.id(of: message), to: &json)
        json.append(",\"timestamp\":\"")
        switch message.kind {
        case .message:
            Timestamp.append(message.expiresAt - Int64(message.lifetimeSeconds) * 1_000, to: &json)
        case .receipt(let sentAt): Timestamp.append(sentAt, to: &json)
        }
        json.append("\",\"sender_id\":\"")
        json.append(decimal: message.sender.number)
        json.append("\",\"from\":")
        JSONWriter.append(string: seal.token(for: message.token).raw, to: &json)
        json.append(",\"category\":")
        JSONWriter.append(string: message.category.raw, to: &json)
        json.append(",\"message_id\":")
        JSONWriter.append(string: message.messageID.raw, to: &json)
        switch message.kind {
        case .message:
            json.append(",\"time_to_live\":")
            json.append(decimal: message.lifetimeSeconds)
            json.append(",\"data\":")
            AppData.append(jsonOf: message.body.raw, in: .document, to: &json)
        case .receipt:
            json.append(",\"status\":\"")
            json.append(message.isForwardedReceipt ? "MESSAGE_SENT_TO_APNS" : "MESSAGE_SENT_TO_DEVICE")
            json.append("\"")
        }
        json.append("}")
        return json.copied()
    }
}
