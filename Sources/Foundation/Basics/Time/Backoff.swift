/// Waits between attempts that double up to a maximum, each drawn between half and the whole of its step.
///
/// The jitter keeps clients that lost the same server from returning at the same time.
public struct Backoff: Sendable {
    private let minimum: Int64
    private let maximum: Int64
    private var step: Int64
    private var random: SeededRandom

    /// Starts at `minimumMilliseconds` (at least 1) and never exceeds `maximumMilliseconds`.
    public init(minimumMilliseconds: Int64, maximumMilliseconds: Int64, seed: UInt64) {
        minimum = max(1, minimumMilliseconds)
        maximum = max(minimum, maximumMilliseconds)
        step = minimum
        random = SeededRandom(seed: seed)
    }

    /// Returns the milliseconds to wait before the next attempt, and advances to the next step.
    public mutating func next() -> Int64 {
        let wait = Int64.random(in: step - step / 2...step, using: &random)
        step = step > maximum / 2 ? maximum : step * 2
        return wait
    }

    /// Starts at the minimum again, after a successful attempt.
    public mutating func reset() { step = minimum }
}
