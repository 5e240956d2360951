import Basics
public import Transport

/// The address of a server and its TLS settings.
public struct Endpoint: Sendable {
    /// The address and port.
    public var address: SocketAddress
    /// The server name for SNI and certificate verification; `nil` for the address.
    public var serverName: String?
    /// The TLS settings; `nil` for plaintext.
    public var tls: TLSClientSettings?

    /// Creates an endpoint.
    public init(address: SocketAddress, serverName: String? = nil, tls: TLSClientSettings?) {
        self.address = address
        self.serverName = serverName
        self.tls = tls
    }

    /// Resolves a host name or address literal; blocks during the lookup.
    public init(host: String, port: UInt16, tls: TLSClientSettings?) throws(TransportError) {
        if let literal = SocketAddress(literal: host, port: port) {
            self.init(address: literal, tls: tls)
        } else {
            self.init(
                address: try HostLookup.addresses(of: host, port: port)[0], serverName: host, tls: tls)
        }
    }

    /// The value of the Host header.
    var hostHeader: String { serverName ?? address.description }
}

extension Reactor {
    /// Runs until `isDone` returns true. Returns false after a timeout of `seconds`. For tools and tests.
    public func turn(seconds: Int, until isDone: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        while !isDone() {
            let left = end.milliseconds(since: Now.read().monotonic)
            guard left > 0 else { return false }
            turn(waitMilliseconds: Int(min(left, 1_000)))
        }
        return true
    }
}
