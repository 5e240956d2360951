import Basics
import Glibc

/// Arrival times of an open loop: a Poisson process, in which a message does not wait for acknowledgements.
///
/// Times are nanoseconds of the monotonic clock. The same seed gives the same times.
struct Arrivals {
    private let meanNanoseconds: Double
    private var random: SeededRandom
    /// Kept as a fraction: rounding each step would change the rate.
    private var time: Double
    /// The start in nanoseconds; `time` is relative to it, since a Double has too few digits for both.
    private let start: Int64

    /// Creates arrivals at `perSecond` (more than 0) messages a second from `start` on.
    init(perSecond: Double, seed: UInt64, from start: Int64) {
        precondition(perSecond > 0, "an open loop needs a rate")
        meanNanoseconds = 1e9 / perSecond
        random = SeededRandom(seed: seed)
        self.start = start
        time = 0
        step()
    }

    /// When the next message is due.
    var upcoming: Int64 { start + Int64(time) }

    /// Returns and removes the next message that is due by `now`, or `nil` if there is none.
    mutating func next(by now: Int64) -> Int64? {
        let due = upcoming
        guard due <= now else { return nil }
        step()
        return due
    }

    private mutating func step() {
        // 53 bits, never 0: its logarithm is finite.
        let share = (Double(random.next() >> 11) + 1) / 9_007_199_254_740_992
        time -= log(share) * meanNanoseconds
    }
}
