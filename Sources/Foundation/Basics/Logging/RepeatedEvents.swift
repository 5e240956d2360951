/// Decides which occurrences of a failing event are reported: the first at once, the following ones together at fixed
/// intervals.
///
/// It has no clock of its own, so that a test can simulate ten minutes at once. `Context` is the caller's value for a report that
/// is due later. The number of keys is bounded: beyond `capacity`, further keys share one entry.
public struct RepeatedEvents<Context: Sendable>: Sendable {
    /// What to do with one occurrence.
    public enum Verdict: Sendable, Equatable {
        /// The first in a while: report it.
        case report
        /// Report it together with the suppressed ones: occurrences since the last report, this one included.
        case reportRepeated(Int)
        /// Only count it; a later report includes it.
        case suppress
    }

    /// Suppressed occurrences of one key.
    public struct Due: Sendable {
        /// The caller's value for the last of them.
        public var context: Context
        /// Occurrences since the last report.
        public var count: Int
        /// Time of the last of them, in milliseconds since 1970.
        public var lastAt: UnixMilliseconds
    }

    struct Entry: Sendable {
        var reportedAt: Instant
        /// Seconds from one report to the next.
        var interval: Int
        var suppressed = 0
        var context: Context
        var lastAt: UnixMilliseconds
    }

    private let capacity: Int
    private(set) var entries: [String: Entry] = [:]

    /// The shared entry of keys beyond `capacity`.
    private static var others: String { "\u{0}" }

    /// Creates a table of up to `capacity` keys.
    public init(capacity: Int = Limits.Log.repeatedEventsRemembered) { self.capacity = capacity }

    /// Counts `occurrences` of an event that is reported every `seconds`, and returns what to do with them.
    public mutating func add(
        _ key: String, _ context: Context, occurrences: Int = 1,
        every seconds: Int = Limits.Log.repeatedEventSeconds,
        now: Now
    ) -> Verdict {
        let key = entryKey(of: key, now.monotonic)
        guard var entry = entries[key] else {
            entries[key] = Entry(
                reportedAt: now.monotonic, interval: seconds, context: context, lastAt: now.wall)
            return occurrences == 1 ? .report : .reportRepeated(occurrences)
        }
        defer { entries[key] = entry }
        entry.context = context
        entry.lastAt = now.wall
        guard isDue(entry, now.monotonic) else {
            entry.suppressed += occurrences
            return .suppress
        }
        let count = entry.suppressed + occurrences
        entry.suppressed = 0
        entry.reportedAt = now.monotonic
        return count == 1 ? .report : .reportRepeated(count)
    }

    /// Removes and returns the reports that are due without a new occurrence, and forgets keys that have been quiet.
    public mutating func removeDue(now: Instant) -> [Due] {
        var due: [(key: String, due: Due)] = []
        for (key, entry) in entries where isDue(entry, now) {
            guard entry.suppressed > 0 else {
                entries[key] = nil
                continue
            }
            due.append((key, Due(context: entry.context, count: entry.suppressed, lastAt: entry.lastAt)))
            entries[key]?.suppressed = 0
            entries[key]?.reportedAt = now
        }
        return due.sorted { ($0.due.lastAt, $0.key) < ($1.due.lastAt, $1.key) }.map(\.due)
    }

    private func isDue(_ entry: Entry, _ now: Instant) -> Bool {
        now >= entry.reportedAt.advanced(seconds: entry.interval)
    }

    private mutating func entryKey(of key: String, _ now: Instant) -> String {
        guard entries[key] == nil, entries.count >= capacity else { return key }
        for (known, entry) in entries where entry.suppressed == 0 && isDue(entry, now) {
            entries[known] = nil
        }
        return entries.count < capacity ? key : Self.others
    }
}
