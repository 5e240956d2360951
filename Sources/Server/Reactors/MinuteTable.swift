import Basics

/// Counts by key, minute by minute, of no more than so many keys.
struct MinuteTable<Key: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var minute: Int64 = 0
    private var counts: [Key: Int] = [:]

    /// Counts up to `capacity` keys in each minute.
    init(capacity: Int) { self.capacity = capacity }

    /// Counts one more of a key.
    ///
    /// A full table takes no new key, so that a flood of addresses refuses no one; those in it are counted on.
    mutating func add(_ key: Key, now: Instant) {
        let present = Self.minute(now)
        if minute != present {
            minute = present
            counts.removeAll(keepingCapacity: true)
        }
        guard counts.count < capacity || counts[key] != nil else { return }
        counts[key, default: 0] += 1
    }

    /// Counts one less, of those of this minute.
    mutating func takeBack(_ key: Key, now: Instant) {
        guard minute == Self.minute(now), let count = counts[key], count > 0 else { return }
        counts[key] = count - 1
    }

    /// How many of a key this minute has had.
    func count(of key: Key, now: Instant) -> Int { minute == Self.minute(now) ? counts[key, default: 0] : 0 }

    /// Whether this minute has had as many of a key as a bound allows; 0 is no bound.
    func isFull(_ key: Key, bound: Int, now: Instant) -> Bool {
        bound > 0 && count(of: key, now: now) >= bound
    }

    private static func minute(_ now: Instant) -> Int64 { now.nanoseconds / 60_000_000_000 }
}
