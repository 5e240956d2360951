import Basics

/// What a proxy says before the TLS handshake.
extension Connection {
    /// Reads the PROXY header. Returns what follows it, or `nil` where it is not complete, or where the connection ends.
    ///
    /// It comes within the deadline of the handshake. Bytes behind it are the client's own and are not looked at here.
    func introduce(_ bytes: UnsafeRawBufferPointer, _ now: Now) -> UnsafeRawBufferPointer? {
        let before = introduction.count
        let share = min(bytes.count, ProxyHeader.longest - before)
        unsafe introduction.append(UnsafeRawBufferPointer(rebasing: bytes[..<share]))
        switch ProxyHeader.read(introduction.bytes) {
        case .incomplete: return nil
        case .invalid(let words):
            failure = words
            abort(.proxyHeader)
            return nil
        case .complete(let client, let length):
            introduction.removeAll()
            guard admit(client ?? peer, now) else { return nil }
            return unsafe UnsafeRawBufferPointer(rebasing: bytes[(length - before)...])
        }
    }

    /// Goes on as the connection of a client, unless there are too many of its address. Returns whether it goes on.
    private func admit(_ client: SocketAddress, _ now: Now) -> Bool {
        peer = client
        guard acceptor?.admitAnonymous(client) != false else {
            reactor.report?(.clientFull(listener: listener, client: client))
            abort(.tooManyConnections)
            return false
        }
        isAnonymous = true
        state = .handshaking
        delegate?.connectionIntroduced(self, now: now)
        return state == .handshaking
    }
}
