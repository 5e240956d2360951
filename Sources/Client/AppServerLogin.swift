package import Basics

/// Who an app server is: what it logs in with.
package struct AppServerLogin: Sendable {
    /// The sender ID.
    package var sender: SenderID
    /// The server key.
    package var key: Redacted<[UInt8]>
    /// The domain that the stream is opened to, and that stands behind the sender ID.
    package var domain = "gcm.googleapis.com"
    /// The resource asked for; empty: none.
    package var resource = "client"
    /// Whether upstream messages and receipts are acknowledged as they come.
    package var acknowledges = true

    /// A login with a key.
    package init(sender: SenderID, key: Redacted<[UInt8]>) {
        self.sender = sender
        self.key = key
    }

    /// The message of SASL PLAIN, in Base64: nothing, NUL, the full name, NUL, the key (ccs-xmpp 1.5).
    var plain: String {
        Base64.text([0] + Array("\(sender.number)@\(domain)".utf8) + [0] + key.revealed)
    }
}

/// A message to a device, as an app server writes it (ccs-xmpp 2.2).
package struct Downstream: Sendable {
    /// `to`.
    package var to: [UInt8]
    /// `message_id`.
    package var messageID: [UInt8]
    /// `data`, its pairs in order.
    package var data: [(key: [UInt8], value: [UInt8])] = []
    /// `collapse_key`.
    package var collapseKey: String?
    /// `time_to_live` in seconds; nil leaves it out.
    package var lifetimeSeconds: Int?
    /// `priority`: `normal` or `high`; nil leaves it out.
    package var priority: String?
    /// `delivery_receipt_requested`.
    package var wantsReceipt = false
    /// `dry_run`.
    package var isDryRun = false

    /// A message; both parts are the caller's.
    package init(to: [UInt8], messageID: [UInt8]) {
        self.to = to
        self.messageID = messageID
    }

    /// Appends the JSON as it stands in the stanza.
    func append(to buffer: inout ByteBuffer) {
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
        if isDryRun { buffer.append(",\"dry_run\":true") }
        buffer.append("}")
    }
}
