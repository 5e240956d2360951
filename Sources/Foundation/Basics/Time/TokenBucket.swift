/// A rate limit: a burst of `burst` events, replenished evenly over `seconds`.
public struct Rate: Sendable, Equatable {
    /// Burst size. 0 or less disables the limit.
    public var burst: Int
    /// Seconds in which the whole burst is replenished, 1 or more.
    public var seconds: Int

    public init(_ burst: Int, perSeconds seconds: Int) {
        self.burst = burst
        self.seconds = seconds
    }

    /// No limit.
    public static var unlimited: Rate { Rate(0, perSeconds: 1) }

    /// Whether there is a limit at all.
    public var isLimited: Bool { burst > 0 }

    /// Returns an equal share of the rate for each of `count`: a burst of at least one, and over time no more than the share.
    public func share(of count: Int) -> Rate {
        guard isLimited, count > 1 else { return self }
        let own = max(1, burst / count)
        let time = Double(own) * Double(count) / Double(burst) * Double(seconds)
        return Rate(own, perSeconds: Self.whole(time, .up))
    }

    /// Returns this rate, with burst and rate over time raised to those of `other` if they are lower.
    public func raised(to other: Rate) -> Rate {
        guard isLimited, other.isLimited else { return .unlimited }
        let most = max(burst, other.burst)
        let time = Double(most) / max(perSecond, other.perSecond)
        return Rate(most, perSeconds: Self.whole(time, .down))
    }

    /// Returns the smaller of two rates, for burst and over time.
    public func lowered(to other: Rate) -> Rate {
        guard isLimited, other.isLimited else { return isLimited ? self : other }
        let most = min(burst, other.burst)
        let time = Double(most) / min(perSecond, other.perSecond)
        return Rate(most, perSeconds: Self.whole(time, .up))
    }

    private var perSecond: Double { Double(burst) / Double(max(1, seconds)) }

    /// Rounds to whole seconds, tolerating the error of a floating-point division.
    private static func whole(_ time: Double, _ rule: FloatingPointRoundingRule) -> Int {
        let nearest = time.rounded()
        return max(1, Int(abs(time - nearest) < 0.000_001 ? nearest : time.rounded(rule)))
    }

    /// Nanoseconds in which one event is replenished.
    var interval: Int64 { Int64(max(1, seconds)) * 1_000_000_000 / Int64(max(1, burst)) }
}

/// The state of a rate limit, stored as the one instant at which the bucket is full again.
///
/// The rate is not stored but passed to each call, always the same one until `change`.
public struct TokenBucket: Sendable, Equatable {
    private var fullAt = Instant.distantPast

    /// Creates a full bucket.
    public init() {}

    /// Whether the event is allowed now.
    public func allows(_ rate: Rate, now: Instant) -> Bool { !rate.isLimited || next(rate, now: now) <= now }

    /// Returns when the event is next allowed: an instant that is not later than now if it is allowed at once.
    public func next(_ rate: Rate, now: Instant) -> Instant {
        guard rate.isLimited, fullAt > now else { return now }
        // One token is available as soon as at most `burst - 1` are missing.
        return Instant(nanoseconds: fullAt.nanoseconds &- Int64(rate.burst - 1) &* rate.interval)
    }

    /// Switches to another rate: the number of missing tokens carries over, up to the whole burst.
    public mutating func change(from old: Rate, to new: Rate, now: Instant) {
        guard old != new, fullAt > now else { return }
        guard old.isLimited, new.isLimited else {
            fullAt = .distantPast
            return
        }
        let missing = Double(fullAt.nanoseconds &- now.nanoseconds) / Double(old.interval)
        let time = min(missing, Double(new.burst)) * Double(new.interval)
        fullAt = Instant(nanoseconds: now.nanoseconds &+ Int64(time))
    }

    /// Consumes one token, even if the event was not allowed.
    public mutating func consume(_ rate: Rate, now: Instant) {
        guard rate.isLimited else { return }
        fullAt = Instant(nanoseconds: max(fullAt, now).nanoseconds &+ rate.interval)
    }
}
