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
        let handle = handle
        if let literal = SocketAddress(literal: host, port: port) {
            return handle.finish(lookup: number, .success([literal]))
        }
        do throws(TransportError) {
            try Thread(name: "ccsd-lookup") {
                do throws(TransportError) {
                    handle.finish(lookup: number, .success(try HostLookup.addresses(of: host, port: port)))
                } catch {
                    handle.finish(lookup: number, .failure(error))
                }
            }.detach()
        } catch {
            handle.finish(lookup: number, .failure(error))
        }
    }

    /// Reports the lookups that have ended.
    func finishLookups() {
        for (number, result) in handle.takeLookups() { lookups.removeValue(forKey: number)?(result) }
    }
}
