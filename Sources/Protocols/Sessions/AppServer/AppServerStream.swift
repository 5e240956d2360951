import Basics
import Delivery
import Wire

/// The two counts of a managed stream, and the answers that the app server has not confirmed (XEP-0198).
///
/// A class, because few sessions have one. A message counts as handled once it and all messages before it are answered: after a
/// lost connection the app server sends unanswered messages again.
final class AppServerStream {
    /// The ID for resumption; `nil` if the stream cannot be resumed.
    private(set) var id: String?
    /// The number of stanzas received, modulo 2^32.
    private var received: UInt32
    /// The numbers of received stanzas that are not answered, oldest first.
    private var unanswered: [UInt32] = []
    /// The number of stanzas sent, modulo 2^32.
    private(set) var sent: UInt32
    private var confirmed: UInt32
    private var unconfirmed: [ResumableStream.Stanza] = []
    private var unconfirmedBytes = 0
    private var sentSinceRequest = 0

    init(id: String?) {
        self.id = id
        received = 0
        sent = 0
        confirmed = 0
    }

    /// Resumes a stream of which the app server has received `handled` stanzas; `nil` if fewer were sent.
    convenience init?(_ stream: ResumableStream, handled: UInt32) {
        self.init(id: stream.id)
        received = stream.handled
        sent = stream.sent
        confirmed = stream.confirmed
        unconfirmed = stream.unconfirmed
        guard confirm(handled) else { return nil }
        // The stanzas after these are sent again with new numbers.
        sent = handled
    }

    /// The number of the app server's stanzas that are handled.
    var handled: UInt32 { unanswered.first.map { $0 &- 1 } ?? received }

    /// Counts a received stanza and returns its number.
    func countReceived() -> UInt32 {
        received &+= 1
        return received
    }

    /// Marks a stanza as not answered yet.
    func postpone(_ number: UInt32) { unanswered.append(number) }

    /// Marks a stanza as answered.
    func markAnswered(_ number: UInt32) {
        if let at = unanswered.firstIndex(of: number) { unanswered.remove(at: at) }
    }

    /// Counts a sent stanza, and keeps its bytes if it is an answer. Returns whether to request an acknowledgement.
    func countSent(_ bytes: [UInt8]?) -> Bool {
        sent &+= 1
        if let bytes, id != nil {
            unconfirmed.append(ResumableStream.Stanza(number: sent, bytes: bytes))
            unconfirmedBytes += bytes.count
            if unconfirmedBytes > Limits.AppServer.unconfirmedBytes {
                id = nil
                unconfirmed = []
            }
        }
        sentSinceRequest += 1
        guard sentSinceRequest >= Limits.AppServer.stanzasPerAckRequest else { return false }
        sentSinceRequest = 0
        return true
    }

    /// Records that the app server has received `handled` stanzas. Returns false if fewer were sent.
    func confirm(_ handled: UInt32) -> Bool {
        guard handled &- confirmed <= sent &- confirmed else { return false }
        let count = unconfirmed.prefix { $0.number &- confirmed <= handled &- confirmed }.count
        unconfirmedBytes -= unconfirmed.prefix(count).reduce(0) { $0 + $1.bytes.count }
        unconfirmed.removeFirst(count)
        confirmed = handled
        return true
    }

    /// Removes and returns the answers that must be sent again.
    func takeUnconfirmed() -> [[UInt8]] {
        let stanzas = unconfirmed.map(\.bytes)
        unconfirmed = []
        unconfirmedBytes = 0
        return stanzas
    }

    /// Returns the state for resuming the stream on another connection; `nil` if it cannot be resumed.
    func remains(jid: String) -> ResumableStream? {
        guard let id else { return nil }
        return ResumableStream(
            id: id, jid: jid, handled: handled, sent: sent, confirmed: confirmed, unconfirmed: unconfirmed)
    }
}
