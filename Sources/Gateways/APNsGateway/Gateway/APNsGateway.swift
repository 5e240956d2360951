public import Basics
import Delivery

/// Decides which connection carries a delivery to Apple and when, and what Apple's answer means.
///
/// Every delivery gets exactly one answer. What fails is not repeated here, except at once and if Apple has certainly not processed
/// it: the core offers it again. So nothing is lost with the process.
public struct APNsGateway: ~Copyable {
    var settings: APNsSettings
    var directory = CredentialDirectory()
    /// All pools, also those of removed credentials until their last connection is closed.
    var pools: [Pool] = []
    var pending = PendingDeliveries()
    /// For each device token with an unanswered delivery, those that wait for it. One is in flight, or waits for a connection.
    var lanes: [LaneKey: PendingQueue] = [:]
    let laneHash: SipHash
    /// Now-or-never messages that are sent again in a moment, in the order of that.
    var paused = PendingQueue()
    var guards = MassDeathGuards()
    var random: SeededRandom
    /// The pool of each connection.
    var owners: [APNsConnectionID: Pool] = [:]
    private var lastConnection: UInt64 = 0
    /// Pending deliveries to be queued before the event is done, and whether as the first.
    var ready: [(index: Int32, isFirst: Bool)] = []
    /// Pools to be served before the event is done.
    private var marked: [Pool] = []
    /// When what is still in flight is given up. `nil` unless the server stops.
    var drainEnds: Instant?

    /// Creates a gateway without credentials. The seed is for the jitter of waits, and for a table whose keys app servers choose.
    public init(settings: APNsSettings, seed: UInt64) {
        self.settings = settings
        random = SeededRandom(seed: seed)
        laneHash = SipHash(key: (seed, ~seed))
    }

    /// Processes one event. The effects are appended.
    public mutating func handle(_ event: consuming APNsEvent, now: Now, effects: inout APNsEffects) {
        switch event {
        case .deliver(let delivery): deliver(delivery, now, &effects)
        case .answered(let connection, let number, let answer):
            answered(connection, number, answer, now, &effects)
        case .failed(let connection, let number, let failure):
            failed(connection, number, failure, now, &effects)
        case .unsent(let connection, let number): unsent(connection, number, now, &effects)
        case .streams(let id, let available):
            guard let pool = owners[id], let connection = pool[id] else { break }
            connection.reported(available: available)
            mark(pool)
        case .opened(let id):
            guard let pool = owners[id], let connection = pool[id] else { break }
            connection.opened(now.monotonic)
            mark(pool)
        case .openFailed(let id, let failure): openFailed(id, failure, now, &effects)
        case .leaving(let id, let reason): leaving(id, reason, now, &effects)
        case .closed(let id): closed(id, now, &effects)
        case .minted(let id, let token, let at):
            guard let entry = directory.entry(id), entry.clock.minted(token, issuedAt: at, now: now) else {
                break
            }
            for pool in entry.pools { mark(pool) }
        case .credentials(let credentials): replaceCredentials(credentials, now, &effects)
        case .settings(let settings): self.settings = settings
        case .tick: tick(now, &effects)
        case .drain: drain(now, &effects)
        }
        processReady(now, &effects)
    }

    /// When the next tick is due: soon while deliveries are unanswered.
    public func nextTick(_ now: Now) -> Instant {
        let isBusy = pending.count > 0 || drainEnds != nil || pools.contains(where: \.isConnecting)
        return now.monotonic.advanced(
            milliseconds: isBusy
                ? Limits.APNsGateway.tickMilliseconds : Limits.APNsGateway.idleTickMilliseconds)
    }

    /// Deliveries without an answer.
    public var unanswered: Int { pending.count }

    /// Whether the server may stop: everything is answered and closed.
    public var isDrained: Bool { drainEnds != nil && pending.count == 0 && owners.isEmpty }

    /// Has a pool served before the event is done.
    mutating func mark(_ pool: Pool) {
        guard !pool.isMarked else { return }
        pool.isMarked = true
        marked.append(pool)
    }

    /// Does what the event has made possible. Each round answers, queues or sends a delivery, so it ends.
    private mutating func processReady(_ now: Now, _ effects: inout APNsEffects) {
        while true {
            if let (index, isFirst) = ready.popLast() {
                enqueue(index, isFirst: isFirst, now, &effects)
            } else if let pool = marked.popLast() {
                pool.isMarked = false
                serve(pool, now, &effects)
            } else {
                return
            }
        }
    }

    /// Opens a connection of a pool.
    mutating func open(_ pool: Pool, _ now: Now, _ effects: inout APNsEffects) {
        lastConnection += 1
        let id = APNsConnectionID(lastConnection)
        pool.add(
            PoolConnection(id: id, startsAlone: pool.entry.credential.isKey, now: now.monotonic),
            now.monotonic)
        owners[id] = pool
        effects.opens.append((id, pool.endpoint))
    }
}

extension Pool {
    var endpoint: APNsEndpoint { APNsEndpoint(credential: entry.credential.id, environment: environment) }
}
