import Basics

/// The PROXY header before the TLS handshake.
extension Connection {
    /// Reads the PROXY header. Returns the bytes after it, or `nil` if it is not complete, or if the connection is closed.
    ///
    /// It must arrive within the deadline of the handshake. The bytes after it are the client's own and are not read here.
    func readProxyHeader(_ bytes: UnsafeRawBufferPointer, _ now: Now) -> UnsafeRawBufferPointer? {
        let before = proxyHeader.count
        let share = min(bytes.count, ProxyHeader.longest - before)
        unsafe proxyHeader.append(UnsafeRawBufferPointer(rebasing: bytes[..<share]))
        switch ProxyHeader.read(proxyHeader.bytes) {
        case .incomplete: return nil
        case .invalid(let words):
            failure = words
            abort(.proxyHeader)
            return nil
        case .complete(let client, let length):
            proxyHeader.removeAll()
            guard admit(client ?? peer, now) else { return nil }
            return unsafe UnsafeRawBufferPointer(rebasing: bytes[(length - before)...])
        }
    }

    /// Counts the client by its address, and reports it to the owner. Returns whether the owner has accepted it.
    private func admit(_ client: SocketAddress, _ now: Now) -> Bool {
        peer = client
        reactor.countAnonymous(self)
        state = .handshaking
        delegate?.connectionReceivedProxyHeader(self, now: now)
        return state == .handshaking
    }
}
