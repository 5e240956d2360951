public import Basics
import ClientProtocol

/// A message that a virtual device has sent, as it is shown.
public struct SentMessage: Sendable {
    /// What has become of a message.
    public enum State: Sendable, Equatable {
        /// The device is offline, or the server has not answered: it is sent, or sent again with the same IDs, after the next login.
        case waiting
        /// The server has stored it, or passed it on if it has no lifetime.
        case stored
        /// The server has refused it with this word.
        case refused(String)
        /// The server had stored it, but no app server has taken it in its lifetime.
        case returned(String)
    }

    /// Its number among the messages of the device, from 1.
    public var number: Int
    /// When the device was given it, by the clock of the server.
    public var sentAt: UnixMilliseconds
    /// The app's ID of the message.
    public var messageID: String
    /// What has become of it.
    public var state: State
}

/// The messages that a virtual device sends: those that wait with their content, and the outcomes of the last ones.
struct SentMessages {
    private struct Entry {
        var shown: SentMessage
        var persistentID: [UInt8]
        /// The message as long as it waits.
        var content: Upstream?
    }

    private var entries: [Entry] = []
    /// The number of the last message.
    private(set) var lastNumber = 0
    /// How many messages wait, and the bytes of their content.
    private(set) var waiting = (count: 0, bytes: 0)

    /// The messages that wait, in order.
    var unsent: [Upstream] { entries.compactMap(\.content) }

    /// Adds a message that waits. Returns its number, or `nil` if too many messages or bytes wait already.
    mutating func add(_ message: Upstream, now: UnixMilliseconds) -> Int? {
        guard waiting.count < Limits.Mailbox.waitingUpstream,
            waiting.count == 0 || waiting.bytes + message.bytes <= Limits.TestBench.unsentBytes
        else { return nil }
        lastNumber += 1
        waiting = (waiting.count + 1, waiting.bytes + message.bytes)
        let text = String(decoding: message.messageID, as: UTF8.self)
        entries.append(
            Entry(
                shown: SentMessage(number: lastNumber, sentAt: now, messageID: text, state: .waiting),
                persistentID: message.persistentID, content: message))
        // Those that wait stay: there are fewer than this limit.
        if entries.count > Limits.TestBench.sentMessages,
            let oldest = entries.firstIndex(where: { $0.content == nil })
        {
            entries.remove(at: oldest)
        }
        return lastNumber
    }

    /// Ends the wait of the message with a persistent ID. Returns its number, or `nil` if it does not wait.
    mutating func end(_ persistentID: [UInt8], _ state: SentMessage.State) -> Int? {
        end(state) { $0.content != nil && $0.persistentID == persistentID }
    }

    /// Ends the first message that waits and has the app's ID. Returns its number, or `nil` if there is none.
    mutating func refuse(_ messageID: [UInt8], _ word: String) -> Int? {
        end(.refused(word)) { $0.content?.messageID == messageID }
    }

    /// Records that the first stored message with the app's ID was returned.
    mutating func markReturned(_ messageID: [UInt8], _ word: String) {
        _ = end(.returned(word)) { entry in
            entry.shown.state == .stored && Array(entry.shown.messageID.utf8) == messageID
        }
    }

    private mutating func end(_ state: SentMessage.State, where matches: (Entry) -> Bool) -> Int? {
        guard let at = entries.firstIndex(where: matches) else { return nil }
        if let content = entries[at].content {
            waiting = (waiting.count - 1, waiting.bytes - content.bytes)
        }
        entries[at].content = nil
        entries[at].shown.state = state
        return entries[at].shown.number
    }

    /// Returns up to `limit` messages after a number, the oldest first; only those with the app's ID if one is given.
    func page(after number: Int, limit: Int, messageID: String?) -> [SentMessage] {
        Array(
            entries.lazy.map(\.shown)
                .filter { $0.number > number && (messageID == nil || $0.messageID == messageID) }
                .prefix(limit))
    }
}

extension Upstream {
    /// The bytes that count for the limit.
    fileprivate var bytes: Int {
        data.reduce(Limits.TestBench.messageBytes) { $0 + $1.key.count + $1.value.count }
    }
}
