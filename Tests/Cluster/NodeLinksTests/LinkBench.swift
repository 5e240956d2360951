import Basics
import Glibc
import NodeLinks
import Testing
import Transport

/// The authority of a test's cluster, in a folder of its own that is removed at the end.
final class LinkAuthority {
    static let cluster = ClusterID(0xc105)
    let folder: String
    let authority: ClusterAuthority
    var file: String { folder + "/ca.pem" }

    init() throws {
        var template = Array("/tmp/ccs-links-XXXXXX".utf8CString)
        folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        authority = try ClusterAuthority(of: Self.cluster, now: Now.read().wall)
        try SmallFile.replace(file, with: authority.pair().chain, mode: 0o644)
    }

    deinit {
        unlink(file)
        rmdir(folder)
    }

    /// Credentials of a node, made now or at another time.
    func credentials(
        _ node: UInt16, cluster: ClusterID = cluster, now: UnixMilliseconds = Now.read().wall
    ) throws -> LinkCredentials {
        let pair = try authority.makeNode(named: NodeName.text(NodeNumber(node), in: cluster), now: now)
        return LinkCredentials(authorityFile: file, chain: pair.chain, key: pair.key)
    }
}

/// A node with its own reactor, which runs only when the test gives it turns.
final class LinkNode: ReactorDelegate {
    let reactor: Reactor
    private(set) var host: NodeLinkHost?
    private(set) var reports: [LinkReport] = []
    private(set) var address = SocketAddress.loopback(port: 0)
    private(set) var refusedAtAccept: [ConnectionRefusal] = []

    init(
        _ number: UInt16, _ credentials: LinkCredentials, cluster: ClusterID = LinkAuthority.cluster,
        incarnation: UInt64 = 1, at address: SocketAddress? = .loopback(port: 0)
    ) throws {
        reactor = try Reactor(index: 0)
        let identity = LinkIdentity(
            cluster: cluster, node: NodeNumber(number), incarnation: Incarnation(incarnation))
        let host = try NodeLinkHost(identity, credentials: credentials, reactor: reactor) { [weak self] in
            self?.reports.append($0)
        }
        self.host = host
        reactor.delegate = self
        reactor.report = { [weak self] report in
            if case .refused(_, _, let reason) = report { self?.refusedAtAccept.append(reason) }
        }
        guard let address else { return }
        let socket = try ListeningSocket(tcp: address)
        self.address = socket.address
        try host.listen(on: socket)
    }

    /// The process ends: its sockets are closed.
    func kill() {
        reactor.end()
        reactor.delegate = nil
        host = nil
    }

    func reactorWoke(_ reactor: Reactor, now: Now) {}
    func reactorTurnEnded(_ reactor: Reactor, now: Now) { host?.turnEnded(now: now) }

    func dial(_ other: LinkNode, as number: UInt16) {
        host?.dial(NodeNumber(number), at: other.address.description)
    }

    func send(_ bytes: [UInt8], to node: UInt16) -> Bool {
        host?.send(bytes.raw, to: NodeNumber(node)) ?? false
    }

    /// The parcels that have arrived, of all nodes.
    var parcels: [[UInt8]] {
        reports.flatMap { report -> [[UInt8]] in
            if case .received(_, let parcels) = report { parcels } else { [] }
        }
    }

    var ups: [UInt64] {
        reports.compactMap { if case .up(_, let incarnation) = $0 { incarnation.number } else { nil } }
    }

    var downs: [LinkFailure] {
        reports.compactMap { if case .down(_, let failure) = $0 { failure } else { nil } }
    }

    var unlinked: [LinkFailure] {
        reports.compactMap { if case .unlinked(_, let failure) = $0 { failure } else { nil } }
    }

    var refused: [LinkFailure] {
        reports.compactMap { if case .refused(_, let failure) = $0 { failure } else { nil } }
    }
}

/// Runs turns of all nodes until a condition holds. Returns false after a minute, far longer than needed on a busy machine.
func run(_ nodes: LinkNode..., until condition: () -> Bool) -> Bool {
    let end = Now.read().monotonic.advanced(seconds: 60)
    while !condition() {
        guard Now.read().monotonic < end else { return false }
        for node in nodes { node.reactor.turn(waitMilliseconds: 2) }
    }
    return true
}

/// A client that speaks what the test wants, on the reactor of a node.
final class RawPeer: ConnectionDelegate {
    private(set) var connection: Connection?
    private(set) var isOpen = false
    private(set) var received: [UInt8] = []
    private(set) var closed: CloseReason?
    private(set) var failure = ""

    /// Connects with a certificate, or without one.
    init(_ reactor: Reactor, to address: SocketAddress, _ credentials: LinkCredentials?, trust: String) throws
    {
        let identity = credentials.map { TLSClientSettings.Identity(chain: $0.chain, key: $0.key.revealed) }
        let tls = try TLSClientSettings(trust: .file(trust), identity: identity)
        connection = try reactor.connect(
            to: address, tls: tls, serverName: NodeName.text(NodeNumber(2), in: LinkAuthority.cluster),
            delegate: self)
    }

    func send(_ bytes: [UInt8]) {
        connection?.outbox.bytes.append(bytes)
        connection?.setNeedsFlush()
    }

    /// Introduces itself as a node.
    func greet(as node: UInt16, cluster: ClusterID = LinkAuthority.cluster, incarnation: UInt64 = 1) {
        var session = LinkSession(
            own: LinkIdentity(
                cluster: cluster, node: NodeNumber(node), incarnation: Incarnation(incarnation)),
            peer: NodeNumber(2), now: Now.read().monotonic)
        send(session.taken())
    }

    func connectionOpened(_ connection: Connection, now: Now) { isOpen = true }
    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        received += [UInt8](copying: bytes)
    }
    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        closed = reason
        failure = connection.failure
        self.connection = nil
    }
}
