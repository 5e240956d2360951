import Basics

/// A reference implementation of a rate: a burst that refills evenly. It counts up, unlike the core's.
struct ReferenceBucket {
    private let rate: Rate
    /// Nanoseconds' worth of messages that are allowed; the full burst at first.
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

    /// Returns whether one more is allowed now.
    mutating func allows(now: Instant) -> Bool {
        let cost = Self.cost(of: rate)
        level = min(level + now.nanoseconds - at.nanoseconds, cost * Int64(rate.burst))
        at = now
        return level >= cost
    }

    /// Counts one. Returns whether it was allowed.
    mutating func consume(now: Instant) -> Bool {
        let isAllowed = allows(now: now)
        level = max(0, level - Self.cost(of: rate))
        return isAllowed
    }
}

/// One bucket per key; does nothing if the rate is unlimited.
struct ReferenceBuckets<Key: Hashable> {
    private let rate: Rate
    private var buckets: [Key: ReferenceBucket] = [:]

    init(_ rate: Rate) { self.rate = rate }

    /// Returns whether one more is allowed now.
    mutating func allows(_ key: Key, now: Instant) -> Bool {
        guard rate.isLimited else { return true }
        return buckets[key, default: ReferenceBucket(rate, now: now)].allows(now: now)
    }

    /// Refills the bucket of a key.
    mutating func forget(_ key: Key) { buckets[key] = nil }

    /// Counts one. Returns whether it was allowed.
    mutating func consume(_ key: Key, now: Instant) -> Bool {
        guard rate.isLimited else { return true }
        return buckets[key, default: ReferenceBucket(rate, now: now)].consume(now: now)
    }
}
