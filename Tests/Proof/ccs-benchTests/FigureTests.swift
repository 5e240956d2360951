import Basics
import Testing

@testable import ccs_bench

/// Histograms and percentiles.
struct HistogramTests {
    @Test("a histogram finds a percentile within 4 %, from nanoseconds to hours")
    func precision() {
        for scale: Int64 in [1, 1_000, 1_000_000, 1_000_000_000, 100_000_000_000] {
            var histogram = Histogram()
            for step in 1...1_000 { histogram.record(Int64(step) * scale) }
            for share in [0.01, 0.5, 0.9, 0.99, 0.999, 1] {
                let exact = (1_000 * share).rounded(.up) * Double(scale) / 1_000
                let found = histogram.microseconds(at: share) ?? -1
                #expect(abs(found - exact) <= 0.04 * exact, "\(share) of 1 … 1000 times \(scale) ns")
            }
        }
    }

    @Test("percentiles ascend, and are missing when the histogram is empty or reset")
    func order() {
        var histogram = Histogram()
        #expect(histogram.microseconds(at: 0.5) == nil)
        var random = SeededRandom(seed: 5)
        for _ in 0..<10_000 { histogram.record(Int64.random(in: 0...1 << 40, using: &random)) }
        let shares = stride(from: 0.0, through: 1, by: 0.001).compactMap { histogram.microseconds(at: $0) }
        #expect(shares.count == 1_001 && shares == shares.sorted())
        histogram.reset()
        #expect(histogram.total == 0 && histogram.microseconds(at: 1) == nil)
    }

    @Test("Canary: p99.9 shows a slow message, and p50 does not, when one in a hundred is slow")
    func canary() {
        var histogram = Histogram()
        for number in 0..<1_000 { histogram.record(number % 100 == 0 ? 1_000_000_000 : 1_000) }
        let found = Latencies(histogram)
        #expect(found.count == 1_000 && found.p50 < 1.1 && found.p90 < 1.1)
        #expect(found.p999 > 960_000 && found.p999 <= 1_000_000)
    }
}

/// Numbers as text.
struct FigureTests {
    @Test("numbers are formatted with decimals, thousands and units")
    func text() {
        #expect(Figure.fixed(3.14159, 2) == "3.14")
        #expect(Figure.fixed(0.999, 2) == "1.00")
        #expect(Figure.fixed(-0.05, 1) == "-0.1")
        #expect(Figure.fixed(2.5, 0) == "3")
        #expect(Figure.whole(1_234_567) == "1,234,567")
        #expect(Figure.whole(-1_000) == "-1,000")
        #expect(Figure.whole(999) == "999")
        #expect(Figure.duration(999) == "999 us")
        #expect(Figure.duration(1_500) == "1.5 ms")
        #expect(Figure.duration(12_345_678) == "12.3 s")
    }

    @Test("a median is found when the count is odd, even or zero")
    func median() {
        #expect(Figure.median([9, 1, 5]) == 5)
        #expect(Figure.median([4, 1, 3, 2]) == 2.5)
        #expect(Figure.median([]) == 0)
    }

    @Test("medians are computed for each load, and ratios relative to the first")
    func medians() {
        let found = [("a", 100.0), ("b", 300.0), ("a", 200.0), ("b", 500.0), ("a", 900.0), ("b", 400.0)]
            .map { Medians.Sample(name: $0.0, rate: $0.1, serverMicroseconds: $0.1 / 10, p99: 1) }
        let medians = Medians.of(found)
        #expect(medians.map(\.name) == ["a", "b"])
        #expect(medians.map(\.rate) == [200, 400])
        #expect(medians[1].line(against: medians[0]).contains("2.00 times the rate of a, 2.00 times its CPU"))
        #expect(!medians[0].line(against: medians[0]).contains("times"))
    }
}
