import Basics

/// Which server is tried next, and when: all in random order, then a wait, then all again.
struct ServerRotation {
    /// What to do.
    enum Step: Hashable {
        case connect(NATSServerAddress)
        case wait(milliseconds: Int64)
    }

    private let servers: [NATSServerAddress]
    private var remaining: [NATSServerAddress] = []
    private var random: SeededRandom
    private var backoff: Backoff
    private var isInRound = false
    private var connectedAt: Instant?

    init(servers: [NATSServerAddress], seed: UInt64) {
        precondition(
            (1...Limits.NATSConnection.servers).contains(servers.count),
            "a client of NATS has no server, or too many")
        self.servers = servers
        random = SeededRandom(seed: seed)
        backoff = Backoff(
            minimumMilliseconds: Limits.NATSConnection.retryMilliseconds,
            maximumMilliseconds: Limits.NATSConnection.longestRetryMilliseconds, seed: seed &+ 1)
    }

    /// The next step after a start, a failed attempt, or a wait.
    mutating func next() -> Step {
        if !isInRound { begin(last: nil) }
        if let server = remaining.popLast() { return .connect(server) }
        isInRound = false
        return .wait(milliseconds: backoff.next())
    }

    /// A login has succeeded.
    mutating func connected(now: Instant) { connectedAt = now }

    /// A connection has ended after its login: the other servers are tried first, at once if it has lasted.
    mutating func lost(_ server: NATSServerAddress, now: Instant) {
        guard let since = connectedAt else { return }
        connectedAt = nil
        begin(last: server)
        guard now.milliseconds(since: since) >= Limits.NATSConnection.steadyMilliseconds else {
            // A server that accepts and soon closes must not be asked in a loop.
            remaining = []
            return
        }
        backoff.reset()
    }

    /// The owner has left a server: the others are tried first, at once. The owner limits how often that happens.
    mutating func left(_ server: NATSServerAddress) {
        connectedAt = nil
        begin(last: server)
    }

    private mutating func begin(last: NATSServerAddress?) {
        remaining = servers.shuffled(using: &random)
        isInRound = true
        guard let last, let at = remaining.firstIndex(of: last) else { return }
        remaining.insert(remaining.remove(at: at), at: 0)
    }
}
