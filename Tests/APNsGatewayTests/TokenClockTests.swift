import Basics
import Testing

@testable import APNsGateway

@Suite("provider tokens")
struct TokenClockTests {
    private static func now(_ seconds: Int, wallShift: Int = 0) -> Now {
        Now(
            monotonic: Instant(nanoseconds: 0).advanced(seconds: seconds + 1_000),
            wall: Samples.epoch + Int64(seconds + wallShift) * 1_000)
    }

    /// A clock with a token minted at 0.
    private static func minted() -> ProviderTokenClock {
        var clock = ProviderTokenClock()
        var mustMint = false
        #expect(clock.use(now(0), mustMint: &mustMint) == nil && mustMint)
        #expect(clock.minted([1], issuedAt: Samples.epoch, now: now(0)))
        return clock
    }

    private static func mints(_ clock: inout ProviderTokenClock, _ now: Now) -> Bool {
        var mustMint = false
        _ = clock.use(now, mustMint: &mustMint)
        return mustMint
    }

    @Test("a token is minted at the first use, once, and again if the shell does not answer")
    func first() {
        var clock = ProviderTokenClock()
        #expect(Self.mints(&clock, Self.now(0)))
        #expect(!Self.mints(&clock, Self.now(59)))
        #expect(Self.mints(&clock, Self.now(60)))
        #expect(!clock.minted([], issuedAt: Samples.epoch, now: Self.now(60)))
    }

    @Test("it is replaced at the first use after 45 minutes, and used until 50 while it is")
    func refresh() {
        var clock = Self.minted()
        #expect(!Self.mints(&clock, Self.now(2_699)))
        var mustMint = false
        #expect(clock.use(Self.now(2_700), mustMint: &mustMint)?.token == [1] && mustMint)
        #expect(clock.use(Self.now(2_999), mustMint: &mustMint)?.token == [1])
        #expect(clock.use(Self.now(3_000), mustMint: &mustMint) == nil)
        #expect(clock.minted([2], issuedAt: Samples.epoch + 3_000_000, now: Self.now(3_000)))
        #expect(clock.use(Self.now(3_000), mustMint: &mustMint)?.token == [2])
    }

    @Test("a young token that Apple finds expired shows a wrong clock, and is replaced after 20 minutes only")
    func expired() {
        var clock = Self.minted()
        let isAlarm = clock.expired(serial: 1, now: Self.now(600))
        #expect(isAlarm)
        #expect(!Self.mints(&clock, Self.now(1_199)))
        #expect(!clock.minted([2], issuedAt: Samples.epoch, now: Self.now(1_199)))
        #expect(Self.mints(&clock, Self.now(1_200)))
        #expect(clock.minted([2], issuedAt: Samples.epoch + 1_200_000, now: Self.now(1_200)))
        let isOldToken = clock.expired(serial: 1, now: Self.now(1_201))
        #expect(!isOldToken)
        #expect(!Self.mints(&clock, Self.now(2_500)))
    }

    @Test(
        "after a jump of the wall clock it is replaced as soon as 20 minutes have passed",
        arguments: [-400, 400, -86_400])
    func jump(_ shift: Int) {
        var clock = Self.minted()
        #expect(!Self.mints(&clock, Self.now(1_199, wallShift: shift)))
        #expect(Self.mints(&clock, Self.now(1_200, wallShift: shift)))
        var steady = Self.minted()
        #expect(!Self.mints(&steady, Self.now(1_200, wallShift: shift < 0 ? -300 : 300)))
    }
}
