import Basics

/// Which server is tried next, and when: the preferred ones, then the others, both in random order, then a wait, then all again. While
/// another one is used, it decides when a return to a preferred one is tried.
struct ServerRotation {
    /// What to do.
    enum Step: Hashable {
        case connect(NATSServerAddress)
        case wait(milliseconds: Int64)
    }

    /// None, if all would be.
    private let preferred: [NATSServerAddress]
    private let others: [NATSServerAddress]
    private var remaining: [NATSServerAddress] = []
    private var random: SeededRandom
    private var backoff: Backoff
    private var isInRound = false
    /// The connection, and whether it is a return.
    private var current: (server: NATSServerAddress, since: Instant, isReturn: Bool)?
    private var returnPause = Limits.NATSConnection.returnMilliseconds
    /// When a return is tried.
    private(set) var returnAt = Instant.distantFuture

    init(servers: [NATSServerAddress], preferred: Set<NATSServerAddress> = [], seed: UInt64) {
        precondition(
            (1...Limits.NATSConnection.servers).contains(servers.count),
            "a client of NATS has no server, or too many")
        let others = servers.filter { !preferred.contains($0) }
        self.others = others.isEmpty ? servers : others
        self.preferred = others.isEmpty ? [] : servers.filter { preferred.contains($0) }
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
    mutating func connected(to server: NATSServerAddress, isReturn: Bool = false, now: Instant) {
        current = (server, now, isReturn)
        let isHome = preferred.isEmpty || preferred.contains(server)
        returnAt = isHome ? .distantFuture : now.advanced(milliseconds: returnPause)
    }

    /// A connection has ended after its login: the other servers are tried first, at once if it has lasted.
    mutating func lost(now: Instant) {
        guard let lasted = end(now) else { return }
        guard lasted >= Limits.NATSConnection.steadyMilliseconds else {
            // A server that accepts and soon closes must not be asked in a loop.
            remaining = []
            return
        }
        backoff.reset()
    }

    /// The owner has left a server: the others are tried first, at once. The owner limits how often that happens.
    mutating func left(now: Instant) { _ = end(now) }

    /// Ends the connection. Returns how many milliseconds it has lasted.
    private mutating func end(_ now: Instant) -> Int64? {
        guard let (server, since, isReturn) = current else { return nil }
        (current, returnAt) = (nil, .distantFuture)
        begin(last: server)
        let lasted = now.milliseconds(since: since)
        if preferred.contains(server), lasted >= Limits.NATSConnection.steadyReturnMilliseconds {
            returnPause = Limits.NATSConnection.returnMilliseconds
        } else if isReturn {
            delayReturns()
        }
        return lasted
    }

    private mutating func begin(last: NATSServerAddress?) {
        // From the end.
        remaining = others.shuffled(using: &random) + preferred.shuffled(using: &random)
        isInRound = true
        guard let last, let at = remaining.firstIndex(of: last) else { return }
        remaining.insert(remaining.remove(at: at), at: 0)
    }

    // MARK: Returns

    /// The preferred server to which a return is tried now. `nil` if that is not due. `returnFailed` or the end of the connection
    /// follows, or `connected`.
    mutating func returnTarget(now: Instant) -> NATSServerAddress? {
        guard returnAt <= now else { return nil }
        returnAt = .distantFuture
        return preferred.randomElement(using: &random)
    }

    /// A return has failed: the next one is tried later.
    mutating func returnFailed(now: Instant) {
        delayReturns()
        returnAt = now.advanced(milliseconds: returnPause)
    }

    private mutating func delayReturns() {
        returnPause = min(returnPause * 2, Limits.NATSConnection.longestReturnMilliseconds)
    }
}
