/// Lookups of host names for a reactor.
extension Reactor {
    /// Looks a host name up on a thread of its own, since that blocks. Calls `body` in a later turn with the addresses in the order
    /// of the system's preference, or with the error.
    public func lookUp(
        _ host: String, port: UInt16, _ body: @escaping (Result<[SocketAddress], TransportError>) -> Void
    ) {
        lookupCount += 1
        let number = lookupCount
        lookups[number] = body
        let mailbox = mailbox
        @Sendable func finish(_ result: Result<[SocketAddress], TransportError>) {
            mailbox.post { reactor in reactor.lookups.removeValue(forKey: number)?(result) }
        }
        if let literal = SocketAddress(literal: host, port: port) { return finish(.success([literal])) }
        do throws(TransportError) {
            try Thread(name: "ccsd-lookup") {
                do throws(TransportError) {
                    finish(.success(try HostLookup.addresses(of: host, port: port)))
                } catch { finish(.failure(error)) }
            }.detach()
        } catch { finish(.failure(error)) }
    }

    /// Reports the lookups that have ended.
    func finishLookups() {
        for job in mailbox.takeAll().jobs { job(self) }
    }
}
