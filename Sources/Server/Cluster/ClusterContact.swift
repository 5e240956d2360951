import Basics
import Synchronization

/// Whether a node has a connection to the log; any thread may ask.
final class ClusterContact: Sendable {
    /// Since when there is no connection: nanoseconds of the monotonic clock; `connected` while there is one.
    private let lostAt = Atomic<Int64>(.min)
    private static let connected = Int64.max
    /// Another reason for which it accepts no work.
    private let trouble = Mutex<String?>(nil)

    /// Notes that there is a connection.
    func connected() { lostAt.store(Self.connected, ordering: .relaxed) }

    /// Notes that the connection is lost.
    func disconnected(_ now: Instant) { lostAt.store(now.nanoseconds, ordering: .relaxed) }

    /// Notes why the node accepts no work although there is a connection; `nil` if it does.
    func note(trouble: String?) { self.trouble.withLock { $0 = trouble } }

    /// Whether the connection has been lost for so long that this node does not have what has changed since: senders may have been
    /// suspended, and keys revoked.
    func isCutOff(_ now: Instant) -> Bool { lostProblem(now) != nil }

    /// Why the node accepts no work. `nil` while there is a connection, and for a moment after it was lost: another server of the
    /// log usually answers within that.
    func problem(_ now: Instant) -> String? {
        lostProblem(now) ?? trouble.withLock { $0 }
    }

    private func lostProblem(_ now: Instant) -> String? {
        let since = Instant(nanoseconds: lostAt.load(ordering: .relaxed))
        guard since.nanoseconds != Self.connected else { return nil }
        guard since != .distantPast else { return "there is no connection to the log of the cluster yet" }
        let lost = now.milliseconds(since: since)
        guard lost >= Limits.ClusterHost.readyMilliseconds else { return nil }
        return "there has been no connection to the log of the cluster for \(lost / 1_000) s"
    }
}
