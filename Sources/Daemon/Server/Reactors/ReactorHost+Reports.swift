import Basics
import Transport

/// How many connections a reactor has and could have.
struct ConnectionRoom: Sendable {
    var open: Int
    /// What the file descriptors allow.
    var limit: Int
    /// When a connection was last refused for lack of a descriptor; `nil` if none was.
    var lastRefusal: Instant?
}

/// The log lines for reports of the reactor.
extension ReactorHost {
    /// The connections that the host has and could have, for `ccsctl health`.
    var room: ConnectionRoom {
        ConnectionRoom(
            open: reactor.connectionCount, limit: reactor.connectionLimit, lastRefusal: lastDescriptorRefusal)
    }

    /// Logs a report.
    func write(_ report: TransportReport) {
        noteRefusal(report)
        switch report {
        case .acceptFailed(let listener, _, let code, let dropped):
            log.repeating(
                .error, "accept_failed", by: "\(listener.rawValue) \(code)",
                ["listener": LogValue(listener), "errno": LogValue(code), "dropped": LogValue(dropped)])
        case .acceptResumed(let listener):
            log.repeating(
                .notice, "accept_resumed", by: listener.rawValue, ["listener": LogValue(listener)])
        case .refused(let listener, let peer, let reason):
            logRefusal(of: peer, listener: listener.rawValue, reason: reason.rawValue)
        }
    }

    private func noteRefusal(_ report: TransportReport) {
        switch report {
        case .acceptFailed(_, .noDescriptor, _, _), .refused(_, _, .noDescriptor),
            .refused(_, _, .reactorFull):
            lastDescriptorRefusal = reactor.now.monotonic
        case .acceptFailed, .refused, .acceptResumed: break
        }
    }

    /// Logs that an address is refused: at once, then once a minute with the number of refusals since the last line.
    func logRefusal(of peer: SocketAddress, listener: String, reason: String) {
        log.repeating(
            .warning, "connection_refused", by: "\(listener) \(reason) \((peer.network ?? peer).host)",
            every: Limits.Login.refusalLogSeconds,
            ["listener": .text(listener), "peer": .text("\(peer)"), "reason": .text(reason)])
    }

    /// Logs a mistake in the settings of a client whose handshake has failed: at once, then with the number of further ones.
    func noteProblem(of link: Link) {
        guard let problem = HandshakeProblem(failure: link.connection.failure) else { return }
        log.repeating(
            .notice, "handshake_failed", by: "\(link.kind) \(problem.rawValue)",
            [
                "listener": LogValue(link.kind), "peer": .text("\(link.connection.peer)"),
                "reason": .text(problem.rawValue), "problem": .text(problem.advice),
            ])
    }
}
