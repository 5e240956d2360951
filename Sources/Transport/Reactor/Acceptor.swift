import Basics
import CLinux
import Glibc

/// One listener of one reactor: whom it lets in, and how many.
final class Acceptor {
    /// Gone once the listener is stopped; connections keep the rest of the acceptor alive.
    private var socket: ListeningSocket?
    /// The socket's descriptor; -1 once the listener is stopped.
    private(set) var descriptor: Int32
    let name: ListenerName
    let tls: TLSContextHolder?
    /// What new connections may do.
    var pace: PaceSettings
    /// Addresses of proxies, which must say for whom each connection is.
    var proxies: [AddressNetwork] = []
    let accept: (Connection) -> (any ConnectionDelegate)?
    /// Connections open now.
    var connections = 0
    /// Whether it waits for descriptors to become free.
    var isResting = false
    /// An error number with which so many of the next accepts fail: tests set it.
    var injectedFailure: Int32 = 0
    var injectedFailures = Int.max
    private(set) var anonymous: [SocketAddress: Int] = [:]

    init(
        socket: consuming ListeningSocket, name: ListenerName, tls: TLSContextHolder?, pace: PaceSettings,
        accept: @escaping (Connection) -> (any ConnectionDelegate)?
    ) {
        descriptor = socket.descriptor.number
        self.socket = consume socket
        self.name = name
        self.tls = tls
        self.pace = pace
        self.accept = accept
    }

    /// Closes our descriptor of the socket; others of it (systemd's, another reactor's) go on.
    func stop() {
        socket = nil
        descriptor = -1
    }

    /// The next waiting connection, or -1 and `errno`.
    func next() -> (socket: Int32, peer: SocketAddress) {
        guard injectedFailure == 0 || injectedFailures == 0 else {
            injectedFailures -= 1
            errno = injectedFailure
            return (-1, .unix(path: ""))
        }
        let listener = descriptor
        let (result, peer) = unsafe SocketAddress.filled { unsafe clinux_accept(listener, $0, $1) }
        return (result, peer)
    }

    /// Counts a stranger in; false when its address has too many already.
    func admitAnonymous(_ peer: SocketAddress) -> Bool {
        guard let origin = peer.network else { return true }
        let count = anonymous[origin, default: 0]
        guard pace.anonymousPerAddress == 0 || count < pace.anonymousPerAddress else { return false }
        anonymous[origin] = count + 1
        return true
    }

    /// Counts a stranger out: it has logged in or gone.
    func forgetAnonymous(_ peer: SocketAddress) {
        guard let origin = peer.network, let count = anonymous[origin] else { return }
        anonymous[origin] = count > 1 ? count - 1 : nil
    }

    /// Whether a connection of this peer must start with a PROXY header. The operator's own listeners take none.
    func expectsProxyHeader(_ peer: SocketAddress) -> Bool {
        tls != nil && !proxies.isEmpty && proxies.contains { $0.contains(peer) }
    }
}

extension SocketAddress {
    /// Whom a peer counts as: an IPv4 address, or an IPv6 network of 64 bits, since one host has all of it; nil for a path.
    public var network: SocketAddress? {
        switch self {
        case .ipv4(let number, _): .ipv4(number, port: 0)
        case .ipv6(let upper, _, _, _): .ipv6(upper, 0, zone: 0, port: 0)
        case .unix: nil
        }
    }
}
