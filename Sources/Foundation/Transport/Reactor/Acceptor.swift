import Basics
import CLinux

/// One listener of one reactor, with its limits.
final class Acceptor {
    /// Whether the reactor accepts the connections of a listener; otherwise they wait in its socket.
    enum Attention {
        case watched
        /// Paused for a moment, until descriptors become free.
        case awaitingDescriptors
        /// Held by the operator, until it is released.
        case held
    }

    /// `nil` once the listener is stopped; open connections keep the acceptor itself alive.
    private var socket: ListeningSocket?
    /// The descriptor of the socket; -1 once the listener is stopped.
    private(set) var descriptor: Int32
    let name: ListenerName
    let tls: TLSContextHolder?
    /// Limits of new connections.
    var pace: PaceSettings
    /// Addresses of proxies, which must send the client's address in a PROXY header.
    var proxies: [AddressNetwork] = []
    let accept: (Connection) -> (any ConnectionDelegate)?
    /// Returns what is sent to a client whose first bytes are no TLS; `nil` for nothing.
    var plainAnswer: PlainAnswer?
    /// Number of open connections.
    var connections = 0
    /// Whether the reactor accepts its connections.
    var attention = Attention.watched
    /// Accepts a waiting connection of a listener. Returns -1 with `errno` set if there is none or it fails.
    var acceptCall: (_ listener: Int32) -> (socket: Int32, peer: SocketAddress) = Acceptor.systemCall
    /// The connections that have not logged in, by address or network.
    private(set) var anonymous: [SocketAddress: AgeQueue] = [:]

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

    /// Closes this descriptor of the socket; other descriptors of it (systemd's, another reactor's) stay open.
    func stop() {
        socket = nil
        descriptor = -1
    }

    /// The system call behind `acceptCall`.
    static func systemCall(_ listener: Int32) -> (socket: Int32, peer: SocketAddress) {
        let (result, peer) = unsafe SocketAddress.filled { unsafe clinux_accept(listener, $0, $1) }
        return (result, peer)
    }

    /// Returns the next waiting connection, or -1 with `errno` set.
    func next() -> (socket: Int32, peer: SocketAddress) { acceptCall(descriptor) }

    /// Counts a connection that has not logged in. Returns the oldest one of its address if that has more than the limit: a new one,
    /// which may be about to log in, has precedence over those that had time to. `isIn` returns whether one still counts.
    func countAnonymous(
        _ connection: ConnectionID, of peer: SocketAddress, isIn: (ConnectionID) -> Bool
    ) -> ConnectionID? {
        guard let origin = peer.network else { return nil }
        anonymous[origin, default: AgeQueue()].append(connection, isIn: isIn)
        let count = anonymous[origin]?.count ?? 0
        guard pace.anonymousPerAddress > 0, count > pace.anonymousPerAddress else { return nil }
        return anonymous[origin]?.oldest(isIn: isIn)
    }

    /// Stops counting a connection: it has logged in or closed.
    func forgetAnonymous(_ peer: SocketAddress) {
        guard let origin = peer.network, anonymous[origin] != nil else { return }
        anonymous[origin]?.leave()
        if anonymous[origin]?.count == 0 { anonymous[origin] = nil }
    }

    /// Whether a connection of this peer must start with a PROXY header; never on listeners without TLS, which are the
    /// operator's.
    func expectsProxyHeader(_ peer: SocketAddress) -> Bool {
        tls != nil && !proxies.isEmpty && proxies.contains { $0.contains(peer) }
    }
}

extension SocketAddress {
    /// The address or network by which peers are counted: an IPv4 address, or an IPv6 network of 64 bits, since one host has
    /// all of it; `nil` for a path.
    public var network: SocketAddress? {
        switch self {
        case .ipv4(let number, _): .ipv4(number, port: 0)
        case .ipv6(let upper, _, _, _): .ipv6(upper, 0, zone: 0, port: 0)
        case .unix: nil
        }
    }
}

/// Returns the answer to a client that begins without TLS at a port with TLS; `nil` for none.
public typealias PlainAnswer = (_ first: RawSpan) -> [UInt8]?
