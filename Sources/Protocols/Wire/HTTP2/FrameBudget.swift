public import Basics

/// Limits frames that do not advance a request on an HTTP/2 connection: a burst, plus an allowance that grows with time and
/// with each answer, since a client reports what it has read.
public struct FrameBudget {
    private var spent = 0
    private var resets = TokenBucket()
    private var since: Instant

    /// Creates a full budget.
    public init(now: Instant) { since = now }

    /// Charges a tally to the budget. Returns false once it is exceeded, which no legitimate client does.
    public mutating func charge(_ tally: HTTP2Connection.Tally, now: Instant) -> Bool {
        let seconds = Int(now.milliseconds(since: since) / 1_000)
        since = since.advanced(seconds: seconds)
        let earned =
            seconds * Limits.HTTP2.idleFramesPerSecond + tally.answers * Limits.HTTP2.idleFramesPerAnswer
        spent = max(0, spent - earned) + tally.idleFrames
        let rate = Rate(Limits.HTTP2.resets, perSeconds: Limits.HTTP2.resetSeconds)
        for _ in 0..<tally.resets {
            guard resets.allows(rate, now: now) else { return false }
            resets.consume(rate, now: now)
        }
        return spent <= Limits.HTTP2.idleFrames
    }
}
