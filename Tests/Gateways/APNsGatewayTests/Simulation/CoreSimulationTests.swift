import Basics
import BasicsSupport
import Delivery
import Store
import Testing

/// `CCS_SEED` sets the first seed, `CCS_SEEDS` the number of seeds.
@Suite("the core and the gateway in the simulation")
struct CoreSimulationTests {
    private static let fresh = FreshSeeds.draw(40)

    private static func world(_ seed: UInt64, canary: CoreWorld.Canary? = nil) -> CoreWorld {
        var settings = GatewaySimulationTests.settings(seed)
        settings.drains = false
        settings.faultMilliseconds = 90_000
        // The longest wait between two attempts is 18 minutes.
        settings.endMilliseconds = 45 * 60_000
        return CoreWorld(seed: seed, settings, canary: canary)
    }

    @Test("an accepted message is forwarded, refused, expired or still waiting, in order", arguments: 0..<10)
    func seeds(_ block: UInt64) {
        for seed in Self.fresh where seed % 10 == block {
            let found = Self.world(seed).run()
            #expect(found.isEmpty, "seed \(seed): \(found.prefix(5))")
        }
    }

    @Test("a seed repeats a run")
    func repeats() {
        let runs = (0..<2).map { _ in
            let world = Self.world(5)
            let found = world.run()
            return "\(found) \(world.apple.time) \(world.apple.opens) \(world.disk.state.audit())"
        }
        #expect(runs[0] == runs[1])
    }

    /// The checker that must find each planted fault.
    private static let checkers: [CoreWorld.Canary: String] = [
        .dropsAnswers: "progress", .forgetsMarks: "progress", .losesMessages: "lost", .revivesTheDead: "dead",
        .sendsTwice: "duplicates", .endsGoodTokens: "tokens of devices", .miscounts: "conservation",
    ]

    @Test("canary: a planted fault is found", arguments: CoreWorld.Canary.allCases)
    func canary(_ canary: CoreWorld.Canary) throws {
        let checker = try #require(Self.checkers[canary])
        let seed = (0..<60 as Range<UInt64>).first { seed in
            Self.world(seed, canary: canary).run().contains { $0.hasPrefix(checker) }
        }
        #expect(seed != nil)
    }

    @Test("canary: messages out of order are found")
    func order() {
        let phone = Phone(1, .good, isSandbox: false)
        var checkers = CoreCheckers(jumps: false)
        for number in 0..<2 {
            _ = checkers.submitted(
                CoreCheckers.Message(
                    phone: phone, lifetimeSeconds: 86_400, collapseKey: nil, submittedAt: 0, state: .accepted,
                    forwarded: [Int64(10 - number)]))
        }
        checkers.finish(at: 20, .init())
        #expect(checkers.found.contains { $0.hasPrefix("order") })
    }
}
