import Basics
import Delivery
import Wire

/// The two counts of a managed stream, and the answers that the app server has not confirmed (XEP-0198).
///
/// An object, since few sessions have one. A message counts as handled once it is answered, and only if all before it are:
/// what is not answered when the connection is lost is sent again by the app server.
final class AppServerStream {
    /// Names the stream; nil: it cannot be resumed.
    private(set) var id: String?
    /// Stanzas that came, modulo 2^32.
    private var received: UInt32
    /// Numbers of those among them that are not answered, oldest first.
    private var unanswered: [UInt32] = []
    /// Stanzas sent, modulo 2^32.
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

    /// Goes on with a stream of which the app server has these answers; nil if it cannot have so many.
    convenience init?(_ stream: ResumableStream, handled: UInt32) {
        self.init(id: stream.id)
        received = stream.handled
        sent = stream.sent
        confirmed = stream.confirmed
        unconfirmed = stream.unconfirmed
        guard confirm(handled) else { return nil }
        // What it has not is sent again, and numbered anew from there.
        sent = handled
    }

    /// How many stanzas of the app server are handled.
    var handled: UInt32 { unanswered.first.map { $0 &- 1 } ?? received }

    /// A stanza came; its number.
    func count() -> UInt32 {
        received &+= 1
        return received
    }

    /// The answer to a stanza comes later.
    func postpone(_ number: UInt32) { unanswered.append(number) }

    /// A stanza whose answer was to come later is answered.
    func settle(_ number: UInt32) {
        if let at = unanswered.firstIndex(of: number) { unanswered.remove(at: at) }
    }

    /// A stanza is sent; `bytes` are those of an answer. Whether it is time to ask how many have arrived.
    func note(_ bytes: [UInt8]?) -> Bool {
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

    /// The app server has so many of our stanzas; false if we have not sent so many.
    func confirm(_ handled: UInt32) -> Bool {
        guard handled &- confirmed <= sent &- confirmed else { return false }
        let count = unconfirmed.prefix { $0.number &- confirmed <= handled &- confirmed }.count
        unconfirmedBytes -= unconfirmed.prefix(count).reduce(0) { $0 + $1.bytes.count }
        unconfirmed.removeFirst(count)
        confirmed = handled
        return true
    }

    /// Takes out the answers that must be sent again.
    func takeUnconfirmed() -> [[UInt8]] {
        let stanzas = unconfirmed.map(\.bytes)
        unconfirmed = []
        unconfirmedBytes = 0
        return stanzas
    }

    /// What is left of the stream without its connection; nil if it cannot be resumed.
    func remains(jid: String) -> ResumableStream? {
        guard let id else { return nil }
        return ResumableStream(
            id: id, jid: jid, handled: handled, sent: sent, confirmed: confirmed, unconfirmed: unconfirmed)
    }
}
