import Basics

/// TLS on a connection that has begun without it.
extension Connection {
    /// Starts TLS on an open connection, for protocols that negotiate it; `connectionOpened` is called again after the handshake.
    ///
    /// Nothing may wait to be sent. The owner must refuse bytes that arrived before: an attacker may have added them, and they
    /// would pass for what the verified peer has sent.
    public func startTLS(
        _ settings: TLSClientSettings, serverName: String? = nil
    ) throws(TransportError) {
        precondition(
            state == .open && tls.isPlain && outboundCount == 0, "TLS starts on an idle open connection")
        tls = try reactor.session(settings, serverName, peer)
        state = .handshaking
        stateDeadline = reactor.now.monotonic.advanced(milliseconds: pace.handshakeMilliseconds)
        reactor.arm(self)
        continueHandshake(reactor.now)
        sendSealed(reactor.now)
    }
}
