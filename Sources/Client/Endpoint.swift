import Basics
import Glibc
public import Transport

/// Where a server is, and how TLS is spoken to it.
public struct Endpoint: Sendable {
    /// The address and port.
    public var address: SocketAddress
    /// The name that is asked for in TLS and checked in the certificate; nil: the address.
    public var serverName: String?
    /// How TLS is spoken; nil: not at all.
    public var tls: TLSClientSettings?

    /// A server; all parts are the caller's.
    public init(address: SocketAddress, serverName: String? = nil, tls: TLSClientSettings?) {
        self.address = address
        self.serverName = serverName
        self.tls = tls
    }

    /// Finds the address of a host, by name or literal; blocks while names are looked up.
    public init(host: String, port: UInt16, tls: TLSClientSettings?) throws(TransportError) {
        if let literal = SocketAddress(literal: host, port: port) {
            self.init(address: literal, tls: tls)
        } else {
            self.init(address: try Self.lookUp(host, port), serverName: host, tls: tls)
        }
    }

    /// What stands in the Host header.
    var hostHeader: String { serverName ?? address.description }

    private static func lookUp(_ host: String, _ port: UInt16) throws(TransportError) -> SocketAddress {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        defer { unsafe freeaddrinfo(list) }
        guard code == 0, let first = unsafe list else {
            throw TransportError(
                "find \(host)", detail: unsafe String(cString: gai_strerror(code)), code: code)
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let named = unsafe getnameinfo(
            first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
            NI_NUMERICHOST)
        let literal = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard named == 0, let address = SocketAddress(literal: literal, port: port) else {
            throw TransportError("find \(host)", detail: "its address is of a kind that is not known")
        }
        return address
    }
}

extension Reactor {
    /// Turns until `isDone` says so; false if it does not within so many seconds. For tools and tests.
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
