/// How often something may happen: so many at once, which come back evenly over a time.
public struct Rate: Sendable, Equatable {
    /// How many may happen at once; 0 or less: as many as like.
    public var burst: Int
    /// Seconds in which the whole burst comes back, 1 or more.
    public var seconds: Int

    /// A rate; both parts are the caller's.
    public init(_ burst: Int, perSeconds seconds: Int) {
        self.burst = burst
        self.seconds = seconds
    }

    /// No bound.
    public static var unlimited: Rate { Rate(0, perSeconds: 1) }

    /// Whether it bounds anything.
    public var isLimited: Bool { burst > 0 }

    /// An equal share of it for each of `count`: at least one at once, and over time no more than the share.
    public func share(of count: Int) -> Rate {
        guard isLimited, count > 1 else { return self }
        let own = max(1, burst / count)
        let time = Double(own) * Double(count) / Double(burst) * Double(seconds)
        return Rate(own, perSeconds: Self.whole(time, .up))
    }

    /// This rate, raised where it allows less than another one does, at once or over time.
    public func raised(to other: Rate) -> Rate {
        guard isLimited, other.isLimited else { return .unlimited }
        let most = max(burst, other.burst)
        let time = Double(most) / max(perSecond, other.perSecond)
        return Rate(most, perSeconds: Self.whole(time, .down))
    }

    /// The smaller of two rates, at once and over time.
    public func lowered(to other: Rate) -> Rate {
        guard isLimited, other.isLimited else { return isLimited ? self : other }
        let most = min(burst, other.burst)
        let time = Double(most) / min(perSecond, other.perSecond)
        return Rate(most, perSeconds: Self.whole(time, .up))
    }

    private var perSecond: Double { Double(burst) / Double(max(1, seconds)) }

    /// Whole seconds, of a time that is a little off where it was divided.
    private static func whole(_ time: Double, _ rule: FloatingPointRoundingRule) -> Int {
        let nearest = time.rounded()
        return max(1, Int(abs(time - nearest) < 0.000_001 ? nearest : time.rounded(rule)))
    }

    /// Nanoseconds in which one comes back.
    var interval: Int64 { Int64(max(1, seconds)) * 1_000_000_000 / Int64(max(1, burst)) }
}

/// What is left of a rate: one instant, that at which nothing will be missing any more.
///
/// The rate is not kept in it but given with each question, always the same one until `change`.
public struct TokenBucket: Sendable, Equatable {
    private var fullAt = Instant.distantPast

    /// A full one.
    public init() {}

    /// Whether it may happen now.
    public func allows(_ rate: Rate, now: Instant) -> Bool { !rate.isLimited || next(rate, now: now) <= now }

    /// When it may happen next: an instant that is not later than now, if it may at once.
    public func next(_ rate: Rate, now: Instant) -> Instant {
        guard rate.isLimited, fullAt > now else { return now }
        // One is there as soon as no more than the others are missing.
        return Instant(nanoseconds: fullAt.nanoseconds &- Int64(rate.burst - 1) &* rate.interval)
    }

    /// Another rate holds from now on: what is missing of the old one is missing of the new one, at most all of it.
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

    /// Notes that it has happened, whether or not it was allowed.
    public mutating func take(_ rate: Rate, now: Instant) {
        guard rate.isLimited else { return }
        fullAt = Instant(nanoseconds: max(fullAt, now).nanoseconds &+ rate.interval)
    }
}
