import BasicsSupport
import Foundation
import Simulation
import Testing

/// Simulated worlds of many seeds, and worlds with a planted fault that must be detected.
///
/// `CCS_SEED` sets half of the number of the first fresh seed, `CCS_SEEDS` the number of seeds of each kind.
@Suite struct SimulationTests {
    private static let places = FreshSeeds.draw(15)
    private static let seedsFile = URL(fileURLWithPath: PackageRoot.path + "/Fixtures/seeds.txt")

    @Test("Worlds of fresh seeds fail no check", arguments: WorldSettings.Kind.allCases)
    func fresh(_ kind: WorldSettings.Kind) {
        for place in Self.places {
            guard let failure = Simulation.run(Simulation.Seed(kind, at: place)) else { continue }
            Issue.record("\(failure)")
            if Self.places.count == 1 { print(failure.trace.joined(separator: "\n")) }
        }
    }

    /// Minimum counts of the rules that 200 worlds reach less than fifty times: about a quarter of their current counts. A
    /// workload below that no longer reaches the rule properly. All other rules have the minimum of the test.
    private static let rareRules: [Rule: Int] = [
        .clockAhead: 2, .clockBehind: 2, .topicResumed: 3, .groupStrangerRefused: 3, .collapsibleReleased: 4,
        .replacedTokenRefused: 1, .redelivered: 5, .topicChangeRedirected: 3,
        .answerResent: 6, .groupMemberGone: 7, .strangerRefused: 9,
    ]

    @Test("200 worlds reach each rule at least as often as its minimum")
    func rules() {
        var tally = RuleTally()
        for number in 1...200 as ClosedRange<UInt64> {
            let failure = Simulation.run(Simulation.Seed(number), counting: &tally)
            if let failure { Issue.record("\(failure)") }
        }
        #expect(tally.missing(below: 12, Self.rareRules).isEmpty, "\(tally)")
        #expect(tally.messages > 5_000 && tally.faults > 1_000, "\(tally.messages), \(tally.faults)")
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
        // The first world detects most faults. A rate that few worlds have, or a cap, takes dozens: the search begins at the world that
        // showed it when this was written.
        let checker = Self.checkers[canary].map { "\($0):" } ?? ""
        let start = Self.firstWorlds[kind]?[canary] ?? 1
        let found = (start..<start + 300).first { place in
            let failure = Simulation.run(Simulation.Seed(kind, at: place), canary: canary)
            return failure?.violations.first?.hasPrefix(checker) == true
        }
        #expect(found != nil, "\(checker)")
    }

    private static let firstWorlds: [WorldSettings.Kind: [WorldSettings.Canary: UInt64]] = [
        .core: [
            .ignoresDeviceRate: 9, .ignoresSenderRate: 9, .ignoresDeviceUpstreamRate: 7,
            .ignoresSenderUpstreamRate: 6, .refusesTooEarly: 5, .forgetsReconnected: 5, .ignoresCaps: 19,
            .miscountsDiscarded: 9, .losesIdleness: 9,
            .tearsBatches: 16, .forgetsSequenceWatermark: 10, .believesClock: 5,
            .ignoresTopicRate: 44, .believesJump: 13, .countsLostCopies: 29, .forgetsTopicMessages: 34,
            .reversesTopics: 44, .forgetsTopicMarks: 34, .advancesTopicMarks: 29,
            .leavesOutSubscriber: 29, .forgetsTopicLog: 373, .keepsSubscription: 13, .losesTopicMarks: 10,
            .reversesTopicLog: 10, .findsNothing: 283, .replacesForStrangers: 176,
        ],
        .sessions: [
            .ignoresSenderRate: 18, .ignoresDeviceUpstreamRate: 12, .ignoresSenderUpstreamRate: 6,
            .ignoresCaps: 10, .acceptsStranger: 7, .ignoresCollapsibleRate: 78, .forgetsReconnected: 20,
            .miscountsDiscarded: 7, .losesDrain: 9, .losesCongestion: 7, .losesIdleness: 6,
            .miscountsGroup: 10,
            .expiresDevicesEarly: 15, .losesLogins: 37, .tearsBatches: 7, .forgetsAnswers: 54,
            .forgetsSequenceWatermark: 42, .hidesInstallations: 7, .acceptsGroupStranger: 44,
            .believesClock: 7, .believesJump: 7, .ignoresTopicRate: 42, .forgetsTopicLog: 195,
            .forgetsTopicMarks: 27, .delaysTopicsNow: 20, .endsAppleSearch: 43, .losesAppleDelivery: 43,
            .losesAppleList: 43, .repeatsAppleDelivery: 85, .keepsSubscription: 15, .losesTopicBodyEnds: 15,
            .losesTopicProgress: 15, .passesOverTopics: 15, .losesReplacedEnds: 14, .losesReplacements: 14,
            .forgetsReplaced: 14, .replacesSent: 20, .replacesForStrangers: 20, .findsNothing: 51,
        ],
    ]

    /// The checkers that must detect the faults that the delivery guarantee depends on.
    private static let checkers: [WorldSettings.Canary: String] = [
        .answersBeforeSync: "durability", .tearsBatches: "endings", .forgetsSequenceWatermark: "sequences",
        .losesLogins: "logins", .losesAppServerLogins: "logins", .ignoresTopicRate: "rates",
        .losesGroupMember: "groups", .acceptsGroupStranger: "groups", .hidesInstallations: "imports",
        .dropsNowOrNever: "progress", .forgetsReconnected: "progress", .dropsNowOrNeverUpstream: "progress",
        .dropsDelivery: "progress", .swapsDeliveries: "order", .believesClock: "clock",
        .believesJump: "clock",
        .reusesRegistrations: "registrations", .losesReport: "endings", .losesBodies: "progress",
        .losesSharedBodies: "endings", .losesCancellation: "endings",
        .cancelsForStrangers: "endings", .losesReplacedEnds: "replacements",
        .forgetsReplaced: "replacements", .findsNothing: "replacements",
        .replacesForStrangers: "replacements", .replacesSent: "durability",
        .recordsDecisions: "history", .recordsUnacknowledged: "history",
        .passesOverTopics: "topics", .dropsTopicsNow: "progress", .repeatsTopicsNow: "topics",
        .delaysTopicsNow: "topics", .hidesTopic: "identity", .losesTopicNotices: "progress",
    ]

    @Test("The same seed produces the same world when it runs twice", arguments: WorldSettings.Kind.allCases)
    func reproducible(_ kind: WorldSettings.Kind) {
        for place in 1...5 as ClosedRange<UInt64> {
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
