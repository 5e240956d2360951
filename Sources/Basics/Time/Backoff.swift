/// Waits between attempts that grow twofold up to a ceiling, each drawn between half and the whole of its step.
///
/// The jitter keeps many clients that lost the same server from coming back in step.
public struct Backoff: Sendable {
    private let floor: Int64
    private let ceiling: Int64
    private var step: Int64
    private var random: SeededRandom

    /// Begins at `floorMilliseconds` (at least 1) and never waits longer than `ceilingMilliseconds`.
    public init(floorMilliseconds: Int64, ceilingMilliseconds: Int64, seed: UInt64) {
        floor = max(1, floorMilliseconds)
        ceiling = max(floor, ceilingMilliseconds)
        step = floor
        random = SeededRandom(seed: seed)
    }

    /// Milliseconds to wait before the next attempt.
    public mutating func next() -> Int64 {
        let wait = Int64.random(in: step - step / 2...step, using: &random)
        step = step > ceiling / 2 ? ceiling : step * 2
        return wait
    }

    /// An attempt succeeded: the next failure begins at the floor again.
    public mutating func reset() { step = floor }
}
