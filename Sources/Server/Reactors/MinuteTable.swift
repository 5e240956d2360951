import Basics

/// Counts per key and minute, for a limited number of keys.
struct MinuteTable<Key: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var minute: Int64 = 0
    private var counts: [Key: Int] = [:]

    /// Creates a table for up to `capacity` keys per minute.
    init(capacity: Int) { self.capacity = capacity }

    /// Increments the count of a key.
    ///
    /// A full table ignores new keys, so that a flood of addresses does not lock out others; keys in the table are still counted.
    mutating func add(_ key: Key, now: Instant) {
        let present = Self.minute(now)
        if minute != present {
            minute = present
            counts.removeAll(keepingCapacity: true)
        }
        guard counts.count < capacity || counts[key] != nil else { return }
        counts[key, default: 0] += 1
    }

    /// Decrements the count of a key in this minute.
    mutating func takeBack(_ key: Key, now: Instant) {
        guard minute == Self.minute(now), let count = counts[key], count > 0 else { return }
        counts[key] = count - 1
    }

    /// The count of a key in this minute.
    func count(of key: Key, now: Instant) -> Int { minute == Self.minute(now) ? counts[key, default: 0] : 0 }

    /// Whether a key has reached a limit in this minute; 0 disables the limit.
    func isFull(_ key: Key, bound: Int, now: Instant) -> Bool {
        bound > 0 && count(of: key, now: now) >= bound
    }

    /// Whether a key has exceeded a limit in this minute; 0 disables the limit.
    func isOver(_ key: Key, bound: Int, now: Instant) -> Bool {
        bound > 0 && count(of: key, now: now) > bound
    }

    private static func minute(_ now: Instant) -> Int64 { now.nanoseconds / 60_000_000_000 }
}
