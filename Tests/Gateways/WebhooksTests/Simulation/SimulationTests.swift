import Basics
import BasicsSupport
import Testing

@testable import Webhooks

/// `CCS_SEED` sets the first seed, `CCS_SEEDS` the number of seeds.
@Suite("the core and the webhooks in the simulation")
struct WebhookSimulationTests {
    private static let fresh = FreshSeeds.draw(15)

    /// Seeds that have found something: an outcome of the disk before that of an earlier batch.
    private static let kept: Set<UInt64> = [
        2, 5, 6, 12, 15, 16, 18, 24, 26, 27, 29, 38, 39, 40, 42, 46, 47, 49, 53, 56, 59,
    ]

    @Test("an acknowledged message is received or expires, in the order of its device", arguments: 0..<4)
    func seeds(_ block: UInt64) {
        let seeds = Self.kept.union(Self.fresh)
        for seed in seeds.sorted() where seed % 4 == block {
            let world = WebhookWorld(seed: seed)
            let found = world.run()
            #expect(found.isEmpty, "seed \(seed): \(found.prefix(5))")
            #expect(world.checker.processes > 0)
        }
    }

    @Test("a seed repeats a run")
    func repeats() {
        let runs = (0..<2).map { _ in
            let world = WebhookWorld(seed: 5)
            return "\(world.run()) \(world.time) \(world.checker.count)"
        }
        #expect(runs[0] == runs[1])
    }

    /// The checker that must find each planted fault.
    private static let checkers: [WebhookWorld.Canary: String] = [
        .losesAnswers: "progress", .acknowledgesFailures: "lost", .ignoresOrder: "order",
        .sendsTwice: "crowd", .reordersCommits: "order",
    ]

    @Test("canary: a planted fault is found", arguments: WebhookWorld.Canary.allCases)
    func canary(_ canary: WebhookWorld.Canary) throws {
        let checker = try #require(Self.checkers[canary])
        let seed = (0..<20 as Range<UInt64>).first { seed in
            WebhookWorld(seed: seed, canary: canary).run().contains { $0.hasPrefix(checker) }
        }
        #expect(seed != nil)
    }
}
