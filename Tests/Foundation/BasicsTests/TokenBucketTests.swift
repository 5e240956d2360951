import Basics
import Testing

@Suite struct TokenBucketTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    /// Returns how many of `attempts` at one instant are allowed.
    private func burst(_ bucket: inout TokenBucket, _ rate: Rate, at now: Instant, attempts: Int) -> Int {
        var allowed = 0
        for _ in 0..<attempts where bucket.allows(rate, now: now) {
            bucket.consume(rate, now: now)
            allowed += 1
        }
        return allowed
    }

    @Test("A bucket allows its burst, refuses one more, and replenishes each token in its interval")
    func burstAndRefill() {
        let rate = Rate(240, perSeconds: 60)
        var bucket = TokenBucket()
        #expect(burst(&bucket, rate, at: start, attempts: 1_000) == 240)
        #expect(bucket.next(rate, now: start) == start.advanced(milliseconds: 250))
        #expect(!bucket.allows(rate, now: start.advanced(milliseconds: 249)))
        #expect(burst(&bucket, rate, at: start.advanced(milliseconds: 250), attempts: 9) == 1)
        #expect(burst(&bucket, rate, at: start.advanced(milliseconds: 1_250), attempts: 9) == 4)
        #expect(burst(&bucket, rate, at: start.advanced(seconds: 3_600), attempts: 1_000) == 240)
    }

    @Test("A bucket allows one every three minutes when its burst of twenty is used up")
    func collapsible() {
        let rate = Rate(20, perSeconds: 20 * 180)
        var bucket = TokenBucket()
        #expect(burst(&bucket, rate, at: start, attempts: 100) == 20)
        #expect(burst(&bucket, rate, at: start.advanced(seconds: 179), attempts: 100) == 0)
        #expect(burst(&bucket, rate, at: start.advanced(seconds: 180), attempts: 100) == 1)
        #expect(burst(&bucket, rate, at: start.advanced(seconds: 540), attempts: 100) == 2)
    }

    @Test(
        "A bucket allows at most the burst and its replenishment in any hour", arguments: [1, 7, 240, 5_000])
    func longRun(burst: Int) {
        let rate = Rate(burst, perSeconds: 3_600)
        var bucket = TokenBucket()
        var allowed = 0
        for step in 0..<7_200 as Range<Int64> {
            let now = start.advanced(milliseconds: step * 500)
            for _ in 0..<3 where bucket.allows(rate, now: now) {
                bucket.consume(rate, now: now)
                allowed += 1
            }
        }
        #expect(allowed <= 2 * burst && allowed >= 2 * burst - 2)
    }

    @Test("A rate allows everything when it is unlimited, and its share is at least one")
    func unlimited() {
        var bucket = TokenBucket()
        #expect(burst(&bucket, .unlimited, at: start, attempts: 10_000) == 10_000)
        #expect(bucket == TokenBucket())
        #expect(Rate.unlimited.share(of: 4) == .unlimited)
        #expect(Rate(1_000, perSeconds: 60).share(of: 4) == Rate(250, perSeconds: 60))
        #expect(
            Rate(1, perSeconds: 60).share(of: 4) == Rate(1, perSeconds: 240),
            "over time no more than the share")
        #expect(Rate(10, perSeconds: 60).share(of: 4) == Rate(2, perSeconds: 48))
        #expect(Rate(10, perSeconds: 60).share(of: 1) == Rate(10, perSeconds: 60))
    }

    @Test("A bucket keeps its missing tokens, up to the new burst, when the rate changes")
    func changed() {
        let (slow, fast) = (Rate(4, perSeconds: 3_600), Rate(10, perSeconds: 10))
        var bucket = TokenBucket()
        #expect(burst(&bucket, slow, at: start, attempts: 3) == 3)
        bucket.change(from: slow, to: fast, now: start)
        #expect(burst(&bucket, fast, at: start, attempts: 99) == 7)
        #expect(burst(&bucket, fast, at: start.advanced(seconds: 2), attempts: 99) == 2)

        bucket.change(from: fast, to: slow, now: start.advanced(seconds: 2))
        #expect(burst(&bucket, slow, at: start.advanced(seconds: 2), attempts: 9) == 0)
        #expect(
            burst(&bucket, slow, at: start.advanced(seconds: 902), attempts: 9) == 1,
            "no more tokens may be missing")

        bucket.change(from: slow, to: .unlimited, now: start.advanced(seconds: 902))
        bucket.change(from: .unlimited, to: slow, now: start.advanced(seconds: 902))
        #expect(burst(&bucket, slow, at: start.advanced(seconds: 902), attempts: 9) == 4)
    }

    @Test("A bucket does not overflow when the rate changes between extremes")
    func extremeChange() {
        let widest = Rate(10_000, perSeconds: 10_000 * 86_400)
        let highest = Rate(Limits.Message.highestRate, perSeconds: 1)
        var bucket = TokenBucket()
        _ = burst(&bucket, widest, at: start, attempts: 10_000)
        bucket.change(from: widest, to: highest, now: start)
        #expect(bucket.allows(highest, now: start))
        _ = burst(&bucket, highest, at: start, attempts: 20_000)
        bucket.change(from: highest, to: widest, now: start)
        #expect(
            !bucket.allows(widest, now: start) && bucket.allows(widest, now: start.advanced(seconds: 86_400)))
    }

    @Test("Canary: a bucket exceeds its rate when tokens are consumed unchecked")
    func canary() {
        let rate = Rate(2, perSeconds: 2)
        var bucket = TokenBucket()
        for _ in 0..<5 { bucket.consume(rate, now: start) }
        #expect(bucket.next(rate, now: start) == start.advanced(seconds: 4))
    }

    @Test("A combined rate is the larger or smaller of two, for burst and over time")
    func compared() {
        let (burst, pace) = (Rate(100, perSeconds: 100), Rate(10, perSeconds: 2))
        #expect(
            burst.raised(to: pace) == Rate(100, perSeconds: 20)
                && pace.raised(to: burst) == Rate(100, perSeconds: 20))
        #expect(
            burst.lowered(to: pace) == Rate(10, perSeconds: 10)
                && pace.lowered(to: burst) == Rate(10, perSeconds: 10))
        #expect(burst.raised(to: .unlimited) == .unlimited && Rate.unlimited.raised(to: burst) == .unlimited)
        #expect(burst.lowered(to: .unlimited) == burst && Rate.unlimited.lowered(to: burst) == burst)
        let odd = (Rate(7, perSeconds: 3), Rate(5, perSeconds: 2))
        #expect(odd.0.raised(to: odd.1) == Rate(7, perSeconds: 2), "must not be less than either")
        #expect(odd.0.lowered(to: odd.1) == Rate(5, perSeconds: 3), "must not be more than either")
        #expect(Rate(9, perSeconds: 1).raised(to: Rate(3, perSeconds: 1)) == Rate(9, perSeconds: 1))
    }
}
