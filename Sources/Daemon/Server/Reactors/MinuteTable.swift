import Basics

/// Counts per key in minutes that begin with the first count of each key, for a limited number of keys.
///
/// With minutes of the clock, twice the limit would pass around the turn of a minute.
struct MinuteTable<Key: Hashable & Sendable>: Sendable {
    private struct Minute {
        var end: Instant
        var count = 0
    }

    private let capacity: Int
    private var minutes: [Key: Minute] = [:]
    /// When the ended minutes were last removed, so that a flood of keys does not cause that for each of them.
    private var lastRemoval: Instant?

    /// Creates a table for up to `capacity` keys.
    init(capacity: Int) { self.capacity = capacity }

    /// Increments the count of a key; the first count begins its minute.
    ///
    /// A full table ignores new keys, so that a flood of addresses does not lock out others; keys in the table are still counted.
    mutating func add(_ key: Key, now: Instant) {
        if let minute = minutes[key] {
            minutes[key] =
                minute.end > now
                ? Minute(end: minute.end, count: minute.count + 1)
                : Minute(end: Self.end(from: now), count: 1)
            return
        }
        if minutes.count >= capacity { removeEnded(now) }
        if minutes.count < capacity { minutes[key] = Minute(end: Self.end(from: now), count: 1) }
    }

    /// Decrements the count of a key in its minute.
    mutating func takeBack(_ key: Key, now: Instant) {
        guard let minute = minutes[key], minute.end > now, minute.count > 0 else { return }
        minutes[key]?.count = minute.count - 1
    }

    /// The count of a key in its minute.
    func count(of key: Key, now: Instant) -> Int {
        guard let minute = minutes[key], minute.end > now else { return 0 }
        return minute.count
    }

    /// Whether a key has reached a limit in its minute; 0 disables the limit.
    func isFull(_ key: Key, bound: Int, now: Instant) -> Bool {
        bound > 0 && count(of: key, now: now) >= bound
    }

    /// Whether a key has exceeded a limit in its minute; 0 disables the limit.
    func isOver(_ key: Key, bound: Int, now: Instant) -> Bool {
        bound > 0 && count(of: key, now: now) > bound
    }

    /// Removes the keys whose minutes have ended, at most once a second.
    private mutating func removeEnded(_ now: Instant) {
        if let lastRemoval, now < lastRemoval.advanced(seconds: 1) { return }
        lastRemoval = now
        minutes = minutes.filter { $0.value.end > now }
    }

    private static func end(from now: Instant) -> Instant { now.advanced(seconds: 60) }
}
