public import Basics
public import ClientProtocol

/// A message as a virtual device has received it.
public struct InboxMessage: Sendable {
    /// Its number in the inbox, from 1.
    public var number: Int
    /// When it was received, by the clock of the server.
    public var receivedAt: UnixMilliseconds
    /// Whether a message with the same persistent ID is or was in the inbox: it was delivered again, since the device had not
    /// acknowledged it.
    public var isRepeated: Bool
    /// The message.
    public var message: DeviceMessage

    /// The bytes that count for the limit.
    var bytes: Int {
        message.pairs.reduce(message.rawData.count + Limits.TestBench.messageBytes) {
            $0 + $1.key.count + $1.value.count
        }
    }
}

/// The messages that a virtual device has received, the last ones if there are too many.
struct Inbox {
    private(set) var messages: [InboxMessage] = []
    /// The number of the last message, which is that of all messages so far.
    private(set) var lastNumber = 0
    /// The bytes of all messages.
    private(set) var bytes = 0

    /// How many messages were removed since there was no room.
    var dropped: Int { lastNumber - messages.count }

    /// Adds a message. The oldest ones are removed if there are too many, or more bytes than `room`.
    mutating func add(_ message: DeviceMessage, now: UnixMilliseconds, room: Int) {
        let isRepeated =
            !message.persistentID.isEmpty
            && messages.contains { $0.message.persistentID == message.persistentID }
        lastNumber += 1
        let added = InboxMessage(
            number: lastNumber, receivedAt: now, isRepeated: isRepeated, message: message)
        messages.append(added)
        bytes += added.bytes
        while messages.count > 1, messages.count > Limits.TestBench.inboxMessages || bytes > room {
            bytes -= messages.removeFirst().bytes
        }
    }

    /// Returns up to `limit` messages after a number, the oldest first.
    func page(after number: Int, limit: Int) -> [InboxMessage] {
        let first = messages.first?.number ?? 0
        return Array(messages.dropFirst(max(0, number - first + 1)).prefix(limit))
    }
}
