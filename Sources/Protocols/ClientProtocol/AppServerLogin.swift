public import Basics

/// How an app server proves that it has its server key.
public enum AppServerMechanism: Sendable {
    /// SASL PLAIN: the key itself (ccs-xmpp 1.5).
    case plain
    /// SCRAM-SHA-256, with or without channel binding.
    case scram(SCRAMClient)
}

/// The credentials and login options of an app server.
public struct AppServerLogin: Sendable {
    /// The sender ID.
    public var sender: SenderID
    /// The server key.
    public var key: Redacted<[UInt8]>
    /// The domain of the stream and of the login name.
    public var domain = "gcm.googleapis.com"
    /// The requested resource; empty for none.
    public var resource = "client"
    /// How the key is proved.
    public var mechanism = AppServerMechanism.plain
    /// Whether the stream is ended when the login is refused; otherwise the owner may call `authenticate` with another login.
    public var endsWhenRefused = true
    /// Whether to request a stream that can be resumed (XEP-0198).
    public var managesStream = false
    /// The stream of an earlier connection to resume; if the server does not have it, a new one is bound.
    public var resumes: StreamPosition?
    /// Whether upstream messages and receipts are acknowledged automatically.
    public var acknowledges = true

    /// Creates a login with a server key.
    public init(sender: SenderID, key: Redacted<[UInt8]>) {
        self.sender = sender
        self.key = key
    }

    /// The full name.
    var user: String { "\(sender.number)@\(domain)" }

    /// The message of SASL PLAIN in Base64: NUL, the full name, NUL, the key (ccs-xmpp 1.5).
    var plain: String { Base64.text([0] + Array(user.utf8) + [0] + key.revealed) }
}

/// A message to a device, as an app server writes it (ccs-xmpp 2.2).
public struct Downstream: Sendable {
    /// `to`; left out if there is a condition.
    public var to: [UInt8]
    /// `condition` on topics.
    public var condition: String?
    /// `message_id`.
    public var messageID: [UInt8]
    /// The pairs of `data`, in order.
    public var data: [(key: [UInt8], value: [UInt8])] = []
    /// `collapse_key`.
    public var collapseKey: String?
    /// `time_to_live` in seconds; `nil` leaves it out.
    public var lifetimeSeconds: Int?
    /// `send_at`, an extension of ccsd: when it is to be sent, in milliseconds since 1970; `nil` leaves it out.
    public var sendAt: UnixMilliseconds?
    /// `replace_message_id`, an extension of ccsd: the ID of a waiting message whose place it takes; `nil` leaves it out.
    public var replaces: [UInt8]?
    /// `priority`: `normal` or `high`; `nil` leaves it out.
    public var priority: String?
    /// `delivery_receipt_requested`.
    public var wantsReceipt = false
    /// `delay_while_idle`.
    public var delaysWhileIdle = false
    /// `dry_run`.
    public var isDryRun = false

    /// Creates a message without data.
    public init(to: [UInt8], messageID: [UInt8]) {
        self.to = to
        self.messageID = messageID
    }

    /// Appends the JSON for the stanza.
    public func append(to buffer: inout ByteBuffer) {
        buffer.append(condition == nil ? "{\"to\":" : "{\"condition\":")
        JSONText.append(condition.map { Array($0.utf8) } ?? to, to: &buffer)
        buffer.append(",\"message_id\":")
        JSONText.append(messageID, to: &buffer)
        if !data.isEmpty {
            for (at, pair) in data.enumerated() {
                buffer.append(at == 0 ? ",\"data\":{" : ",")
                JSONText.append(pair.key, to: &buffer)
                buffer.append(":")
                JSONText.append(pair.value, to: &buffer)
            }
            buffer.append("}")
        }
        if let collapseKey {
            buffer.append(",\"collapse_key\":")
            JSONText.append(Array(collapseKey.utf8), to: &buffer)
        }
        if let lifetimeSeconds {
            buffer.append(",\"time_to_live\":")
            buffer.append(decimal: lifetimeSeconds)
        }
        if let sendAt {
            buffer.append(",\"send_at\":\"")
            Timestamp.append(sendAt, to: &buffer)
            buffer.append("\"")
        }
        if let replaces {
            buffer.append(",\"replace_message_id\":")
            JSONText.append(replaces, to: &buffer)
        }
        if let priority {
            buffer.append(",\"priority\":")
            JSONText.append(Array(priority.utf8), to: &buffer)
        }
        if wantsReceipt { buffer.append(",\"delivery_receipt_requested\":true") }
        if delaysWhileIdle { buffer.append(",\"delay_while_idle\":true") }
        if isDryRun { buffer.append(",\"dry_run\":true") }
        buffer.append("}")
    }
}
