public import Basics
public import Transport

/// The links of a node to all others, on one reactor: it dials the nodes with higher numbers, and accepts those with lower ones.
///
/// All calls are made on the reactor's thread. The owner of the reactor calls `turnEnded` at the end of each turn.
public final class NodeLinkHost {
    /// The name of the listener in logs and metrics.
    public static let listener: ListenerName = "node_link"

    let identity: LinkIdentity
    let reactor: Reactor
    private let report: (LinkReport) -> Void
    private(set) var client: TLSClientSettings
    private let server: TLSContextHolder
    /// The links that are up, and all others that are being made.
    private(set) var links: [NodeNumber: NodeLink] = [:]
    private var pending: [ObjectIdentifier: NodeLink] = [:]
    var dials: [NodeNumber: Dial] = [:]
    /// Nodes that do not belong to the cluster any more.
    private var barred: Set<NodeNumber> = []
    /// The number of lookups of names so far.
    var lookups: UInt64 = 0
    var random: SeededRandom
    /// What has happened in this turn.
    private var reports: [LinkReport] = []
    private var refusals = TokenBucket()
    private var isStopped = false

    /// Creates the links of a node. Throws if the credentials cannot be used.
    public init(
        _ identity: LinkIdentity, credentials: LinkCredentials, reactor: Reactor,
        report: @escaping (LinkReport) -> Void
    ) throws(TransportError) {
        self.identity = identity
        self.reactor = reactor
        self.report = report
        client = try credentials.client()
        server = TLSContextHolder(try credentials.server())
        random = SeededRandom(seed: SecureRandom.number())
    }

    /// Uses other credentials for later connections. Throws if they cannot be used, and keeps the earlier ones.
    public func use(_ credentials: LinkCredentials) throws(TransportError) {
        let (client, server) = try (credentials.client(), credentials.server())
        self.client = client
        self.server.replace(with: server)
    }

    /// Accepts the nodes with lower numbers.
    public func listen(on socket: consuming ListeningSocket) throws(TransportError) {
        try reactor.listen(on: socket, name: Self.listener, tls: server, pace: .nodeLinks) {
            [weak self] connection in
            guard let self, !isStopped else { return nil }
            let link = NodeLink(host: self, dialled: nil)
            link.attach(connection)
            add(link)
            return link
        }
    }

    /// The links that are up, by node.
    public var status: [LinkStatus] { links.values.compactMap(\.status).sorted { $0.node < $1.node } }

    /// Whether there is a link to a node.
    public func isUp(_ node: NodeNumber) -> Bool { links[node] != nil }

    /// Bytes that wait for a node.
    public func queuedBytes(for node: NodeNumber) -> Int { links[node]?.queuedBytes ?? 0 }

    /// Sends a parcel to a node, after all earlier ones. Returns whether it is on the way: if the link ends before it is answered,
    /// `down` is reported. Returns false if there is no link, the parcel is too long, or too much waits.
    @discardableResult
    public func send(_ parcel: borrowing RawSpan, to node: NodeNumber) -> Bool {
        links[node]?.send(parcel, reactor.now) ?? false
    }

    /// Delivers the reports of this turn.
    public func turnEnded(now: Now) {
        // Reports that are made meanwhile belong to this turn as well.
        while !reports.isEmpty {
            var batch: [LinkReport] = []
            swap(&batch, &reports)
            for entry in batch { report(entry) }
        }
    }

    /// Ends all links, and makes no more.
    public func stop() {
        isStopped = true
        reactor.stopListening(Self.listener)
        for node in Array(dials.keys) { forget(node) }
        for link in Array(links.values) + Array(pending.values) { link.end(.dropped, reactor.now) }
    }

    /// Ends the link to a node, and refuses it until it is admitted.
    public func bar(_ node: NodeNumber) {
        barred.insert(node)
        forget(node)
        links[node]?.end(.removed, reactor.now)
    }

    /// Accepts a node again.
    public func admit(_ node: NodeNumber) { barred.remove(node) }

    // MARK: Events of links

    /// No address of a node could be tried.
    func isUnreachable(_ node: NodeNumber, _ failure: LinkFailure) {
        reports.append(.unlinked(node, failure))
    }

    func add(_ link: NodeLink) { pending[ObjectIdentifier(link)] = link }

    func isUp(_ link: NodeLink, _ identity: LinkIdentity, _ now: Now) {
        pending[ObjectIdentifier(link)] = nil
        guard !barred.contains(identity.node) else { return link.end(.removed, now) }
        // The peer has given the earlier connection up, before this node noticed.
        let earlier = links[identity.node]
        earlier?.end(.replaced, now)
        links[identity.node] = link
        reports.append(.up(identity.node, identity.incarnation))
    }

    func received(_ parcel: [UInt8], from node: NodeNumber) {
        guard case .received(node, var parcels) = reports.last else {
            return reports.append(.received(node, [parcel]))
        }
        reports.removeLast()
        parcels.append(parcel)
        reports.append(.received(node, parcels))
    }

    func happened(_ event: LinkStreamEvent, at node: NodeNumber) { reports.append(.stream(node, event)) }

    /// A link is over; called once for each.
    func ended(_ link: NodeLink, _ failure: LinkFailure, _ now: Now) {
        pending[ObjectIdentifier(link)] = nil
        if let node = link.identity?.node, failure != .removed || links[node] === link {
            if links[node] === link { links[node] = nil }
            reports.append(.down(node, failure))
        } else if let node = link.dialled {
            reports.append(.unlinked(node, failure))
        } else if let peer = link.connection?.peer {
            let rate = Rate(Limits.NodeLinks.refusalsPerSecond, perSeconds: 1)
            if refusals.allows(rate, now: now.monotonic) {
                refusals.consume(rate, now: now.monotonic)
                reports.append(.refused(peer, failure))
            }
        }
        if let node = link.dialled { redial(node, after: link, now) }
    }
}
