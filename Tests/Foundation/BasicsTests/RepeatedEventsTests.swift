import Testing

@testable import Basics

/// Failing events, with a clock that the test advances.
@Suite struct RepeatedEventsTests {
    private static func now(_ milliseconds: Int64) -> Now {
        Now(monotonic: Instant(nanoseconds: milliseconds * 1_000_000), wall: 1_795_157_345_000 + milliseconds)
    }

    @Test(
        "a disk that is full for ten minutes causes fewer than 60 lines, and all failures are counted"
    )
    func tenMinutes() {
        var events = RepeatedEvents<String>()
        var (lines, counted, failures) = (0, 0, 0)
        for step in 0..<6_000 {
            let now = Self.now(Int64(step) * 100)
            for kind in ["full", "read"] {
                failures += 1
                switch events.add("store_failed \(kind)", kind, now: now) {
                case .report: (lines, counted) = (lines + 1, counted + 1)
                case .reportRepeated(let count): (lines, counted) = (lines + 1, counted + count)
                case .suppress: break
                }
            }
            if step % 100 == 0 {
                for due in events.removeDue(now: now.monotonic) {
                    lines += 1
                    counted += due.count
                }
            }
        }
        for due in events.removeDue(now: Self.now(700_000).monotonic) {
            lines += 1
            counted += due.count
        }
        #expect(lines < 60 && lines > 20, "\(lines)")
        #expect(counted == failures)
    }

    @Test(
        "an event is reported at once, then after 30 s with all suppressed ones, and at once again after a pause"
    )
    func once() {
        var events = RepeatedEvents<Int>()
        #expect(events.add("a", 1, now: Self.now(0)) == .report)
        #expect(events.add("a", 2, now: Self.now(10)) == .suppress)
        #expect(events.add("b", 3, now: Self.now(20)) == .report, "a different key is a different event")
        #expect(events.add("a", 4, occurrences: 5, now: Self.now(29_999)) == .suppress)
        #expect(events.add("a", 5, now: Self.now(30_000)) == .reportRepeated(7))
        #expect(events.add("a", 6, now: Self.now(60_000)) == .report)
        #expect(events.add("c", 7, occurrences: 3, now: Self.now(60_000)) == .reportRepeated(3))
    }

    @Test("an event with a longer interval is suppressed longer when another has a shorter one")
    func minute() {
        var events = RepeatedEvents<Int>()
        func add(_ key: String, _ seconds: Int, at milliseconds: Int64) -> RepeatedEvents<Int>.Verdict {
            events.add(key, 0, every: seconds, now: Self.now(milliseconds))
        }
        #expect(add("address", 60, at: 0) == .report && add("disk", 30, at: 0) == .report)
        #expect(add("address", 60, at: 31_000) == .suppress && add("disk", 30, at: 31_000) == .report)
        #expect(add("address", 60, at: 60_000) == .reportRepeated(2))
    }

    @Test("suppressed occurrences are reported once, with their time, when no new one follows")
    func due() throws {
        var events = RepeatedEvents<Int>()
        _ = events.add("a", 1, now: Self.now(0))
        _ = events.add("a", 2, now: Self.now(40))
        #expect(events.removeDue(now: Self.now(29_000).monotonic).isEmpty)
        let due = try #require(events.removeDue(now: Self.now(31_000).monotonic).first)
        #expect(due.context == 2 && due.count == 1 && due.lastAt == Self.now(40).wall)
        #expect(events.removeDue(now: Self.now(31_001).monotonic).isEmpty && events.entries.count == 1)
        #expect(
            events.removeDue(now: Self.now(70_000).monotonic).isEmpty && events.entries.count == 0,
            "it is forgotten")
    }

    @Test(
        "keys beyond the limit share one entry, and are accepted again when others are quiet")
    func bounded() {
        var events = RepeatedEvents<Int>(capacity: 10)
        var reports = 0
        for at in 0..<1_000 where events.add("key \(at)", at, now: Self.now(Int64(at))) == .report {
            reports += 1
        }
        #expect(events.entries.count == 11 && reports == 11)
        #expect(events.add("key 5", 0, now: Self.now(2_000)) == .suppress, "the key must still be remembered")
        #expect(events.add("fresh", 0, now: Self.now(90_000)) == .report)
        #expect(events.entries.count <= 11)
    }

    @Test("canary: every occurrence is reported when the interval is zero")
    func canary() {
        var events = RepeatedEvents<Int>()
        for at in 0..<5 { #expect(events.add("a", at, every: 0, now: Self.now(Int64(at))) == .report) }
    }
}
