public import Basics

/// How much a peer may send on an HTTP/2 connection that brings no request on: so much at once, some more with time, and some
/// more with each answer, since a client reports what it has read.
public struct FrameBudget {
    private var spent = 0
    private var resets = TokenBucket()
    private var since: Instant

    /// The whole budget.
    public init(now: Instant) { since = now }

    /// Notes what has happened; false once it is more than any client has reason to send.
    public mutating func take(_ tally: HTTP2Connection.Tally, now: Instant) -> Bool {
        let seconds = Int(now.milliseconds(since: since) / 1_000)
        since = since.advanced(seconds: seconds)
        let earned =
            seconds * Limits.HTTP2.idleFramesPerSecond + tally.answers * Limits.HTTP2.idleFramesPerAnswer
        spent = max(0, spent - earned) + tally.idleFrames
        let rate = Rate(Limits.HTTP2.resets, perSeconds: Limits.HTTP2.resetSeconds)
        for _ in 0..<tally.resets {
            guard resets.allows(rate, now: now) else { return false }
            resets.take(rate, now: now)
        }
        return spent <= Limits.HTTP2.idleFrames
    }
}
