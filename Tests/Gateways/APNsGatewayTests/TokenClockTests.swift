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
        let value1 = clock.use(now(0), mustMint: &mustMint)
        #expect(value1 == nil && mustMint)
        let value2 = clock.minted([1], issuedAt: Samples.epoch, now: now(0))
        #expect(value2)
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
        let value3 = Self.mints(&clock, Self.now(0))
        #expect(value3)
        let value4 = Self.mints(&clock, Self.now(59))
        #expect(!value4)
        let value5 = Self.mints(&clock, Self.now(60))
        #expect(value5)
        let value6 = clock.minted([], issuedAt: Samples.epoch, now: Self.now(60))
        #expect(!value6)
    }

    @Test("it is replaced at the first use after 45 minutes, and used until 50 while it is")
    func refresh() {
        var clock = Self.minted()
        let value7 = Self.mints(&clock, Self.now(2_699))
        #expect(!value7)
        var mustMint = false
        let value8 = clock.use(Self.now(2_700), mustMint: &mustMint)?.token
        #expect(value8 == [1] && mustMint)
        let value9 = clock.use(Self.now(2_999), mustMint: &mustMint)?.token
        #expect(value9 == [1])
        let value10 = clock.use(Self.now(3_000), mustMint: &mustMint)
        #expect(value10 == nil)
        let value11 = clock.minted([2], issuedAt: Samples.epoch + 3_000_000, now: Self.now(3_000))
        #expect(value11)
        let value12 = clock.use(Self.now(3_000), mustMint: &mustMint)?.token
        #expect(value12 == [2])
    }

    @Test("a young token that Apple finds expired shows a wrong clock, and is replaced after 20 minutes only")
    func expired() {
        var clock = Self.minted()
        let isAlarm = clock.expired(serial: 1, now: Self.now(600))
        #expect(isAlarm)
        let value13 = Self.mints(&clock, Self.now(1_199))
        #expect(!value13)
        let value14 = clock.minted([2], issuedAt: Samples.epoch, now: Self.now(1_199))
        #expect(!value14)
        let value15 = Self.mints(&clock, Self.now(1_200))
        #expect(value15)
        let value16 = clock.minted([2], issuedAt: Samples.epoch + 1_200_000, now: Self.now(1_200))
        #expect(value16)
        let isOldToken = clock.expired(serial: 1, now: Self.now(1_201))
        #expect(!isOldToken)
        let value17 = Self.mints(&clock, Self.now(2_500))
        #expect(!value17)
    }

    @Test("an old token that Apple finds expired shows nothing about the clock")
    func expiredOld() {
        var young = Self.minted()
        let isAlarm = young.expired(serial: 1, now: Self.now(Limits.APNsGateway.tokenSeconds - 1))
        #expect(isAlarm)
        var old = Self.minted()
        let isFalseAlarm = old.expired(serial: 1, now: Self.now(Limits.APNsGateway.tokenSeconds))
        #expect(!isFalseAlarm)
    }

    @Test(
        "after a jump of the wall clock it is replaced as soon as 20 minutes have passed",
        arguments: [-400, 400, -86_400])
    func jump(_ shift: Int) {
        var clock = Self.minted()
        let value18 = Self.mints(&clock, Self.now(1_199, wallShift: shift))
        #expect(!value18)
        let value19 = Self.mints(&clock, Self.now(1_200, wallShift: shift))
        #expect(value19)
        var steady = Self.minted()
        let value20 = Self.mints(&steady, Self.now(1_200, wallShift: shift < 0 ? -300 : 300))
        #expect(!value20)
    }
}
