import Basics

/// A credential, or one of its topics, that Apple refuses: one request is tried from time to time, all others fail at once.
///
/// So an operator's mistake costs Apple one request per minute, later one per hour, and is noticed as mended by itself.
struct RefusalState {
    /// Apple's last verdict. `nil` if the connection itself was refused.
    private(set) var verdict: APNsVerdict?
    /// Whether the clock of this server is the likely cause, not the credential.
    private(set) var isClock: Bool
    private var step = Limits.APNsGateway.probeSeconds
    private var nextProbe: Instant

    init(_ verdict: APNsVerdict?, isClock: Bool = false, now: Instant) {
        self.verdict = verdict
        self.isClock = isClock
        nextProbe = now.advanced(seconds: step)
    }

    /// Whether a request may be tried now.
    func allowsProbe(_ now: Instant) -> Bool { nextProbe <= now }

    /// Notes that a request is tried. Unless Apple refuses it, the next one may follow after the same wait.
    mutating func probe(_ now: Instant) { nextProbe = now.advanced(seconds: step) }

    /// Apple has refused the tried request as well.
    mutating func refusedAgain(_ verdict: APNsVerdict?, isClock: Bool, now: Instant) {
        self.verdict = verdict
        self.isClock = isClock
        let longest =
            isClock ? Limits.APNsGateway.longestClockProbeSeconds : Limits.APNsGateway.longestProbeSeconds
        step = min(step * 2, longest)
        nextProbe = now.advanced(seconds: step)
    }

    /// Milliseconds until the next attempt.
    func wait(_ now: Instant) -> Int64 {
        max(Limits.APNsGateway.laterMilliseconds, nextProbe.milliseconds(since: now))
    }
}
