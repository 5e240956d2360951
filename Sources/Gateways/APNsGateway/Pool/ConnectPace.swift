import Basics

/// When a pool may open its next connection (apns 1.8): after failures it waits, longer each time; and never too many in a row,
/// because Apple blocks those who connect too often.
struct ConnectPace {
    private static let burst = Rate(
        Limits.APNsGateway.connectBurst, perSeconds: Limits.APNsGateway.connectBurstSeconds)

    private var step = Limits.APNsGateway.connectMilliseconds
    private var notBefore = Instant.distantPast
    private var bucket = TokenBucket()

    /// Whether a connection may be opened now.
    func allows(_ now: Instant) -> Bool { notBefore <= now && bucket.allows(Self.burst, now: now) }

    /// Milliseconds until one may be opened.
    func wait(_ now: Instant) -> Int64 {
        max(0, max(notBefore, bucket.next(Self.burst, now: now)).milliseconds(since: now))
    }

    /// Counts a connection that is being opened.
    mutating func started(_ now: Instant) { bucket.consume(Self.burst, now: now) }

    /// A connection could not be opened, or ended before Apple accepted a request.
    mutating func failed(_ now: Instant, _ random: inout SeededRandom) {
        notBefore = now.advanced(milliseconds: step + Int64.random(in: 0...step / 5, using: &random))
        step = min(step * 2, Limits.APNsGateway.longestConnectMilliseconds)
    }

    /// Apple has accepted a request.
    mutating func succeeded() {
        guard step != Limits.APNsGateway.connectMilliseconds else { return }
        step = Limits.APNsGateway.connectMilliseconds
        notBefore = .distantPast
    }
}
