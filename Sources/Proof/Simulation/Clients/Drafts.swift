import Basics
import Delivery
import Wire

/// A message that an app server will send; `number` is unique in the world.
struct DownstreamDraft {
    enum Target {
        case registration(RegistrationName)
        case topic(TopicCondition)
    }

    /// What the message takes the place of.
    struct Replaced {
        /// The ID that the sender gave it, or its persistent ID.
        var id: [UInt8]
        /// Whether it is the message of another sender.
        var isOfOther: Bool
    }

    var number: Int
    var target: Target
    var collapseKey: UInt8?
    var lifetimeSeconds: Int
    var wantsReceipt = false
    var isDryRun = false
    var delaysWhileIdle = false
    /// When it is to be sent, by a clock without error. `nil` for at once.
    var sendAt: UnixMilliseconds?
    var replaces: Replaced?

    /// The topic or condition that it is sent to. `nil` if it is sent to a registration.
    var condition: TopicCondition? { if case .topic(let condition) = target { condition } else { nil } }

    /// `m` and the number: the message ID and the only pair of its body.
    var messageID: [UInt8] { Array("m\(number)".utf8) }
}

/// A message that an app on a device will send.
struct UpstreamDraft {
    var number: Int
    var sender: SenderID
    var category: [UInt8]
    var lifetimeSeconds: Int
    /// The group to send to; `nil` to send to app servers.
    var group: GroupName?

    /// The number of the message whose IDs it reuses; `nil` if it has its own.
    var reused: Int?

    /// `u` and the number of the message that had the ID first.
    var messageID: [UInt8] { Array("u\(reused ?? number)".utf8) }
    /// `u` and the number: its only pair.
    var content: [UInt8] { Array("u\(number)".utf8) }
    /// The device's ID of the message; empty if it is now-or-never.
    var persistentID: [UInt8] = []
}

/// Decodes the numbers of messages.
enum Number {
    /// Returns the number after one letter, or `nil` if the text has another form.
    static func of(_ text: some Collection<UInt8>) -> Int? {
        guard text.count > 1 else { return nil }
        var number = 0
        for byte in text.dropFirst() {
            guard byte >= 0x30, byte <= 0x39, number < 1 << 40 else { return nil }
            number = number * 10 + Int(byte - 0x30)
        }
        return number
    }

    /// Returns the number in the pairs of a message, which may be the text alone.
    static func inBody(_ body: [UInt8]) -> Int? {
        if let number = of(body) { return number }
        var number: Int?
        try? AppData.forEach(in: body.raw) { _, value in number = of([UInt8](copying: value)) }
        return number
    }
}

extension StoredUpstream {
    /// The number of a message, from its pairs, or of the message that a receipt is for.
    var draftNumber: Int? { kind == .message ? Number.inBody(body) : Number.of(messageID) }
}
