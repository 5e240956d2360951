/// Decides which occurrences of a failing event are reported: the first at once, the following ones together at fixed intervals.
///
/// It is a value without a clock, so that a test can run ten minutes in no time. `Note` is what the caller wants back when a
/// report of held occurrences is due. Keys are bounded: while `capacity` of them are remembered, further ones share one place.
public struct RepeatedEvents<Note: Sendable>: Sendable {
    /// What becomes of one occurrence.
    public enum Verdict: Sendable, Equatable {
        /// It is the first in a while: report it.
        case report
        /// Report it together with the ones that were held: occurrences since the last report, this one included.
        case reportRepeated(Int)
        /// It is counted; a later report includes it.
        case hold
    }

    /// Occurrences that were held, of one key.
    public struct Due: Sendable {
        /// What the caller gave with the last of them.
        public var note: Note
        /// Occurrences since the last report.
        public var count: Int
        /// When the last of them was, milliseconds since 1970.
        public var lastAt: UnixMilliseconds
    }

    struct Entry: Sendable {
        var reportedAt: Instant
        /// Seconds from one report to the next.
        var interval: Int
        var held = 0
        var note: Note
        var lastAt: UnixMilliseconds
    }

    private let capacity: Int
    private(set) var entries: [String: Entry] = [:]

    /// The place of keys for which there is no room.
    private static var others: String { "\u{0}" }

    /// Remembers `capacity` keys.
    public init(capacity: Int = Limits.Log.repeatedEventsRemembered) { self.capacity = capacity }

    /// Counts `occurrences` of an event, which is reported every `seconds`, and returns what becomes of them.
    public mutating func add(
        _ key: String, _ note: Note, occurrences: Int = 1,
        every seconds: Int = Limits.Log.repeatedEventSeconds,
        now: Now
    ) -> Verdict {
        let key = place(of: key, now.monotonic)
        guard var entry = entries[key] else {
            entries[key] = Entry(
                reportedAt: now.monotonic, interval: seconds, note: note, lastAt: now.wall)
            return occurrences == 1 ? .report : .reportRepeated(occurrences)
        }
        defer { entries[key] = entry }
        entry.note = note
        entry.lastAt = now.wall
        guard isDue(entry, now.monotonic) else {
            entry.held += occurrences
            return .hold
        }
        let count = entry.held + occurrences
        entry.held = 0
        entry.reportedAt = now.monotonic
        return count == 1 ? .report : .reportRepeated(count)
    }

    /// Returns what is to be reported although nothing has happened anew, and forgets keys that have been quiet.
    public mutating func takeDue(now: Instant) -> [Due] {
        var due: [(key: String, due: Due)] = []
        for (key, entry) in entries where isDue(entry, now) {
            guard entry.held > 0 else {
                entries[key] = nil
                continue
            }
            due.append((key, Due(note: entry.note, count: entry.held, lastAt: entry.lastAt)))
            entries[key]?.held = 0
            entries[key]?.reportedAt = now
        }
        return due.sorted { ($0.due.lastAt, $0.key) < ($1.due.lastAt, $1.key) }.map(\.due)
    }

    private func isDue(_ entry: Entry, _ now: Instant) -> Bool {
        now >= entry.reportedAt.advanced(seconds: entry.interval)
    }

    private mutating func place(of key: String, _ now: Instant) -> String {
        guard entries[key] == nil, entries.count >= capacity else { return key }
        for (known, entry) in entries where entry.held == 0 && isDue(entry, now) { entries[known] = nil }
        return entries.count < capacity ? key : Self.others
    }
}
