import Basics

/// What is kept of an app server's stream whose connection is lost, until it is resumed (ccs-xmpp 1.15).
///
/// Only answers are kept: upstream messages without an ack are offered again by the core as after any lost connection,
/// and a message that had no answer yet does not count as handled, so that the app server sends it again.
public struct ResumableStream: Sendable, Equatable {
    /// A stanza that the app server has not confirmed.
    public struct Stanza: Sendable, Equatable {
        /// Its number in the stream, from 1, modulo 2^32.
        public var number: UInt32
        /// Its bytes.
        public var bytes: [UInt8]

        /// A stanza; all parts are the caller's.
        public init(number: UInt32, bytes: [UInt8]) {
            self.number = number
            self.bytes = bytes
        }
    }

    /// Names it; only sessions of the same sender may ask for it.
    public var id: String
    /// The bound full JID.
    public var jid: String
    /// Stanzas of the app server that are answered, modulo 2^32.
    public var handled: UInt32
    /// Stanzas sent to it, modulo 2^32.
    public var sent: UInt32
    /// How many of those it has confirmed.
    public var confirmed: UInt32
    /// Answers among the others, oldest first.
    public var unconfirmed: [Stanza]

    /// A stream; all parts are the caller's.
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

/// A stream that may be resumed, as the sender's partition knows it.
struct KnownStream {
    /// Its id.
    let id: String
    /// The connection that it lives on; nil once that is lost.
    var connection: ConnectionID?
    /// What is left of it once its connection is lost.
    var remains: ResumableStream?
    /// Until when that is kept.
    var endsAt = Instant.distantFuture
    /// The connection that waits for it to leave the one it lives on.
    var waiting: ConnectionID?
}
