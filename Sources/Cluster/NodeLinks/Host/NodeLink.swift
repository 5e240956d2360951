import Basics
import Transport

/// One connection between two nodes, confined to the thread of its reactor.
///
/// Its life: TLS, then the check of the certificate's name, then a `LinkSession`. It ends with exactly one call of `NodeLinkHost.ended`.
final class NodeLink: ConnectionDelegate {
    private weak var host: NodeLinkHost?
    /// The node that was dialled; `nil` for an accepted connection.
    let dialled: NodeNumber?
    private(set) var connection: Connection?
    var session: LinkSession?
    /// The peer, once it has introduced itself.
    private(set) var identity: LinkIdentity?
    private(set) var upSince: Instant?
    private var isEnded = false

    init(host: NodeLinkHost, dialled: NodeNumber?) {
        self.host = host
        self.dialled = dialled
    }

    /// Takes the connection, as soon as there is one.
    func attach(_ connection: Connection) { self.connection = connection }

    /// The state of the link, for people. Returns `nil` before it is up.
    var status: LinkStatus? {
        guard let identity, let connection else { return nil }
        return LinkStatus(
            node: identity.node, incarnation: identity.incarnation, address: connection.peer,
            queuedBytes: queuedBytes,
            roundTripMicroseconds: session?.roundTripMicroseconds ?? nil)
    }

    /// Bytes that wait for the other node.
    var queuedBytes: Int { connection?.outboundCount ?? 0 }

    /// Sends a parcel. Returns whether it is on the way.
    func send(_ parcel: borrowing RawSpan, _ now: Now) -> Bool {
        guard !isEnded, let connection else { return false }
        var events: [LinkEvent] = []
        let isSent = session?.send(parcel, queued: connection.outboundCount, events: &events) ?? false
        handle(events, now)
        return isSent
    }

    /// Ends the link.
    func end(_ failure: LinkFailure, _ now: Now) {
        guard !isEnded else { return }
        var events: [LinkEvent] = []
        session?.end(failure, events: &events)
        if events.isEmpty { fail(failure, now) } else { handle(events, now) }
    }

    // MARK: Events of the connection

    func connectionOpened(_ connection: Connection, now: Now) {
        guard !isEnded, let own = host?.identity else { return connection.abort(.operatorRequest) }
        let name = connection.peerName(under: NodeName.suffix(of: own.cluster))
        guard let node = name.flatMap({ NodeName.node($0, in: own.cluster) }) else {
            return refuse(.notANode, now)
        }
        if let dialled {
            guard node == dialled else { return refuse(.otherNode(node), now) }
        } else {
            guard node < own.node else { return refuse(.wrongDirection(node), now) }
        }
        session = LinkSession(own: own, peer: node, now: now.monotonic)
        flush()
    }

    /// Refuses a peer by its certificate: nothing that it sends is read.
    private func refuse(_ failure: LinkFailure, _ now: Now) {
        if let connection {
            LinkFrame.append(.refusal, [failure.refusal.rawValue].raw, to: &connection.outbox.bytes)
        }
        fail(failure, now)
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        var events: [LinkEvent] = []
        session?.receive(bytes, now: now.monotonic, events: &events)
        handle(events, now)
    }

    func connectionDeadline(_ connection: Connection, now: Now) {
        var events: [LinkEvent] = []
        session?.tick(now: now.monotonic, events: &events)
        handle(events, now)
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        finish(failure(of: connection, reason), now)
        self.connection = nil
    }

    /// Why a connection was closed that the session has not ended.
    private func failure(of connection: Connection, _ reason: CloseReason) -> LinkFailure {
        let words = connection.failure
        switch reason {
        case .connectFailed: return .unreachable(words)
        case .handshakeDeadline: return .handshakeDeadline
        case .handshakeFailed: return .untrusted(words)
        case .slowConsumer: return .queueFull
        default:
            // TLS 1.3 lets a client begin before the server has checked its certificate.
            let isRefused = identity == nil && words.contains("alert")
            return isRefused ? .untrusted(words) : .closed(words.isEmpty ? reason.rawValue : words)
        }
    }

    // MARK: Events of the session

    private func handle(_ events: [LinkEvent], _ now: Now) {
        flush()
        // What follows a hello that was refused is not from a member.
        for event in events where !isEnded {
            switch event {
            case .up(let identity, _):
                self.identity = identity
                upSince = now.monotonic
                connection?.isAnonymous = false
                host?.isUp(self, identity, now)
            case .parcel(let bytes): if let identity { host?.received(bytes, from: identity.node) }
            case .stream(let event): if let identity { host?.happened(event, at: identity.node) }
            case .failed(let failure): fail(failure, now)
            }
        }
    }

    /// Moves the output of the session to the connection, which is flushed at the end of the turn.
    func flush() {
        guard let connection else { return }
        if session?.hasOutput ?? false {
            session?.drain(into: &connection.outbox.bytes)
            connection.setNeedsFlush()
        }
        connection.deadline = session?.nextTick ?? .distantFuture
    }

    private func fail(_ failure: LinkFailure, _ now: Now) {
        finish(failure, now)
        guard let connection else { return }
        switch failure {
        case .silent: connection.abort(.deadPeer)
        case .queueFull: connection.abort(.slowConsumer)
        default: connection.close(failure.closeReason)
        }
    }

    private func finish(_ failure: LinkFailure, _ now: Now) {
        guard !isEnded else { return }
        isEnded = true
        host?.ended(self, failure, now)
    }
}

extension LinkFailure {
    /// What the close of the connection is counted as.
    var closeReason: CloseReason {
        switch self {
        case .unreachable: .connectFailed
        case .untrusted: .handshakeFailed
        case .handshakeDeadline: .handshakeDeadline
        case .notANode, .otherNode, .wrongDirection, .imposter, .otherCluster, .removed: .notAuthorized
        case .noCommonVersion, .invalid: .protocolViolation
        case .refused: .peerEndedStream
        case .silent: .deadPeer
        case .queueFull: .slowConsumer
        case .closed: .peerClosed
        case .replaced: .replacedByNewerLogin
        case .dropped: .systemShutdown
        }
    }
}

extension PaceSettings {
    /// Settings of the connections between nodes.
    static var nodeLinks: PaceSettings {
        var pace = PaceSettings()
        pace.handshakeMilliseconds = Limits.NodeLinks.handshakeMilliseconds
        // The session ends a link before the connection does: it counts the bytes before TLS.
        pace.outboundBytes = Limits.NodeLinks.queueBytes + 2 * Limits.NodeLinks.parcelBytes
        pace.writeMilliseconds = 2 * Limits.NodeLinks.silenceMilliseconds
        pace.anonymousPerAddress = Limits.NodeLinks.strangers
        pace.connections = Limits.NodeLinks.connections
        pace.joinsRecords = true
        return pace
    }
}
