import Basics
import Delivery
import Wire

/// Messages to web registrations, which nobody may read on the way (mcs-device 7.1 to 7.3).
extension DeviceSession {
    /// Whether a delivery is the marker of discarded messages for a web app, which is dropped.
    ///
    /// Of the libraries one dies of it and the others pass over it, and which one it is does not show (mcs-device 7.1).
    static func isUnwantedMarker(_ delivery: borrowing DeviceDelivery) -> Bool {
        delivery.message.kind != .message
            && (delivery.web != nil || !delivery.subtype.isEmpty && isBrowser(delivery.category))
    }

    /// Drops a marker: it counts as delivered, so that it does not come again.
    mutating func drop(_ delivery: borrowing DeviceDelivery, io: inout SessionIO) {
        guard delivery.isStored, let device else { return }
        io.events.append(.deviceAcknowledged(connection, device, [delivery.message.sequence]))
    }

    /// Writes the frame of a message to a web registration; never a plain one, which ends several clients.
    mutating func deliver(
        _ delivery: borrowing DeviceDelivery, to web: WebKeys, now: Now, io: inout SessionIO
    ) {
        // Keys are looked at before a registration is made. Where they fail all the same, the message stays until its time is over.
        guard let text = WebPushText.text(of: delivery), let sealed = settings.webPush.encrypt(web, text)
        else { return }
        writeFrame(of: delivery, now: now, io: &io) { buffer in
            if let key = delivery.message.collapseKey {
                buffer.appendField(MCS.DataMessage.Field.token, bytes: key)
            }
            // Exactly this text: clients cut the names off by their lengths and need the padding (mcs-device 7.3).
            Self.append("crypto-key", "dh=", sealed.publicKey, to: &buffer)
            Self.append("encryption", "salt=", sealed.salt, to: &buffer)
            // One client demands the subtype, even an empty one.
            AppData.append(key: "subtype", value: delivery.subtype.raw, to: &buffer)
            buffer.appendField(MCS.DataMessage.Field.rawData, bytes: sealed.records)
        }
    }

    private static func append(
        _ key: StaticString, _ name: StaticString, _ bytes: [UInt8], to buffer: inout ByteBuffer
    ) {
        var value = ByteBuffer()
        value.append(name)
        Base64.append(bytes.raw, urlSafe: true, padded: true, to: &value)
        AppData.append(key: key, value: value.bytes, to: &buffer)
    }
}

/// The JSON that a web app finds in an encrypted message (mcs-device 7.2).
enum WebPushText {
    private static let notificationPrefix: StaticString = "gcm.notification."

    /// The JSON of a message; nil where its body is none.
    ///
    /// It is made of the pairs that every device gets, so all values are text: what was an array, an object or a number
    /// in `notification` or `data` stands there as its JSON in quotes. Beyond 4,093 bytes it takes several records,
    /// which browsers do not read, libraries do (mcs-device 7.3).
    static func text(of delivery: borrowing DeviceDelivery) -> [UInt8]? {
        let message = delivery.message
        var data = ByteBuffer()
        var notification = ByteBuffer()
        do throws(MCSError) {
            try AppData.forEach(in: message.body.raw) { key, value in
                let prefix = notificationPrefix.utf8CodeUnitCount
                if key.byteCount > prefix, key.extracting(0..<prefix).equals(notificationPrefix) {
                    append(key.extracting(prefix..<key.byteCount), value, to: &notification)
                } else if !key.equals("gcm.n.e") {
                    append(key, value, to: &data)
                }
            }
        } catch {
            return nil
        }
        var text = ByteBuffer()
        text.append("{")
        for (name, members) in [("data", data.copied()), ("notification", notification.copied())]
        where !members.isEmpty {
            JSONWriter.append(text: name, to: &text)
            text.append(":{")
            text.append(members)
            text.append("},")
        }
        text.append("\"from\":")
        // The frame names the key of the web app; in here it is the account.
        if let sender = message.sender {
            JSONWriter.append(text: String(sender.number), to: &text)
        } else {
            JSONWriter.append(string: delivery.from.raw, to: &text)
        }
        text.append(message.priority == .high ? ",\"priority\":\"high\"" : ",\"priority\":\"normal\"")
        text.append(",\"fcmMessageId\":\"")
        message.persistentID.append(to: &text)
        text.append("\"")
        if let key = message.collapseKey {
            text.append(",\"collapse_key\":")
            JSONWriter.append(string: key.raw, to: &text)
        }
        text.append("}")
        return text.copied()
    }

    private static func append(_ key: RawSpan, _ value: RawSpan, to members: inout ByteBuffer) {
        if members.count > 0 { members.append(",") }
        JSONWriter.append(string: key, to: &members)
        members.append(":")
        JSONWriter.append(string: value, to: &members)
    }
}
