import Basics
import Testing

@testable import ccs_bench

/// When messages are due, and on which lane they are sent.
struct FeederTests {
    /// A lane that the test acknowledges.
    private final class Hand: Lane {
        let window: Int
        var outstanding = 0
        var due: [Int64] = []
        var flushes = 0
        init(window: Int) { self.window = window }
        func send(dueAt time: Int64) {
            outstanding += 1
            due.append(time)
        }
        func flush() { flushes += 1 }
    }

    private static func now(_ nanoseconds: Int64) -> Now {
        Now(monotonic: Instant(nanoseconds: nanoseconds), wall: 0)
    }

    @Test("arrivals have the requested rate and exponential gaps")
    func arrivals() {
        var arrivals = Arrivals(perSecond: 1_000, seed: 7, from: 5_000_000_000)
        var gaps: [Double] = []
        var last: Int64 = 5_000_000_000
        for _ in 0..<100_000 {
            guard let due = arrivals.next(by: .max) else { break }
            gaps.append(Double(due - last))
            last = due
        }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        #expect(abs(mean - 1e6) < 1e4, "a thousand per second")
        // For exponential gaps the deviation equals the mean; for constant gaps it is 0.
        #expect(abs(variance.squareRoot() - mean) < 0.02 * mean)
        #expect(gaps.allSatisfy { $0 >= 0 })
        let short = gaps.count { $0 < 1e6 }
        #expect(abs(Double(short) / Double(gaps.count) - 0.632) < 0.01)
    }

    @Test("no message is due before its time, and times are equal when the seed is the same")
    func due() {
        var one = Arrivals(perSecond: 10, seed: 3, from: 0)
        var two = Arrivals(perSecond: 10, seed: 3, from: 0)
        var other = Arrivals(perSecond: 10, seed: 4, from: 0)
        let first = one.upcoming
        #expect(one.next(by: first - 1) == nil)
        #expect(one.next(by: first) == first)
        #expect(two.next(by: .max) == first)
        #expect(other.next(by: .max) != first)
    }

    @Test("a closed loop keeps every window full, and not beyond its size")
    func window() {
        let counters = LoadCounters()
        let feeder = Feeder(counters)
        let lanes = [Hand(window: 3), Hand(window: 1)]
        for lane in lanes { feeder.add(lane) }
        feeder.begin(.window, seed: 1, now: Self.now(10))
        #expect(lanes.map(\.outstanding) == [3, 1] && counters.sent == 4)
        lanes[0].outstanding -= 2
        feeder.answered(lanes[0], now: Self.now(20))
        #expect(lanes[0].due == [10, 10, 10, 20, 20] && lanes[1].due == [10])
        feeder.end()
        lanes[0].outstanding = 0
        feeder.answered(lanes[0], now: Self.now(30))
        #expect(lanes[0].due.count == 5 && lanes.allSatisfy { $0.flushes > 0 })
    }

    @Test("no more messages are sent than requested, in either loop")
    func limit() {
        for pacing in [Pacing.window, .rate(1_000)] {
            let counters = LoadCounters()
            let feeder = Feeder(counters)
            let lane = Hand(window: 4)
            feeder.add(lane)
            feeder.begin(pacing, limit: 10, seed: 1, now: Self.now(0))
            for _ in 0..<20 {
                feeder.feed(Self.now(10_000_000_000))
                lane.outstanding = 0
                feeder.answered(lane, now: Self.now(10_000_000_000))
            }
            #expect(lane.due.count == 10 && counters.sent == 10)
        }
    }

    @Test(
        "Canary: latency counts from when a message was due, not sent, when a slow server delays an open loop"
    )
    func coordinatedOmission() {
        let counters = LoadCounters()
        let feeder = Feeder(counters)
        let lane = Hand(window: 1)
        feeder.add(lane)
        feeder.begin(.rate(1_000), seed: 1, now: Self.now(0))
        // Ten seconds without an acknowledgement: some ten thousand are due, one has been sent.
        feeder.feed(Self.now(10_000_000_000))
        #expect(lane.due.count == 1)
        var answered = 0
        while lane.outstanding > 0, answered < 20_000 {
            lane.outstanding = 0
            answered += 1
            feeder.answered(lane, now: Self.now(10_000_000_000))
        }
        #expect((9_000...11_000).contains(answered) && counters.sent == answered)
        #expect(lane.due == lane.due.sorted())
        #expect(lane.due.count { $0 < 5_000_000_000 } > 4_000, "their times must be those of the schedule")
        #expect(counters.lag.total == answered && counters.leftOut == 0)
    }

    @Test("lanes of an open loop take turns, and one is skipped when it is full")
    func turns() {
        let feeder = Feeder(LoadCounters())
        let lanes = [Hand(window: 1), Hand(window: 100_000), Hand(window: 100_000)]
        for lane in lanes { feeder.add(lane) }
        feeder.begin(.rate(1_000), seed: 1, now: Self.now(0))
        feeder.feed(Self.now(10_000_000_000))
        #expect(lanes[0].due.count == 1)
        #expect(abs(lanes[1].due.count - lanes[2].due.count) <= 1 && lanes[1].due.count > 4_000)
        #expect(feeder.upcoming.map { $0 > 10_000_000_000 } == true)
        feeder.end()
        #expect(feeder.upcoming == nil)
    }
}
