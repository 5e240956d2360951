public import Basics

/// What the owner of a connection is told; always on the thread of the connection's reactor.
public protocol ConnectionDelegate: AnyObject {
    /// The proxy has said whose connection it is: `peer` is the client's address from now on. Called before TLS, for connections
    /// from proxies alone; what is to be refused by its address is refused here, by `abort`.
    func connectionIntroduced(_ connection: Connection, now: Now)
    /// The connection can carry data: after the TLS handshake, or at once where there is none.
    func connectionOpened(_ connection: Connection, now: Now)
    /// Bytes came; they are valid for the call only. With TLS each call carries one record.
    func connection(_ connection: Connection, received bytes: RawSpan, now: Now)
    /// More than `Limits.Connection.outboundLowBytes` wait for the peer (true), or less than half of that again (false).
    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now)
    /// `connection.deadline` is reached; it is `.distantFuture` again until set anew.
    func connectionDeadline(_ connection: Connection, now: Now)
    /// The peer sends no more. True keeps the connection open for output until `close`; false closes it
    /// with `.peerClosed` once what waits is sent, which is also the default.
    func connectionInputEnded(_ connection: Connection, now: Now) -> Bool
    /// The connection is gone: called exactly once, and last.
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now)
}

extension ConnectionDelegate {
    /// Lets the connection go on.
    public func connectionIntroduced(_ connection: Connection, now: Now) {}

    /// Closes once what waits is sent.
    public func connectionInputEnded(_ connection: Connection, now: Now) -> Bool { false }
}

/// What the owner of a reactor is told; always on the reactor's thread.
public protocol ReactorDelegate: AnyObject {
    /// `ReactorHandle.wake` was called since the last time.
    func reactorWoke(_ reactor: Reactor, now: Now)
    /// All that was ready has been handled; the connections that asked for it are flushed next.
    func reactorTurnEnded(_ reactor: Reactor, now: Now)
}
