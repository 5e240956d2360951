/// The start times of what ends in one turn, so that one reading of the clock at the end of the turn measures all durations.
///
/// What started in the same turn has the same time and shares an entry. It is emptied every turn, so it has at most an entry for
/// each message of the turn.
public struct StartTimes: Sendable {
    private var entries: [(start: Instant, count: Int)] = []

    /// Creates an empty list.
    public init() {}

    /// Whether nothing has ended.
    public var isEmpty: Bool { entries.isEmpty }

    /// Adds `count` things that started at an instant.
    @inline(__always)
    public mutating func add(_ start: Instant, count: Int = 1) {
        let last = entries.count &- 1
        if last >= 0, entries[last].start == start {
            entries[last].count &+= count
        } else {
            entries.append((start, count))
        }
    }

    /// Moves the entries of another list to this one.
    public mutating func move(from other: inout StartTimes) {
        for entry in other.entries { add(entry.start, count: entry.count) }
        other.entries.removeAll(keepingCapacity: true)
    }

    /// Removes the entries and passes each to `body`, with the microseconds until `end`.
    public mutating func end(at end: Instant, _ body: (_ microseconds: Int, _ count: Int) -> Void) {
        for entry in entries {
            let span = end.nanoseconds.subtractingReportingOverflow(entry.start.nanoseconds)
            // A clock that stands still or a time of the next turn must not become a negative duration.
            body(span.overflow ? 0 : Int(max(0, span.partialValue) / 1_000), entry.count)
        }
        entries.removeAll(keepingCapacity: true)
    }
}

extension MetricShard {
    /// Adds the durations from the start times until `end` to a histogram, and empties the list.
    public func observe(
        _ times: inout StartTimes, until end: Instant, in metric: Metric, _ first: Int = 0, _ second: Int = 0
    ) {
        guard !times.isEmpty else { return }
        times.end(at: end) { microseconds, count in
            observe(microseconds: microseconds, in: metric, first, second, count: count)
        }
    }
}
