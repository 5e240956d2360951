/// A bound and listening socket with one owner.
package struct ListeningSocket: ~Copyable, Sendable {
    /// The descriptor.
    package let descriptor: Descriptor
    /// Where it listens: the real port where 0 was asked for.
    package let address: SocketAddress

    /// Listens on an IP address; each reactor opens its own on the same port (SO_REUSEPORT).
    package init(tcp address: SocketAddress) throws(TransportError) { fatalError("lands next") }
    /// Listens on a path that only our own user may open; a stale socket, which nobody answers, is replaced.
    package init(unixPath path: String) throws(TransportError) { fatalError("lands next") }
    /// Takes over a socket that systemd opened.
    package init(inherited descriptor: consuming Descriptor) throws(TransportError) { fatalError("lands next") }
    /// A second descriptor of the same socket, for another reactor.
    package func duplicated() throws(TransportError) -> ListeningSocket { fatalError("lands next") }
}
