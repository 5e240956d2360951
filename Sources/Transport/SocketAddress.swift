/// Where a socket is bound or whom it is connected to: an IP address with a port, or a path in the file system.
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// IPv4: the address in host byte order, and the port.
    case ipv4(UInt32, port: UInt16)
    /// IPv6: the upper and the lower half in host byte order, the zone of a link-local address, and the port.
    case ipv6(UInt64, UInt64, zone: UInt32, port: UInt16)
    /// A UNIX-domain socket; the path is empty for an unnamed peer, and begins with `@` for an abstract name.
    case unix(path: String)

    /// IPv4 loopback.
    package static func loopback(port: UInt16) -> SocketAddress { .ipv4(0x7f00_0001, port: port) }

    /// `127.0.0.1:5235`, `[::1]:5235`, or the path.
    package var description: String { fatalError("lands next") }
}
