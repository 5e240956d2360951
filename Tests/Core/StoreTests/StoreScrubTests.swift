import Basics
import Store
import Testing

/// When the tables of a store are read.
@Suite struct StoreScrubTests {
    private let start = Instant.distantPast.advanced(seconds: 1)
    private let tables = [
        StoreTable(name: "1.sst", bytes: 3 * Limits.Store.scrubBytesPerSecond),
        StoreTable(name: "2.sst", bytes: 1),
    ]

    @Test(
        "a scrub reads each table once in a round, no faster than its limit, and then waits for the next round"
    )
    func round() {
        var scrub = StoreScrub()
        var now = start
        #expect(scrub.next(now: now) == .list)
        scrub.begin(tables, now: now)
        #expect(scrub.remainingBytes == 3 * Limits.Store.scrubBytesPerSecond + 1)
        #expect(scrub.next(now: now) == .verify(tables[0]))
        scrub.finished(tables[0], now: now)
        #expect(scrub.remainingBytes == 1)
        #expect(scrub.next(now: now) == .wait(until: now.advanced(seconds: 3)))
        now = now.advanced(seconds: 3)
        #expect(scrub.next(now: now) == .verify(tables[1]))
        scrub.finished(tables[1], now: now)
        #expect(scrub.remainingBytes == 0)
        let end = now.advanced(seconds: Limits.Store.scrubRoundSeconds)
        #expect(scrub.next(now: now) == .wait(until: end))
        #expect(scrub.next(now: end) == .list)
    }

    @Test("a scrub pauses after the smallest table, and waits a round if there is none")
    func small() {
        var scrub = StoreScrub()
        scrub.begin(tables.reversed(), now: start)
        scrub.finished(tables[1], now: start)
        let pause = start.advanced(milliseconds: Int64(Limits.Store.scrubPauseMilliseconds))
        #expect(scrub.next(now: start) == .wait(until: pause))
        var empty = StoreScrub()
        empty.begin([], now: start)
        #expect(
            empty.next(now: start) == .wait(until: start.advanced(seconds: Limits.Store.scrubRoundSeconds)))
    }
}
