import Basics
import Delivery
import Wire

/// Messages to web registrations, which are encrypted end to end (mcs-device 7.1 to 7.3).
extension DeviceSession.Open {
    /// Returns whether a delivery is a marker of discarded messages for a web app, which is dropped.
    ///
    /// The marker crashes one library, the others ignore it, and the server cannot distinguish them (mcs-device 7.1).
    static func isUnwantedMarker(_ delivery: DeviceDelivery) -> Bool {
        delivery.message.kind != .message
            && (delivery.web != nil || !delivery.subtype.isEmpty && isBrowser(delivery.category))
    }

    /// Drops a marker and acknowledges it, so that it is not delivered again.
    mutating func drop(_ delivery: DeviceDelivery, io: inout SessionIO) {
        guard delivery.isStored else { return }
        io.events.append(.deviceAcknowledged(connection, device, [delivery.message.sequence]))
    }

    /// Writes the frame of a message to a web registration; it is always encrypted, because plain text crashes several clients.
    mutating func deliver(
        _ delivery: DeviceDelivery, to web: WebKeys, now: Now, io: inout SessionIO
    ) {
        // Keys are checked at registration. If encryption fails nevertheless, the message stays stored until it expires.
        guard let text = WebPushText.text(of: delivery), let sealed = settings.webPush.encrypt(web, text)
        else { return }
        writeFrame(of: delivery, now: now, io: &io) { buffer in
            if let key = delivery.message.collapseKey {
                buffer.appendField(MCS.DataMessage.Field.token, bytes: key)
            }
            // Exactly this text: clients strip the names by their lengths and need the padding (mcs-device 7.3).
            Self.append("crypto-key", "dh=", sealed.publicKey, to: &buffer)
            Self.append("encryption", "salt=", sealed.salt, to: &buffer)
            // One client requires the subtype, even an empty one.
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

    /// Returns the JSON of a message, or `nil` if its body is malformed.
    ///
    /// It is made from the pairs that every device gets, so all values are strings: an array, object or number in `notification`
    /// or `data` becomes its JSON in quotes. More than 4,093 bytes need several records, which libraries read but browsers do
    /// not (mcs-device 7.3).
    static func text(of delivery: DeviceDelivery) -> [UInt8]? {
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
        // The frame's `from` is the key of the web app; here it is the account.
        if let sender = message.sender {
            JSONWriter.append(text: String(sender.number), to: &text)
        } else {
            let from = delivery.from
            JSONWriter.append(string: from.raw, to: &text)
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
