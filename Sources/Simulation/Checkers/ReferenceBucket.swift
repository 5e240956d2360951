import Basics

/// A rate as its rule says it: so many at once, which come back evenly. Counted up, unlike the one of the core.
struct ReferenceBucket {
    private let rate: Rate
    /// Nanoseconds' worth of messages that may still come; as many as the whole burst at first.
    private var level: Int64
    private var at: Instant

    init(_ rate: Rate, now: Instant) {
        self.rate = rate
        level = Int64(rate.burst) * Self.cost(of: rate)
        at = now
    }

    private static func cost(of rate: Rate) -> Int64 {
        Int64(rate.seconds) * 1_000_000_000 / Int64(rate.burst)
    }

    /// Whether one more may come now.
    mutating func allows(now: Instant) -> Bool {
        let cost = Self.cost(of: rate)
        level = min(level + now.nanoseconds - at.nanoseconds, cost * Int64(rate.burst))
        at = now
        return level >= cost
    }

    /// One comes now; whether it might.
    mutating func take(now: Instant) -> Bool {
        let isAllowed = allows(now: now)
        level = max(0, level - Self.cost(of: rate))
        return isAllowed
    }
}

/// The rates of many, by what they are counted for; nothing is counted where nothing is bounded.
struct ReferenceBuckets<Key: Hashable> {
    private let rate: Rate
    private var buckets: [Key: ReferenceBucket] = [:]

    init(_ rate: Rate) { self.rate = rate }

    /// Whether one more may come now.
    mutating func allows(_ key: Key, now: Instant) -> Bool {
        guard rate.isLimited else { return true }
        return buckets[key, default: ReferenceBucket(rate, now: now)].allows(now: now)
    }

    /// All that may come at once may come again.
    mutating func forget(_ key: Key) { buckets[key] = nil }

    /// One comes now; whether it might.
    mutating func take(_ key: Key, now: Instant) -> Bool {
        guard rate.isLimited else { return true }
        return buckets[key, default: ReferenceBucket(rate, now: now)].take(now: now)
    }
}
