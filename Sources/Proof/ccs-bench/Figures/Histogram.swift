/// Counts of durations in 32 steps per power of two: about 3 % of precision from a nanosecond to hours.
struct Histogram {
    private static let steps = 32
    private var counts = [UInt32](repeating: 0, count: 60 * 32)
    /// Number of recorded durations.
    private(set) var total = 0

    /// Records a duration in nanoseconds.
    mutating func record(_ nanoseconds: Int64) {
        counts[Self.place(UInt64(max(1, nanoseconds)))] &+= 1
        total += 1
    }

    /// Removes all durations.
    mutating func reset() {
        for at in counts.indices { counts[at] = 0 }
        total = 0
    }

    /// Returns the duration in microseconds that a share of all did not exceed, or `nil` if the histogram is empty.
    func microseconds(at share: Double) -> Double? {
        guard total > 0 else { return nil }
        let wanted = max(1, Int((Double(total) * share).rounded(.up)))
        var seen = 0
        for (at, count) in counts.enumerated() {
            seen += Int(count)
            if seen >= wanted { return Double(Self.value(at)) / 1_000 }
        }
        return nil
    }

    private static func place(_ value: UInt64) -> Int {
        let power = 63 - value.leadingZeroBitCount
        guard power >= 5 else { return Int(value) }
        let step = Int(value >> UInt64(power - 5)) & (steps - 1)
        return min((power - 4) * steps + step, 60 * steps - 1)
    }

    private static func value(_ place: Int) -> UInt64 {
        guard place >= 2 * steps else { return UInt64(place) }
        let power = place / steps + 4
        return UInt64(steps + place % steps) << UInt64(power - 5)
    }
}
