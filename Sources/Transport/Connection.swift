package import Basics

/// One TCP or UNIX-domain connection, with or without TLS; used on the thread of its reactor only.
package final class Connection {
    /// Names it, on all threads and for ever.
    package let id: ConnectionID
    /// The other end.
    package let peer: SocketAddress
    /// Which listener accepted it; `.outgoing` for our own.
    package let listener: ListenerName
    /// Who is told; dropped after `connectionClosed`.
    package var delegate: (any ConnectionDelegate)?
    /// What goes to the peer at the end of the turn, after `setNeedsFlush`.
    package var outbox = Outbox()
    /// Whether bytes are taken from the peer; false presses back.
    package var isReading = true
    /// When `connectionDeadline` is called; `.distantFuture` for never.
    package var deadline = Instant.distantFuture
    /// Whether it counts against `PaceSettings.anonymousPerAddress`; clear it after the login.
    package var isAnonymous = false

    init(id: ConnectionID, peer: SocketAddress, listener: ListenerName) { fatalError("lands next") }

    /// Asks for the outbox to be sent at the end of this turn.
    package func setNeedsFlush() { fatalError("lands next") }
    /// Sends what waits, ends TLS and TCP in order, and then calls `connectionClosed`; bounded by the write deadline.
    package func close(_ reason: CloseReason) { fatalError("lands next") }
    /// Drops the connection without sending what waits; `connectionClosed` is called within this turn.
    package func abort(_ reason: CloseReason) { fatalError("lands next") }
    /// Octets that wait for the peer: the outbox and what the socket did not take yet.
    package var outboundCount: Int { fatalError("lands next") }
    /// OpenSSL's or the system's words for what ended the connection, for logs; empty where there are none.
    package var failure: String { fatalError("lands next") }
    /// `TLSv1.3`; nil without TLS.
    package var tlsVersion: String? { fatalError("lands next") }
    /// `TLS_AES_256_GCM_SHA384`; nil without TLS.
    package var tlsCipher: String? { fatalError("lands next") }
    /// The user id of the process at the other end of a UNIX-domain socket.
    package var peerUser: UInt32? { fatalError("lands next") }
}
