import Basics

/// How many requests an endpoint gets: all that are allowed while it works, none during a pause, then one at a time until it works again.
struct EndpointPace {
    /// Whether the endpoint works.
    enum State: Equatable {
        /// It gets requests.
        case open
        /// It gets none until then.
        case paused(until: Instant)
        /// The request of this number shows whether it works again.
        case probing(UInt64)
        /// It has answered 410; when that was last reported.
        case gone(reportedAt: Instant)
    }

    private(set) var state = State.open
    /// Failures since the last success.
    private(set) var failuresInRow = 0
    private var backoff: Backoff

    init(seed: UInt64) {
        backoff = Backoff(
            minimumMilliseconds: Limits.Webhook.pauseMilliseconds,
            maximumMilliseconds: Limits.Webhook.longestPauseMilliseconds, seed: seed)
    }

    /// Returns how many requests may be in flight.
    func allowed(_ now: Instant) -> Int {
        switch state {
        case .open: Limits.Webhook.requestsPerSender
        case .paused(let until): until <= now ? 1 : 0
        case .probing: 1
        case .gone: 0
        }
    }

    /// Notes that a request starts. The first one after a pause is a probe.
    mutating func started(_ request: UInt64) {
        if case .paused = state { state = .probing(request) }
    }

    /// Notes that a request ended without showing anything. Returns to the end of the pause if it was the probe.
    mutating func aborted(_ request: UInt64, _ now: Instant) {
        if state == .probing(request) { state = .paused(until: now) }
    }

    /// Notes an acknowledgement. Returns whether it ends a pause.
    mutating func succeeded() -> Bool {
        failuresInRow = 0
        if case .gone = state { return false }
        let wasPaused = state != .open
        backoff.reset()
        state = .open
        return wasPaused
    }

    /// Notes a failure. `retryAfter` is what the endpoint asks for, in seconds. Returns the milliseconds of the pause that begins;
    /// `nil` if none does.
    mutating func failed(_ request: UInt64, retryAfter: Int?, _ now: Instant) -> Int64? {
        failuresInRow += 1
        let wish = Int64(min(max(retryAfter ?? 0, 0), Limits.Webhook.retryAfterSeconds)) * 1_000
        switch state {
        case .gone: return nil
        case .paused(let until):
            // It was in flight when the pause began.
            state = .paused(until: max(until, now.advanced(milliseconds: wish)))
            return nil
        case .probing(let probe):
            guard probe == request else { return nil }
        case .open:
            guard failuresInRow >= Limits.Webhook.failuresBeforePause || wish > 0 else { return nil }
        }
        let pause = max(backoff.next(), wish)
        state = .paused(until: now.advanced(milliseconds: pause))
        return pause
    }

    /// Notes that the endpoint has answered 410.
    mutating func ended(_ now: Instant) {
        failuresInRow += 1
        state = .gone(reportedAt: now)
    }

    /// Returns whether 410 is to be reported again, because that could not be recorded.
    mutating func reportsAgain(_ now: Instant) -> Bool {
        guard case .gone(let at) = state,
            now.milliseconds(since: at) >= Limits.Webhook.goneAgainMilliseconds
        else { return false }
        state = .gone(reportedAt: now)
        return true
    }
}
