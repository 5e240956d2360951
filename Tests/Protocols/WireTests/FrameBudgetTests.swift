import Basics
import Testing
import Wire

/// The limit on frames that do not advance a request on an HTTP/2 connection, over time.
@Suite struct FrameBudgetTests {
    private func tally(_ idleFrames: Int) -> HTTP2Connection.Tally {
        var tally = HTTP2Connection().takeTally()
        tally.idleFrames = idleFrames
        return tally
    }

    private func time(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: seconds) }

    @Test("a long pause restores no more than the full budget")
    func noCredit() {
        var budget = FrameBudget(now: time(0))
        let quiet = budget.charge(tally(0), now: time(3_600))
        let most = budget.charge(tally(Limits.HTTP2.idleFrames), now: time(3_600))
        let more = budget.charge(tally(1), now: time(3_600))
        #expect(quiet && most && !more)
    }

    @Test("each second is credited once")
    func eachSecondOnce() {
        var budget = FrameBudget(now: time(0))
        let most = budget.charge(tally(Limits.HTTP2.idleFrames), now: time(0))
        var taken: [Bool] = []
        for second in 1...3 {
            taken.append(budget.charge(tally(Limits.HTTP2.idleFramesPerSecond), now: time(second)))
        }
        let more = budget.charge(tally(1), now: time(3))
        #expect(most && taken == [true, true, true] && !more)
    }
}
