import Basics
import Delivery
import Testing

@testable import APNsGateway

@Suite("the guard against mass death")
struct MassDeathGuardTests {
    private static func at(_ seconds: Int) -> Instant {
        Instant(nanoseconds: 0).advanced(seconds: seconds + 10_000)
    }

    /// Records tokens, the first ones of them bad. Returns the changes.
    private static func record(
        _ guardian: inout MassDeathGuard, good: Int, bad: Int, at seconds: Int
    ) -> [MassDeathGuard.Change] {
        (0..<good + bad).compactMap {
            guardian.record(
                token: MassDeathGuard.hash(Array("\($0)".utf8)), isBad: $0 >= good, now: at(seconds))
        }
    }

    @Test("over a fifth of at least 50 tokens raises it")
    func threshold() {
        var few = MassDeathGuard()
        let changes1 = Self.record(&few, good: 0, bad: 49, at: 0)
        #expect(changes1.isEmpty && !few.isRaised)
        var fifth = MassDeathGuard()
        let changes2 = Self.record(&fifth, good: 40, bad: 10, at: 0)
        #expect(changes2.isEmpty && !fifth.isRaised)
        var more = MassDeathGuard()
        let changes3 = Self.record(&more, good: 40, bad: 11, at: 0)
        #expect(changes3 == [.raised(bad: 11, of: 51)])
    }

    @Test("one token counts once")
    func distinct() {
        var guardian = MassDeathGuard()
        for _ in 0..<100 { _ = Self.record(&guardian, good: 30, bad: 10, at: 0) }
        #expect(guardian.tokens == 40 && !guardian.isRaised)
    }

    @Test("tokens are forgotten after ten minutes, but the distrust lasts a day")
    func time() {
        var guardian = MassDeathGuard()
        _ = Self.record(&guardian, good: 0, bad: 40, at: 0)
        let changes4 = Self.record(&guardian, good: 30, bad: 0, at: 700)
        #expect(changes4.isEmpty && guardian.tokens == 30)
        _ = Self.record(&guardian, good: 0, bad: 60, at: 800)
        #expect(guardian.isRaised)
        let isForgotten = guardian.isForgotten(now: Self.at(80_000))
        #expect(!isForgotten && guardian.isRaised)
        let isForgottenLater = guardian.isForgotten(now: Self.at(90_000))
        #expect(isForgottenLater && !guardian.isRaised)
    }

    @Test("the first answer after the distrust ends it, and reports that")
    func endOfDistrust() {
        var guardian = MassDeathGuard()
        _ = Self.record(&guardian, good: 0, bad: 60, at: 0)
        let early = Self.record(&guardian, good: 1, bad: 0, at: Limits.APNsGateway.distrustSeconds - 1)
        #expect(early.isEmpty && guardian.isRaised)
        let late = Self.record(&guardian, good: 1, bad: 0, at: Limits.APNsGateway.distrustSeconds)
        #expect(late == [.ended] && !guardian.isRaised)
    }

    @Test("it ends when under a tenth of the tokens are bad")
    func end() {
        var guardian = MassDeathGuard()
        _ = Self.record(&guardian, good: 0, bad: 60, at: 0)
        let changes5 = Self.record(&guardian, good: 60, bad: 0, at: 1)
        #expect(changes5 == [.ended])
    }

    @Test("of many tokens a bounded sample is kept, with the same result")
    func sample() {
        var guardian = MassDeathGuard()
        let changes = Self.record(&guardian, good: 9_000, bad: 3_000, at: 0)
        #expect(guardian.tokens <= Limits.APNsGateway.countedTokens && guardian.isRaised)
        #expect(changes.count == 1)
        var healthy = MassDeathGuard()
        let changes6 = Self.record(&healthy, good: 10_000, bad: 1_500, at: 0)
        #expect(changes6.isEmpty)
    }

    @Test("apps and environments are judged separately, and their number is bounded")
    func apps() {
        var guards = MassDeathGuards()
        for number in 0..<60 {
            _ = guards.record(
                token: Array("\(number)".utf8), of: [1], in: .sandbox, isBad: true, now: Self.at(0))
        }
        func isTrusted(_ bundle: [UInt8], _ environment: APNsEnvironment) -> Bool {
            guards.record(token: [0], of: bundle, in: environment, isBad: true, now: Self.at(0)).isTrusted
        }
        #expect(!isTrusted([1], .sandbox))
        #expect(isTrusted([1], .production) && isTrusted([2], .sandbox))
        for number in 0..<3_000 {
            let result = guards.record(
                token: [1], of: Array("app\(number)".utf8), in: .sandbox, isBad: true, now: Self.at(0))
            #expect(result.isTrusted)
        }
        #expect(!isTrusted([1], .sandbox))
    }

    @Test("one token too many halves the sample, and no more")
    func thinning() {
        var guardian = MassDeathGuard()
        _ = Self.record(&guardian, good: Limits.APNsGateway.countedTokens + 1, bad: 0, at: 0)
        let half = Limits.APNsGateway.countedTokens / 2
        #expect((half * 9 / 10...half * 11 / 10).contains(guardian.tokens), "\(guardian.tokens)")
    }
}
