import Basics
import Delivery
import Wire

/// The JSON object that is sent to the app (apns 3.4).
struct APNsPayload {
    private let aps: [JSONValue.Member]
    private var members: [JSONValue.Member] = []
    /// The positions of members by key; empty while there are few members, which are searched one by one.
    private var places: [String: Int] = [:]
    /// Members that are left out rather than refusing the message.
    private var optional: [JSONValue.Member] = []

    init(_ aps: APSFields) { self.aps = aps.members }

    /// Adds what the app server sends beside `aps`. Later members override earlier ones: the notification's unknown fields, the data,
    /// the members of `apns.payload`.
    mutating func add(_ content: APNsContent, _ block: APNsBlock, image: String?) {
        if let image { set("fcm_options", ["image": .string(image)]) }
        for pair in content.notification where !APSFields.isKnown(pair.key) {
            set("gcm.notification.\(pair.key)", .string(pair.value))
        }
        for pair in content.data { set(pair.key, .string(pair.value)) }
        for member in block.custom { set(member.key, member.value) }
    }

    /// Adds what the Firebase library on the device reads: the origin, the IDs, and the analytics.
    mutating func addIdentity(of delivery: GatewayDelivery, _ block: APNsBlock, isBackground: Bool) {
        let message = delivery.message
        let isToTopic = !delivery.topicPath.isEmpty || message.topicMessage != nil
        if !delivery.topicPath.isEmpty { set("from", .string(Self.text(delivery.topicPath))) }
        // The library discards a message with an earlier ID, and takes an ID of digits alone for a topic or campaign.
        let id = isToTopic ? String(message.sequence.number) : message.persistentID.text
        set("gcm.message_id", .string(id))
        let seconds = (message.expiresAt - message.acceptedAt) / 1_000
        if isBackground, seconds > 0, seconds < Int64(Limits.Message.lifetimeSeconds) {
            set("gcm.ttl", .string(String(seconds)))
        }
        let sender = message.sender.map { String($0.number) } ?? Self.text(delivery.app.parts.senderText)
        set("google.c.sender.id", .string(sender))
        if let label = block.label {
            set("google.c.a.e", "1")
            set("google.c.a.m_l", .string(label))
        }
        let installation = delivery.app.parts.instance
        if !installation.isEmpty {
            optional.append(JSONValue.Member("google.c.fid", .string(Self.text(installation))))
        }
        // Only messages with analytics carry the mark, as those of Google's console.
        if block.label != nil, !isBackground { optional.append(JSONValue.Member("gcm.n.e", "1")) }
    }

    /// Returns the JSON without blanks, in which only what JSON demands is escaped.
    func bytes(withOptional: Bool) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.append("{\"aps\":")
        JSONValue.object(aps).append(to: &buffer)
        for member in members { Self.append(member, to: &buffer) }
        if withOptional {
            for member in optional { Self.append(member, to: &buffer) }
        }
        buffer.append("}")
        return buffer.copied()
    }

    private static func append(_ member: JSONValue.Member, to buffer: inout ByteBuffer) {
        buffer.append(",")
        JSONWriter.append(text: member.key, to: &buffer)
        buffer.append(":")
        member.value.append(to: &buffer)
    }

    private mutating func set(_ key: String, _ value: JSONValue) {
        if let place = place(of: key) {
            members[place].value = value
        } else {
            if !places.isEmpty { places[key] = members.count }
            members.append(JSONValue.Member(key, value))
        }
    }

    /// Members that are searched one by one: a usual message has five, and hashing their keys would cost more.
    private static let fewMembers = 16

    private mutating func place(of key: String) -> Int? {
        if members.count < Self.fewMembers { return members.firstIndex { $0.key == key } }
        if places.isEmpty {
            for (place, member) in members.enumerated() { places[member.key] = place }
        }
        return places[key]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
