import Basics
import Delivery

/// The connections of one credential in one environment, and the requests that wait for them (apns 1.8).
final class Pool {
    let entry: CredentialEntry
    let environment: APNsEnvironment
    private(set) var connections: [PoolConnection] = []
    var queue = PendingQueue()
    var pace = ConnectPace()
    /// Set while Apple refuses the credential.
    var refusal: RefusalState?
    /// The topics that Apple refuses.
    var topicRefusals: [[UInt8]: RefusalState] = [:]
    /// Whether Apple has accepted a request of it.
    private(set) var isProven = false
    /// Since when no request of it was accepted, although some should have been. `nil` if all is well.
    private var troubledSince: Instant?
    /// The first and the last failure since a request was accepted: those above, and answers that are not Apple's.
    private var failures: (first: Instant, last: Instant)?
    /// Whether it is in the gateway's list of pools to serve.
    var isMarked = false
    private var busySince: Instant?
    private var quietSince: Instant?

    init(_ entry: CredentialEntry, _ environment: APNsEnvironment) {
        self.entry = entry
        self.environment = environment
    }

    var isConnecting: Bool { connections.contains(where: \.isOpening) }
    var requestsInFlight: Int { connections.reduce(0) { $0 + $1.inFlight } }
    /// Connections that take requests, now or when they are open.
    var usable: Int { connections.count { !$0.isRetiring } }

    subscript(id: APNsConnectionID) -> PoolConnection? { connections.first { $0.id == id } }

    /// Returns the connection for a request: the one with the most free streams, so that the load is spread.
    func connection(for bytes: Int) -> PoolConnection? {
        var best: PoolConnection?
        for connection in connections where connection.hasRoom(for: bytes) {
            if let other = best, other.allowed - other.inFlight >= connection.allowed - connection.inFlight {
                continue
            }
            best = connection
        }
        return best
    }

    /// Whether a request that ended a connection may be sent again at once. If Apple accepted no request on that connection, this one
    /// may be the cause: as the first one of the next connection it would end that too, and no other would ever be sent.
    func allowsResend(after connection: PoolConnection) -> Bool {
        connection.isProven || connections.contains { $0.isOpen && $0.isProven }
    }

    /// Apple has accepted a request.
    func proved() {
        isProven = true
        troubledSince = nil
        failures = nil
        pace.succeeded()
    }

    /// A connection failed before Apple accepted a request, or the credential was refused.
    func troubled(_ now: Instant) {
        troubledSince = troubledSince ?? now
        failed(now)
    }

    /// A request has failed, and not because of itself.
    func failed(_ now: Instant) { failures = (failures?.first ?? now, now) }

    /// For how many seconds no request was accepted, although some should have been. Returns `nil` if all is well, or nothing has failed for
    /// longer than messages wait for their next attempt.
    func failingSeconds(_ now: Instant) -> Int? {
        guard let failures, failures.last.advanced(seconds: Limits.APNsGateway.failureSeconds) > now else {
            return nil
        }
        return Int(now.milliseconds(since: failures.first) / 1_000)
    }

    /// Whether that has lasted so long that nothing is to be expected of the environment.
    func isHopeless(_ now: Instant) -> Bool {
        troubledSince.map { $0.advanced(seconds: Limits.APNsGateway.hopelessSeconds) <= now } ?? false
    }

    func add(_ connection: PoolConnection, _ now: Instant) {
        connections.append(connection)
        pace.started(now)
    }

    func remove(_ connection: PoolConnection) { connections.removeAll { $0 === connection } }

    /// Whether a further connection should be opened: there is none, all are busy, or one is to be replaced.
    func wantsConnection(cap: Int, _ now: Instant) -> Bool {
        guard !isConnecting, !entry.isRemoved else { return false }
        let usable = usable
        if usable == 0 { return !queue.isEmpty }
        if usable < cap, !queue.isEmpty, let busySince,
            busySince.advanced(milliseconds: Limits.APNsGateway.growthMilliseconds) <= now
        {
            return true
        }
        // A day of an unused connection ends with it.
        return connections.contains { $0.isOld(now) } && usable <= cap
    }

    /// Notes how busy the connections are. Call after each change, and with each tick.
    func observe(_ now: Instant) {
        var (open, busy, allowed, inFlight) = (0, 0, 0, 0)
        for connection in connections where !connection.isRetiring {
            open += 1
            if connection.isBusy { busy += 1 }
            allowed += connection.allowed
            inFlight += connection.inFlight
        }
        if open > 0, busy == open { busySince = busySince ?? now } else { busySince = nil }
        let isQuiet =
            open > Limits.APNsGateway.connectionsAfterShrinking
            && inFlight * 100 < allowed * Limits.APNsGateway.shrinkPercent
        if isQuiet { quietSince = quietSince ?? now } else { quietSince = nil }
    }

    /// Returns a connection to take out of use: an old one that has a successor, or the emptiest after ten quiet minutes.
    func retirable(_ now: Instant) -> (connection: PoolConnection, reason: APNsCloseReason)? {
        // The successor must have opened after it.
        if let old = connections.first(where: { $0.isOld(now) }),
            let last = connections.last(where: \.isOpen),
            !last.isOld(now)
        {
            return (old, .rotated)
        }
        guard let quietSince, quietSince.advanced(seconds: Limits.APNsGateway.shrinkSeconds) <= now else {
            return nil
        }
        // Ten more minutes until the next one.
        self.quietSince = now
        return connections.filter(\.isOpen).min { $0.inFlight < $1.inFlight }.map { ($0, .shrunk) }
    }
}
