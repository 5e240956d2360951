public import Basics

/// Whether the log confirms what this node appends, and when another server of it is tried.
///
/// A connection to a server proves little: a server that is cut off from the others accepts appends, and confirms none. What counts are the
/// confirmations. While a single stream elects a leader, those of the others go on.
public struct LogHealth: Sendable {
    private enum State {
        /// Nothing is due, or the log answers.
        case confirming
        /// It has confirmed nothing since; the server is left at a time.
        case unconfirmed(since: Instant, leaves: Instant)
    }

    private var state = State.confirming
    /// Whether there is another server.
    private let canLeave: Bool
    private var pause = Limits.ClusterHost.leaveMilliseconds
    /// The last confirmation of any partition.
    private var confirmedAt = Instant.distantPast

    /// Creates the health of a log that this many servers keep.
    public init(servers: Int) { canLeave = servers > 1 }

    /// Since when the log has confirmed nothing although something is due. `nil` while it confirms. A new connection alone does not end it.
    public var unconfirmedSince: Instant? {
        if case .unconfirmed(let since, _) = state { since } else { nil }
    }

    /// The log has confirmed a frame of this node.
    public mutating func confirmed(_ now: Instant) {
        confirmedAt = now
        recover()
    }

    /// Something of another node has come through the servers: a record or a heartbeat. `isDue`: whether this node waits for the log.
    public mutating func heard(isDue: Bool) {
        // A server without a majority passes on the heartbeats of those who have connected to it.
        if !isDue { recover() }
    }

    private mutating func recover() {
        state = .confirming
        pause = Limits.ClusterHost.leaveMilliseconds
    }

    /// Looks at the log. Returns whether the connection to its server is to be left for another one.
    ///
    /// `dueSince` is since when the first log has not answered what was appended or asked; `nil` if nothing is due.
    public mutating func tick(dueSince: Instant?, now: Instant) -> Bool {
        switch state {
        case .confirming:
            guard let dueSince else { return false }
            let since = max(dueSince, confirmedAt)
            let leaves = since.advanced(milliseconds: Limits.ClusterHost.unconfirmedMilliseconds)
            guard leaves <= now else { return false }
            state = .unconfirmed(since: since, leaves: leaves)
            return tick(dueSince: dueSince, now: now)
        case .unconfirmed(let since, let leaves):
            guard canLeave, leaves <= now else { return false }
            state = .unconfirmed(since: since, leaves: now.advanced(milliseconds: pause))
            pause = min(pause * 2, Limits.ClusterHost.longestLeaveMilliseconds)
            return true
        }
    }
}
