import Basics
import Testing

@Suite struct BackoffTests {
    @Test("a backoff doubles its waits up to the maximum, each between half and the whole of its step")
    func doubles() {
        var backoff = Backoff(minimumMilliseconds: 100, maximumMilliseconds: 1_500, seed: 1)
        for step in [100, 200, 400, 800, 1_500, 1_500] as [Int64] {
            #expect(((step + 1) / 2...step).contains(backoff.next()))
        }
        backoff.reset()
        #expect((50...100).contains(backoff.next()))
    }

    @Test("a backoff repeats its waits when the seed is the same, and not when it differs")
    func seeds() {
        func waits(_ seed: UInt64) -> [Int64] {
            var backoff = Backoff(minimumMilliseconds: 1_000, maximumMilliseconds: 1_000_000, seed: seed)
            return (0..<10).map { _ in backoff.next() }
        }
        #expect(waits(1) == waits(1))
        #expect(waits(1) != waits(2))
    }

    @Test("a backoff does not trap when its bounds are extreme")
    func extremes() {
        for (floor, ceiling) in [(0, 0), (-5, 10), (1, Int64.max), (Int64.max, 1)] as [(Int64, Int64)] {
            var backoff = Backoff(minimumMilliseconds: floor, maximumMilliseconds: ceiling, seed: 1)
            for _ in 0..<100 { #expect(backoff.next() >= 1) }
        }
    }

    @Test("canary: the waits exceed the maximum when it is not applied")
    func canary() {
        var backoff = Backoff(minimumMilliseconds: 100, maximumMilliseconds: 100_000, seed: 1)
        #expect((0..<10).map { _ in backoff.next() }.max() ?? 0 > 1_500)
    }
}
