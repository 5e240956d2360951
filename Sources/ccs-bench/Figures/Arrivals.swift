import Basics
import Glibc

/// When messages of an open loop are due: a Poisson process, whose next message does not wait for any answer.
///
/// Times are nanoseconds of the monotonic clock. The same seed gives the same times.
struct Arrivals {
    private let meanNanoseconds: Double
    private var random: SeededRandom
    /// Kept as a fraction: rounding each step would change the rate.
    private var time: Double
    /// Nanoseconds since the begin at which the next message is due; the begin itself is kept apart, since a Double has too
    /// few digits for both.
    private let start: Int64

    /// So many messages a second (more than 0) from `start` on.
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

    /// Takes the next message that is due by now; nil: none is.
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
