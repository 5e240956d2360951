public import Basics
public import ClientProtocol

/// A message that an inbox can keep.
public protocol InboxContent: Sendable {
    /// What two deliveries of the same message have in common; empty if that cannot be said.
    var identity: [UInt8] { get }
    /// The bytes that count for the limit, besides a fixed number for each message.
    var contentBytes: Int { get }
}

extension DeviceMessage: InboxContent {
    public var identity: [UInt8] { persistentID }

    public var contentBytes: Int { pairs.reduce(rawData.count) { $0 + $1.key.count + $1.value.count } }
}

/// A message as its receiver has got it.
public struct InboxMessage<Content: InboxContent>: Sendable {
    /// Its number in the inbox, from 1.
    public var number: Int
    /// When it was received, by the clock of the server.
    public var receivedAt: UnixMilliseconds
    /// Whether a message with the same identity is in the inbox: it was delivered again, since it was not acknowledged.
    public var isRepeated: Bool
    /// The message.
    public var message: Content

    /// The bytes that count for the limit.
    var bytes: Int { Limits.TestBench.messageBytes + message.contentBytes }
}

/// The messages that were received, the last ones if there are too many.
struct Inbox<Content: InboxContent> {
    private(set) var messages: [InboxMessage<Content>] = []
    /// The number of the last message, which is that of all messages so far.
    private(set) var lastNumber = 0
    /// The bytes of all messages.
    private(set) var bytes = 0
    /// How many messages were removed since there was no room.
    private(set) var dropped = 0

    /// Adds a message. The oldest ones are removed if there are too many, or more bytes than `room`.
    mutating func add(_ message: Content, now: UnixMilliseconds, room: Int) {
        let identity = message.identity
        let isRepeated = !identity.isEmpty && messages.contains { $0.message.identity == identity }
        lastNumber += 1
        let added = InboxMessage(
            number: lastNumber, receivedAt: now, isRepeated: isRepeated, message: message)
        messages.append(added)
        bytes += added.bytes
        while messages.count > 1, messages.count > Limits.TestBench.inboxMessages || bytes > room {
            bytes -= messages.removeFirst().bytes
            dropped += 1
        }
    }

    /// Removes all messages; the numbers go on.
    mutating func clear() {
        messages = []
        bytes = 0
    }

    /// Returns up to `limit` messages after a number, the oldest first.
    func page(after number: Int, limit: Int) -> [InboxMessage<Content>] {
        let first = messages.first?.number ?? 0
        return Array(messages.dropFirst(max(0, number - first + 1)).prefix(limit))
    }
}
