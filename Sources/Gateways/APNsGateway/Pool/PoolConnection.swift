import Basics

/// A connection to APNs, as the gateway names it to the shell; never used twice.
public struct APNsConnectionID: Hashable, Sendable {
    /// Counts from 1.
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// Why the gateway takes a connection out of use, or closes it.
public enum APNsCloseReason: String, Sendable, CaseIterable {
    /// Apple has sent GOAWAY.
    case leaving
    /// Apple wants no more provider tokens on it.
    case parked
    /// Apple has refused its provider token, and goes on to do so (apns 1.4).
    case wedged
    /// It has been open for a day.
    case rotated
    /// Few requests are in flight.
    case shrunk
    /// The credential was removed.
    case removed
    /// The server stops.
    case drained
    /// It did not open in time.
    case slow
}

/// One connection of a pool.
final class PoolConnection {
    enum State {
        case opening
        case open
        /// Takes no more requests, and is closed when the last one is answered.
        case retiring(APNsCloseReason)
    }

    let id: APNsConnectionID
    private(set) var state = State.opening
    /// When the state began.
    private(set) var since: Instant
    /// The number of requests in flight that the server allows.
    private(set) var streams = 1
    private(set) var inFlight = 0
    private var bytesInFlight = 0
    private(set) var requests = 0
    /// Whether Apple has accepted a request on it.
    var isProven = false
    /// Whether the first request goes alone: Apple allows one stream until it has accepted a provider token (apns 1.8).
    let startsAlone: Bool
    private var openedAt: Instant
    /// Whether `leavesFirst` has returned true.
    private var hasLeft = false

    init(id: APNsConnectionID, startsAlone: Bool, now: Instant) {
        self.id = id
        self.startsAlone = startsAlone
        since = now
        openedAt = now
    }

    var isOpening: Bool { if case .opening = state { true } else { false } }
    var isOpen: Bool { if case .open = state { true } else { false } }
    var isRetiring: Bool { if case .retiring = state { true } else { false } }

    /// The number of requests that may be in flight now.
    var allowed: Int { startsAlone && !isProven ? min(1, streams) : min(streams, Limits.HTTP2Client.streams) }

    /// Whether a request with this many bytes can be sent now. Bytes in flight are bounded because bodies may wait for the server's
    /// flow control.
    func hasRoom(for bytes: Int) -> Bool {
        isOpen && inFlight < allowed
            && (inFlight == 0 || bytesInFlight + bytes <= Limits.HTTP2Client.unsentBytes)
    }

    /// Whether more than three quarters of its streams are busy; never before the first answer, which the limit of one awaits.
    var isBusy: Bool {
        isOpen && isProven && inFlight * 100 > allowed * Limits.APNsGateway.growthPercent
    }

    /// Whether it has served long enough.
    func isOld(_ now: Instant) -> Bool {
        isOpen
            && (openedAt.advanced(seconds: Limits.APNsGateway.rotationSeconds) <= now
                || requests >= Limits.APNsGateway.rotationRequests)
    }

    func opened(_ now: Instant) {
        guard isOpening else { return }
        state = .open
        since = now
        openedAt = now
    }

    /// The server allows this many requests beyond those in flight. Negative if it allows fewer.
    func reported(available: Int) { streams = max(0, inFlight + available) }

    /// Whether Apple has sent GOAWAY, and this is the first call since then.
    func leavesFirst() -> Bool {
        guard case .retiring(.leaving) = state, !hasLeft else { return false }
        hasLeft = true
        return true
    }

    func retire(_ reason: APNsCloseReason, _ now: Instant) {
        guard !isRetiring else { return }
        state = .retiring(reason)
        since = now
    }

    func sent(bytes: Int) {
        inFlight += 1
        requests += 1
        bytesInFlight += bytes
    }

    func ended(bytes: Int) {
        inFlight -= 1
        bytesInFlight -= bytes
    }
}
