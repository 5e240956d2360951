import Basics

/// Decides when the provider token of a key is replaced (apns 1.4).
///
/// A token is signed when a request needs it, replaced at the first request after 45 minutes, and never before 20. Its age is
/// measured on the monotonic clock. The wall clock is only compared with it: when it has been set since, the time in the token is
/// doubtful, and the token is replaced as soon as 20 minutes have passed.
struct ProviderTokenClock {
    /// A token and its times.
    struct Current {
        var token: [UInt8]
        /// Distinguishes it from its predecessors.
        var serial: UInt32
        var mintedAt: Instant
        /// The time in the token.
        var issuedAt: UnixMilliseconds
    }

    private(set) var current: Current?
    private var isStale = false
    private var askedAt: Instant?
    private var serials: UInt32 = 0

    /// Returns the token for a request that is sent now, or `nil` if it must wait for one. Sets `mustMint` if one must be signed.
    mutating func use(_ now: Now, mustMint: inout Bool) -> Current? {
        if needsMint(now) {
            let repeatAt = askedAt?.advanced(seconds: Limits.APNsGateway.mintSeconds) ?? .distantPast
            if repeatAt <= now.monotonic {
                askedAt = now.monotonic
                mustMint = true
            }
        }
        guard let current, age(now) < Int64(Limits.APNsGateway.tokenSeconds) * 1_000 else { return nil }
        return current
    }

    /// Accepts a new token with the time in it. Returns false if none was due.
    mutating func minted(_ token: [UInt8], issuedAt: UnixMilliseconds, now: Now) -> Bool {
        guard !token.isEmpty, needsMint(now) else { return false }
        serials &+= 1
        current = Current(token: token, serial: serials, mintedAt: now.monotonic, issuedAt: issuedAt)
        isStale = false
        askedAt = nil
        return true
    }

    /// Apple refused a token as expired. Returns whether that shows a wrong clock: the token is the current one, and young.
    mutating func expired(serial: UInt32, now: Now) -> Bool {
        guard let current, current.serial == serial else { return false }
        isStale = true
        return age(now) < Int64(Limits.APNsGateway.tokenSeconds) * 1_000
    }

    /// The age of the token in milliseconds; 0 if there is none.
    func age(_ now: Now) -> Int64 { current.map { now.monotonic.milliseconds(since: $0.mintedAt) } ?? 0 }

    private func needsMint(_ now: Now) -> Bool {
        guard let current else { return true }
        let age = age(now)
        guard age >= Int64(Limits.APNsGateway.tokenLeastSeconds) * 1_000 else { return false }
        let shift = ((now.wall &- current.issuedAt) &- age).magnitude
        return isStale || age >= Int64(Limits.APNsGateway.tokenRefreshSeconds) * 1_000
            || shift > UInt64(Limits.APNsGateway.clockStepSeconds) * 1_000
    }
}
