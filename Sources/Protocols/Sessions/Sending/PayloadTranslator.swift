public import Basics
public import Delivery
public import Wire

/// Converts the JSON of app servers to the pairs that devices read, and back (ccs-xmpp 2.2, 2.3; mcs-device 2.1).
///
/// Its buffers are reused, so that only the body is allocated per message.
public struct PayloadTranslator: ~Copyable {
    private var body = ByteBuffer()
    private var key = ByteBuffer()
    private var value = ByteBuffer()
    private var recipients = RecipientCache()

    public init() {}

    /// Returns the text of `to`, and the registration if it is the token of one.
    mutating func registration(
        in reader: borrowing JSONReader, _ to: JSONSlice, _ seal: TokenSeal
    ) -> (text: [UInt8], name: RegistrationName?) {
        if reader.isPlain(to), let known = recipients.entry(of: reader.inside(to)) {
            return (known.token, known.name)
        }
        let text = reader.string(to)
        guard let name = seal.name(of: text.raw) else { return (text, nil) }
        recipients.add(text, name)
        return (text, name)
    }

    /// Encodes the pairs of a message: `data` as it is, `notification` with the prefix `gcm.notification.`; or its `raw_data`.
    ///
    /// Values become text; a member that is null is absent. The size counts the UTF-8 bytes of keys and values without the
    /// prefix; `limit` is lower for topics. `reservesGCMPrefix` reserves all keys that start with `gcm`, not only `gcm.`.
    /// With `textMeansBody`, the older `text` of a notification replaces an absent `body` (http 2.2).
    ///
    /// Throws `reservedKey`, `tooLarge`, and `conflict` if `raw_data` is not Base64.
    public mutating func body(
        of message: DownstreamMessage, in payload: borrowing AppServerPayload,
        reservesGCMPrefix: Bool = false, textMeansBody: Bool = false, limit: Int = Limits.Message.payloadBytes
    ) throws(Refusal) -> EncodedAppData {
        body.removeAll(keepingCapacity: true)
        var dataBytes = 0
        var notificationBytes = 0
        if let data = message.data {
            let members = LastMembers(of: data, in: payload.reader)
            for at in 0..<members.count where payload.reader.kind(members[at].value) != .null {
                dataBytes += try append(
                    members[at], in: payload.reader, reservesGCMPrefix: reservesGCMPrefix)
            }
        }
        if let notification = message.notification {
            let members = LastMembers(of: notification, in: payload.reader)
            let text: StaticString? =
                textMeansBody && !members.contains("body", in: payload.reader) ? "text" : nil
            for at in 0..<members.count where payload.reader.kind(members[at].value) != .null {
                notificationBytes += append(notification: members[at], in: payload.reader, body: text)
            }
            AppData.append(key: "gcm.n.e", text: "1", to: &body)
        }
        try Self.checkSize(data: dataBytes, notification: notificationBytes, limit)
        if let rawData = message.rawData { try append(rawData: rawData, in: payload.reader) }
        return body.copied()
    }

    /// Appends the bytes of `raw_data` as the `raw_data` field of a data message (mcs-device 2).
    private mutating func append(
        rawData slice: JSONSlice, in reader: borrowing JSONReader
    ) throws(Refusal) {
        fillValue(slice, in: reader)
        guard let bytes = Base64.bytes(value.bytes) else {
            throw .conflict(field: PayloadField.rawData.name, reason: "expected Base64")
        }
        guard bytes.count <= Limits.Message.payloadBytes else {
            throw .tooLarge(
                field: PayloadField.rawData.name, bytes: bytes.count, limit: Limits.Message.payloadBytes)
        }
        body.appendField(MCS.DataMessage.Field.rawData, bytes: bytes)
    }

    /// Refuses `raw_data` to topics, because it cannot be sent to some subscribers, which would be skipped silently.
    static func checkRawData(of message: DownstreamMessage, isToTopics: Bool) throws(Refusal) {
        guard isToTopics, message.rawData != nil else { return }
        throw .conflict(field: PayloadField.rawData.name, reason: "it cannot be sent to topics")
    }

    /// Refuses `replace_message_id` where the message does not wait for one app instance.
    static func checkReplaces(_ id: [UInt8]?, _ lifetime: Int, isToOne: Bool) throws(Refusal) {
        guard id != nil else { return }
        guard isToOne else {
            throw .conflict(
                field: PayloadField.replaceMessageID.name,
                reason: "a message is replaced for one token: send to that")
        }
        guard lifetime > 0 else {
            throw .conflict(
                field: PayloadField.replaceMessageID.name,
                reason: "the new message is not stored: use a lifetime of 1 second or more")
        }
    }

    /// Refuses `send_at` to topics: their subscribers are those of the time at which the message is accepted.
    static func checkSendAt(_ sendAt: UnixMilliseconds?, isToTopics: Bool) throws(Refusal) {
        guard isToTopics, sendAt != nil else { return }
        throw .conflict(
            field: PayloadField.sendAt.name,
            reason: "a message to topics is sent at once: leave the field out, or send to tokens or groups")
    }

    /// Encodes the pairs of a form by the same rules (http 2.6); bytes that are not UTF-8 become U+FFFD.
    public mutating func body(
        ofPairs pairs: [(key: [UInt8], value: [UInt8])], reservesGCMPrefix: Bool,
        limit: Int = Limits.Message.payloadBytes
    ) throws(Refusal) -> EncodedAppData {
        body.removeAll(keepingCapacity: true)
        var bytes = 0
        for pair in pairs {
            guard !pair.key.contains(0), !pair.value.contains(0) else {
                throw .conflict(field: PayloadField.data.name, reason: "it holds U+0000")
            }
            let key = Array(String(decoding: pair.key, as: UTF8.self).utf8)
            let value = Array(String(decoding: pair.value, as: UTF8.self).utf8)
            try ReservedKeys.check(key.raw, reservesGCMPrefix: reservesGCMPrefix)
            AppData.append(key: key.raw, value: value.raw, to: &body)
            bytes += key.count + value.count
        }
        try Self.checkSize(data: bytes, notification: 0, limit)
        return body.copied()
    }

    private static func checkSize(data: Int, notification: Int, _ limit: Int) throws(Refusal) {
        guard data + notification <= limit else {
            throw .tooLarge(
                field: data >= notification ? "data" : "notification", bytes: data + notification,
                limit: limit)
        }
    }

    /// Frees the buffers, for a session that has become quiet.
    public mutating func releaseBuffers() {
        body.removeAll()
        key.removeAll()
        value.removeAll()
        recipients = RecipientCache()
    }

    /// Appends one pair of `data` and returns its size.
    private mutating func append(
        _ member: JSONMember, in reader: borrowing JSONReader, reservesGCMPrefix: Bool
    ) throws(Refusal) -> Int {
        guard reader.isPlain(member.key), reader.kind(member.value) == .string, reader.isPlain(member.value)
        else {
            key.removeAll(keepingCapacity: true)
            reader.append(string: member.key, to: &key)
            try ReservedKeys.check(key.bytes, reservesGCMPrefix: reservesGCMPrefix)
            fillValue(member.value, in: reader)
            Self.append(key, value, to: &body)
            return key.count + value.count
        }
        let plainKey = reader.inside(member.key)
        let plainValue = reader.inside(member.value)
        try ReservedKeys.check(plainKey, reservesGCMPrefix: reservesGCMPrefix)
        AppData.append(key: plainKey, value: plainValue, to: &body)
        return plainKey.byteCount + plainValue.byteCount
    }

    /// Appends one pair of `notification`, renaming the key `alias` to `body`, and returns its size without the prefix.
    private mutating func append(
        notification member: JSONMember, in reader: borrowing JSONReader, body alias: StaticString?
    ) -> Int {
        key.removeAll(keepingCapacity: true)
        key.append("gcm.notification.")
        let prefix = key.count
        if let alias, reader.string(member.key, equals: alias) {
            key.append("body")
        } else {
            reader.append(string: member.key, to: &key)
        }
        fillValue(member.value, in: reader)
        Self.append(key, value, to: &body)
        return key.count - prefix + value.count
    }

    /// A separate function, so that the exclusive accesses to the buffers do not overlap.
    private static func append(
        _ key: borrowing ByteBuffer, _ value: borrowing ByteBuffer, to body: inout ByteBuffer
    ) {
        AppData.append(key: key.bytes, value: value.bytes, to: &body)
    }

    /// Fills `value` with a JSON value as text: a string without quotes, anything else as its JSON without whitespace.
    private mutating func fillValue(_ slice: JSONSlice, in reader: borrowing JSONReader) {
        value.removeAll(keepingCapacity: true)
        if reader.kind(slice) == .string {
            reader.append(string: slice, to: &value)
        } else {
            reader.append(compact: slice, to: &value)
        }
    }
}
