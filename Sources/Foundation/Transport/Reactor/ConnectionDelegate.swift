public import Basics

/// Events of a connection for its owner; always called on the thread of the connection's reactor.
public protocol ConnectionDelegate: AnyObject {
    /// The proxy has sent the client's address, which `peer` is from now on. Called before TLS, for connections from proxies
    /// only; to refuse a client by its address, call `abort` here.
    func connectionReceivedProxyHeader(_ connection: Connection, now: Now)
    /// The connection can carry data: after the TLS handshake, or at once without TLS.
    func connectionOpened(_ connection: Connection, now: Now)
    /// Bytes were received; they are valid during the call only. With TLS each call passes one record.
    func connection(_ connection: Connection, received bytes: RawSpan, now: Now)
    /// More than `Limits.Connection.outboundLowBytes` wait for the peer (true), or less than half of that again (false).
    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now)
    /// `connection.deadline` has passed; it is `.distantFuture` again until set anew.
    func connectionDeadline(_ connection: Connection, now: Now)
    /// The peer has ended its output. Returning true keeps the connection open for output until `close`; false, the default,
    /// closes it with `.peerClosed` after pending output is sent.
    func connectionInputEnded(_ connection: Connection, now: Now) -> Bool
    /// The connection is closed: called exactly once, as the last event.
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now)
}

extension ConnectionDelegate {
    /// Accepts the client.
    public func connectionReceivedProxyHeader(_ connection: Connection, now: Now) {}

    /// Closes the connection after pending output is sent.
    public func connectionInputEnded(_ connection: Connection, now: Now) -> Bool { false }
}

/// Events of a reactor for its owner; always called on the reactor's thread.
public protocol ReactorDelegate: AnyObject {
    /// `ReactorHandle.wake` was called since the last call of this method.
    func reactorWoke(_ reactor: Reactor, now: Now)
    /// All ready events have been handled; connections that need a flush are flushed next.
    func reactorTurnEnded(_ reactor: Reactor, now: Now)
}
