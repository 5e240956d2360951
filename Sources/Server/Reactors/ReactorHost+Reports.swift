import Basics
import Transport

/// The log lines for reports of the reactor.
extension ReactorHost {
    /// Logs a report.
    func write(_ report: TransportReport) {
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

    /// Logs that an address is refused: at once, then once a minute with the number of refusals since the last line.
    func logRefusal(of peer: SocketAddress, listener: String, reason: String) {
        log.repeating(
            .warning, "connection_refused", by: "\(listener) \(reason) \((peer.network ?? peer).host)",
            every: Limits.Login.refusalLogSeconds,
            ["listener": .text(listener), "peer": .text("\(peer)"), "reason": .text(reason)])
    }
}
