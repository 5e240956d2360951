import Basics

/// The saved state of an app server's stream whose connection is lost, until it is resumed (ccs-xmpp 1.15).
///
/// Only answers are saved: the core sends unacknowledged upstream messages again as after any lost connection, and a message
/// without an answer does not count as handled, so that the app server sends it again.
public struct ResumableStream: Sendable, Equatable {
    /// A stanza that the app server has not confirmed.
    public struct Stanza: Sendable, Equatable {
        /// Its number in the stream, from 1, modulo 2^32.
        public var number: UInt32
        /// Its bytes.
        public var bytes: [UInt8]

        /// Creates a stanza.
        public init(number: UInt32, bytes: [UInt8]) {
            self.number = number
            self.bytes = bytes
        }
    }

    /// Its identifier; only sessions of the same sender may resume it.
    public var id: String
    /// The bound full JID.
    public var jid: String
    /// The number of stanzas of the app server that are answered, modulo 2^32.
    public var handled: UInt32
    /// The number of stanzas sent to the app server, modulo 2^32.
    public var sent: UInt32
    /// How many of the sent stanzas it has confirmed, modulo 2^32.
    public var confirmed: UInt32
    /// The answers among the unconfirmed stanzas, oldest first.
    public var unconfirmed: [Stanza]

    /// Creates the state of a stream.
    public init(
        id: String, jid: String, handled: UInt32, sent: UInt32, confirmed: UInt32, unconfirmed: [Stanza]
    ) {
        self.id = id
        self.jid = jid
        self.handled = handled
        self.sent = sent
        self.confirmed = confirmed
        self.unconfirmed = unconfirmed
    }
}

/// A resumable stream, as the sender's partition tracks it.
struct KnownStream {
    let id: String
    /// Its connection. `nil` once that is lost.
    var connection: ConnectionID?
    /// Its saved state, once its connection is lost.
    var remains: ResumableStream?
    /// When the saved state is dropped.
    var endsAt = Instant.distantFuture
    /// The connection that waits to resume it while its old connection closes.
    var waiting: ConnectionID?
}
