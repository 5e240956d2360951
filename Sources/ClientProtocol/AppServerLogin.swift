public import Basics

/// Who an app server is: what it logs in with.
public struct AppServerLogin: Sendable {
    /// The sender ID.
    public var sender: SenderID
    /// The server key.
    public var key: Redacted<[UInt8]>
    /// The domain that the stream is opened to, and that stands behind the sender ID.
    public var domain = "gcm.googleapis.com"
    /// The resource asked for; empty: none.
    public var resource = "client"
    /// Whether upstream messages and receipts are acknowledged as they come.
    public var acknowledges = true

    /// A login with a key.
    public init(sender: SenderID, key: Redacted<[UInt8]>) {
        self.sender = sender
        self.key = key
    }

    /// The message of SASL PLAIN, in Base64: nothing, NUL, the full name, NUL, the key (ccs-xmpp 1.5).
    public var plain: String {
        Base64.text([0] + Array("\(sender.number)@\(domain)".utf8) + [0] + key.revealed)
    }
}

/// A message to a device, as an app server writes it (ccs-xmpp 2.2).
public struct Downstream: Sendable {
    /// `to`.
    public var to: [UInt8]
    /// `message_id`.
    public var messageID: [UInt8]
    /// `data`, its pairs in order.
    public var data: [(key: [UInt8], value: [UInt8])] = []
    /// `collapse_key`.
    public var collapseKey: String?
    /// `time_to_live` in seconds; nil leaves it out.
    public var lifetimeSeconds: Int?
    /// `priority`: `normal` or `high`; nil leaves it out.
    public var priority: String?
    /// `delivery_receipt_requested`.
    public var wantsReceipt = false
    /// `delay_while_idle`.
    public var delaysWhileIdle = false
    /// `dry_run`.
    public var isDryRun = false

    /// A message; both parts are the caller's.
    public init(to: [UInt8], messageID: [UInt8]) {
        self.to = to
        self.messageID = messageID
    }

    /// Appends the JSON as it stands in the stanza.
    public func append(to buffer: inout ByteBuffer) {
        buffer.append("{\"to\":")
        JSONText.append(to, to: &buffer)
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
