import Basics
import Delivery
import Wire

/// What an app server wants to send; `number` names it in the whole world.
struct DownstreamDraft {
    var number: Int
    var target: RegistrationName
    var collapseKey: UInt8?
    var lifetimeSeconds: Int
    var wantsReceipt = false
    var isDryRun = false
    var delaysWhileIdle = false
    /// To whom it goes instead of one app; nil: to `target`.
    var topic: TopicName?

    /// `m` and the number: its message id and the only pair of its body.
    var messageID: [UInt8] { Array("m\(number)".utf8) }
}

/// What an app on a device wants to send.
struct UpstreamDraft {
    var number: Int
    var sender: SenderID
    var category: [UInt8]
    var lifetimeSeconds: Int
    /// The group that it goes to; nil: to app servers.
    var group: GroupName?

    /// The number of the message whose IDs it uses again; `nil` where it has its own.
    var reused: Int?

    /// `u` and the number of the message that had it first.
    var messageID: [UInt8] { Array("u\(reused ?? number)".utf8) }
    /// `u` and the number: its only pair.
    var content: [UInt8] { Array("u\(number)".utf8) }
    /// The device's id for it; none where it is now or never.
    var persistentID: [UInt8] = []
}

/// Reads the numbers back.
enum Number {
    /// The number behind one letter; nil for anything else.
    static func of(_ text: some Collection<UInt8>) -> Int? {
        guard text.count > 1 else { return nil }
        var number = 0
        for octet in text.dropFirst() {
            guard octet >= 0x30, octet <= 0x39, number < 1 << 40 else { return nil }
            number = number * 10 + Int(octet - 0x30)
        }
        return number
    }
}

extension StoredUpstream {
    /// The number of a message, which its pairs tell, or that of the message that a receipt is for.
    var draftNumber: Int? {
        guard kind == .message else { return Number.of(messageID) }
        if let number = Number.of(body) { return number }
        var number: Int?
        try? AppData.forEach(in: body.raw) { _, value in number = Number.of([UInt8](copying: value)) }
        return number
    }
}
