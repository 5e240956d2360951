import Basics
import Testing
import Wire

/// How much a peer may send on an HTTP/2 connection that brings no request on, as time passes.
@Suite struct FrameBudgetTests {
    private func tally(_ idleFrames: Int) -> HTTP2Connection.Tally {
        var tally = HTTP2Connection().takeTally()
        tally.idleFrames = idleFrames
        return tally
    }

    private func time(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: seconds) }

    @Test("a long silence earns no more than the whole budget")
    func noCredit() {
        var budget = FrameBudget(now: time(0))
        let quiet = budget.take(tally(0), now: time(3_600))
        let most = budget.take(tally(Limits.HTTP2.idleFrames), now: time(3_600))
        let more = budget.take(tally(1), now: time(3_600))
        #expect(quiet && most && !more)
    }

    @Test("each second is earned once")
    func eachSecondOnce() {
        var budget = FrameBudget(now: time(0))
        let most = budget.take(tally(Limits.HTTP2.idleFrames), now: time(0))
        var taken: [Bool] = []
        for second in 1...3 {
            taken.append(budget.take(tally(Limits.HTTP2.idleFramesPerSecond), now: time(second)))
        }
        let more = budget.take(tally(1), now: time(3))
        #expect(most && taken == [true, true, true] && !more)
    }
}
