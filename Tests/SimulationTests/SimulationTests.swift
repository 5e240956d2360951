import BasicsSupport
import Foundation
import Simulation
import Testing

/// Simulated worlds of many seeds, and worlds with a planted fault that must be detected.
///
/// `CCS_SEED` sets half of the number of the first fresh seed, `CCS_SEEDS` the number of seeds of each kind.
@Suite struct SimulationTests {
    private static let places = FreshSeeds.draw(50)
    private static let seedsFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/seeds.txt")

    @Test("Worlds of fresh seeds fail no check", arguments: WorldSettings.Kind.allCases)
    func fresh(_ kind: WorldSettings.Kind) {
        for place in Self.places {
            guard let failure = Simulation.run(Simulation.Seed(kind, at: place)) else { continue }
            Issue.record("\(failure)")
            if Self.places.count == 1 { print(failure.trace.joined(separator: "\n")) }
        }
    }

    /// Minimum counts of the rules that 400 worlds reach less than a hundred times: about a quarter of their current counts. A
    /// workload below that no longer reaches the rule properly. All other rules have the minimum of the test.
    private static let rareRules: [Rule: Int] = [
        .clockAhead: 4, .clockBehind: 4, .topicResumed: 6, .groupStrangerRefused: 6, .collapsibleReleased: 8,
        .replacedTokenRefused: 8, .redelivered: 10, .answerResent: 12, .groupMemberGone: 15,
        .strangerRefused: 18,
    ]

    @Test("400 worlds reach each rule at least as often as its minimum")
    func rules() {
        var tally = RuleTally()
        for number in 1...400 as ClosedRange<UInt64> {
            let failure = Simulation.run(Simulation.Seed(number), counting: &tally)
            if let failure { Issue.record("\(failure)") }
        }
        #expect(tally.missing(below: 25, Self.rareRules).isEmpty, "\(tally)")
        #expect(tally.messages > 10_000 && tally.faults > 2_000, "\(tally.messages), \(tally.faults)")
    }

    @Test("Worlds of seeds that once failed no longer fail")
    func kept() throws {
        let text = try String(contentsOf: Self.seedsFile, encoding: .utf8)
        let seeds = text.split(separator: "\n").compactMap { Simulation.Seed(line: $0) }
        #expect(!seeds.isEmpty)
        for failure in Simulation.run(seeds: seeds) { Issue.record("\(failure)") }
    }

    @Test(
        "A planted fault is detected", arguments: WorldSettings.Kind.allCases, WorldSettings.Canary.allCases)
    func canary(_ kind: WorldSettings.Kind, _ canary: WorldSettings.Canary) {
        guard WorldSettings.has(canary, in: kind) else { return }
        // The first world detects most faults; a rate that few worlds have, or a cap, takes dozens of worlds.
        let checker = Self.checkers[canary].map { "\($0):" } ?? ""
        let found = (1...300 as ClosedRange<UInt64>).first { place in
            let failure = Simulation.run(Simulation.Seed(kind, at: place), canary: canary)
            return failure?.violations.first?.hasPrefix(checker) == true
        }
        #expect(found != nil, "\(checker)")
    }

    /// The checkers that must detect the faults that the delivery guarantee depends on.
    private static let checkers: [WorldSettings.Canary: String] = [
        .answersBeforeSync: "durability", .tearsBatches: "endings", .forgetsSequenceWatermark: "sequences",
        .losesLogins: "logins", .losesAppServerLogins: "logins", .ignoresTopicRate: "rates",
        .losesGroupMember: "groups", .acceptsGroupStranger: "groups", .hidesInstallations: "imports",
        .dropsNowOrNever: "progress", .forgetsReconnected: "progress", .dropsNowOrNeverUpstream: "progress",
        .dropsDelivery: "progress", .swapsDeliveries: "order", .believesClock: "clock",
        .believesJump: "clock",
        .reusesRegistrations: "registrations", .losesReport: "endings", .losesBodies: "progress",
    ]

    @Test("The same seed produces the same world when it runs twice", arguments: WorldSettings.Kind.allCases)
    func reproducible(_ kind: WorldSettings.Kind) {
        for place in 1...15 as ClosedRange<UInt64> {
            let seed = Simulation.Seed(kind, at: place)
            let failures = (0..<2).map { _ in Simulation.run(seed, canary: .dropsAnswer) }
            #expect(failures[0]?.trace == failures[1]?.trace)
            #expect(failures[0]?.violations.contains { $0.hasPrefix("not the same") } != true)
        }
    }

    @Test("A seed is read from its line")
    func lines() {
        #expect(Simulation.Seed(line: "17  # why") == Simulation.Seed(17))
        #expect(Simulation.Seed(line: "\(Simulation.Seed(.max))") == Simulation.Seed(.max))
        #expect(Simulation.Seed(16).kind == .core && Simulation.Seed(17).kind == .sessions)
        #expect(Simulation.Seed(.core, at: 8) == Simulation.Seed(16))
        #expect(Simulation.Seed(.sessions, at: 8) == Simulation.Seed(17))
        let early = Simulation.Seed(line: "core 17")
        #expect(early?.kind == .core && early?.number == 17 && early?.isEarly == true)
        #expect(early?.description == "core 17", "an early seed keeps its form")
        for line in ["", "# core 1", "core", "core x", "cores 1", "core core 1", "-1"] {
            #expect(Simulation.Seed(line: line) == nil)
        }
    }
}

extension Simulation.Seed {
    /// Creates the n-th seed of a kind, counted from 0.
    fileprivate init(_ kind: WorldSettings.Kind, at index: UInt64) {
        let kinds = WorldSettings.Kind.allCases
        self.init(index * UInt64(kinds.count) + UInt64(kinds.firstIndex(of: kind) ?? 0))
    }
}
