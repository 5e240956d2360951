import Basics
import Glibc
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
            self.init(address: try Self.lookUp(host, port), serverName: host, tls: tls)
        }
    }

    /// The value of the Host header.
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
            throw TransportError("find \(host)", detail: "unsupported address family")
        }
        return address
    }
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
