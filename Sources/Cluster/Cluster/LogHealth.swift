public import Basics

/// Whether the log works as far as this node reaches it, and when another server of it is tried.
///
/// A connection to a server proves little: one that is cut off from the others accepts appends and confirms none, answers reads from
/// what it has, and passes on the heartbeats of the nodes that are connected to it. Two things prove that the log works: an append that is
/// confirmed, and the leader of any stream that was together with a majority a moment ago. While a single stream elects a leader or
/// is gone, those of the others give the proof.
public struct LogHealth: Sendable {
    /// What to do.
    public enum Step: Hashable, Sendable {
        case none
        /// Ask streams whether their leaders have a majority.
        case ask
        /// Leave the server for another one.
        case leave
    }

    private enum State {
        case working
        /// The connection was lost since; what comes after it is still to be proved.
        case doubtful(since: Instant)
        /// Nothing has proved since that the log works; the server is left at a time.
        case failing(since: Instant, leaves: Instant)
    }

    private var state = State.working
    /// Whether there is another server.
    private let canLeave: Bool
    private var pause = Limits.ClusterHost.leaveMilliseconds
    /// When the log was last certain to work.
    private var provedAt = Instant.distantPast
    private var askedAt = Instant.distantPast
    /// Since when this node is connected and nothing is due: then a question is all that can prove that the log works.
    private var idleSince: Instant?

    /// Creates the health of a log that this many servers keep.
    public init(servers: Int) { canLeave = servers > 1 }

    /// Since when nothing has proved that the log works, although something is due or the connection was lost. `nil` while it works. A
    /// new connection alone does not end it.
    public var unprovedSince: Instant? {
        switch state {
        case .working: nil
        case .doubtful(let since), .failing(let since, _): since
        }
    }

    /// The log has confirmed a frame of this node.
    public mutating func confirmed(_ now: Instant) { prove(now) }

    /// The leader of a stream has answered that it was together with a majority at a time.
    public mutating func heard(majorityAt: Instant, now: Instant) {
        guard now.milliseconds(since: majorityAt) < Limits.ClusterHost.unconfirmedMilliseconds else { return }
        prove(majorityAt)
    }

    private mutating func prove(_ time: Instant) {
        provedAt = max(provedAt, time)
        state = .working
        pause = Limits.ClusterHost.leaveMilliseconds
    }

    /// The connection is lost.
    public mutating func disconnected(_ now: Instant) {
        if case .working = state { state = .doubtful(since: now) }
    }

    /// Looks at the log. Returns what to do.
    ///
    /// `dueSince` is since when the first log has not answered what was appended or asked; `nil` if nothing is due: then a proof is asked
    /// for a second after the last one.
    public mutating func tick(dueSince: Instant?, isConnected: Bool, now: Instant) -> Step {
        let since: Instant
        switch state {
        case .working:
            idleSince = dueSince == nil && isConnected ? idleSince ?? now : nil
            let idle = idleSince.map {
                max($0, provedAt).advanced(milliseconds: Limits.ClusterHost.idleMilliseconds)
            }
            guard let due = dueSince ?? idle, due <= now else { return .none }
            since = max(due, provedAt)
        case .doubtful(let doubted): since = doubted
        case .failing(let since, let leaves):
            guard canLeave, isConnected, leaves <= now else { return ask(isConnected, now) }
            state = .failing(since: since, leaves: now.advanced(milliseconds: pause))
            pause = min(pause * 2, Limits.ClusterHost.longestLeaveMilliseconds)
            return .leave
        }
        let silence = now.milliseconds(since: since)
        if silence >= Limits.ClusterHost.unconfirmedMilliseconds {
            state = .failing(since: since, leaves: now)
            return tick(dueSince: dueSince, isConnected: isConnected, now: now)
        }
        let isLate = silence >= Limits.ClusterHost.askMilliseconds
        return isLate || dueSince == nil ? ask(isConnected, now) : .none
    }

    private mutating func ask(_ isConnected: Bool, _ now: Instant) -> Step {
        guard isConnected, now.milliseconds(since: askedAt) >= Limits.ClusterHost.askMilliseconds else {
            return .none
        }
        askedAt = now
        return .ask
    }
}
