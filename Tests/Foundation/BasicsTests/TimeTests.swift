import Basics
import Testing

@Suite struct TimeTests {
    @Test("an instant saturates when a sum overflows")
    func saturates() {
        let start = Instant(nanoseconds: 5)
        #expect(start.advanced(milliseconds: 2) == Instant(nanoseconds: 2_000_005))
        #expect(start.advanced(seconds: 3) == Instant(nanoseconds: 3_000_000_005))
        #expect(start.advanced(milliseconds: .max) == .distantFuture)
        #expect(Instant.distantFuture.advanced(milliseconds: 1) == .distantFuture)
        #expect(start.advanced(seconds: 1_000_000_000_000) == .distantFuture)
        #expect(start.advanced(milliseconds: 2).milliseconds(since: start) == 2)
        #expect(start.milliseconds(since: start.advanced(milliseconds: 2)) == -2)
        #expect(Instant.distantPast < start && start < .distantFuture)
    }

    @Test("instants do not trap when they or their spans are extreme")
    func extremes() {
        for span in [Int64.min, -1, 0, 1, .max] {
            for start in [Instant.distantPast, Instant(nanoseconds: 0), .distantFuture] {
                _ = start.advanced(milliseconds: span)
                _ = start.advanced(seconds: Int(clamping: span))
            }
        }
        #expect(Instant.distantFuture.milliseconds(since: .distantPast) == .max)
        #expect(Instant.distantPast.milliseconds(since: .distantFuture) == .min)
        #expect(Instant(nanoseconds: 0).advanced(milliseconds: .min) == .distantPast)
        #expect(Instant(nanoseconds: 0).advanced(seconds: .max) == .distantFuture)
    }

    @Test("an instant falls back to the last moment of a grid")
    func grid() {
        let times: [Int64] = [0, 1, 199_999_999, 200_000_000, 399_999_999, 400_000_001]
        let floors = times.map { Instant(nanoseconds: $0).floored(toMilliseconds: 200).nanoseconds }
        #expect(floors == [0, 0, 0, 200_000_000, 200_000_000, 400_000_000])
    }

    @Test("the clocks of the machine run forward")
    func reads() {
        let first = Now.read()
        let second = Now.read()
        #expect(first.monotonic <= second.monotonic)
        #expect(first.wall > 1_700_000_000_000)
    }

    @Test(
        "a known time has the expected RFC 3339 text",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (1_795_157_345_678, "2026-11-20T06:49:05.678Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (4_102_444_800_000, "2100-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
            (.min, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ])
    func timestamps(time: Int64, text: String) { #expect(Timestamp.text(time) == text) }

    @Test("timestamps sort like their times in all months of 800 years")
    func timestampsGrow() {
        var last = ""
        for day in stride(from: Int64(-146_097), to: 146_097, by: 13) {
            let text = Timestamp.text(day * 86_400_000)
            #expect(text > last)
            last = text
        }
    }

    @Test("canary: a timestamp differs when the time is a second later")
    func canary() { #expect(Timestamp.text(1_000) != Timestamp.text(0)) }
}
