import Basics
import BasicsSupport
import ClusterLog
import ClusterLogSupport
import Testing

@Suite("the replicated log in the simulation")
struct LogSimulationTests {
    /// The settings of a seed: every combination of troubles occurs.
    static func settings(_ seed: UInt64) -> LogWorld.Settings {
        var random = SeededRandom(seed: ~seed)
        func percent(_ most: Int) -> Int {
            Bool.random(using: &random) ? Int.random(in: 0...most, using: &random) : 0
        }
        var settings = LogWorld.Settings()
        settings.nodes = Int.random(in: 2...4, using: &random)
        settings.faultMicroseconds = Int64.random(in: 3_000_000...15_000_000, using: &random)
        settings.faults = SimulatedLog.Faults(
            late: percent(10), lost: percent(10), refused: percent(10), lostAnswer: percent(10),
            staleRead: percent(30), failedRead: percent(20))
        settings.claims = percent(15)
        settings.doubleClaims = percent(10)
        settings.kills = percent(5)
        settings.pauses = percent(5)
        settings.cuts = percent(5)
        settings.elections = percent(3)
        settings.strangers = percent(50)
        settings.refusedReads = percent(5)
        return settings
    }

    /// The seeds of a run: `CCS_LOG_SEEDS` sets their number.
    private static let fresh = FreshSeeds.draw(100, number: "CCS_LOG_SEEDS")

    @Test(
        "no confirmed frame is void, no epoch has two owners, and all nodes apply the same", arguments: 0..<4)
    func holds(_ block: Int) {
        for seed in Self.fresh where seed % 4 == UInt64(block) {
            let found = LogWorld(seed: seed, Self.settings(seed)).run()
            #expect(found.isEmpty, "seed \(seed)")
        }
    }

    /// How long nothing was confirmed while all reads are refused and some answers come late, in milliseconds.
    static func longestPause(_ seed: UInt64, _ plant: (LogWorld) -> Void = { _ in }) -> Int64 {
        var settings = LogWorld.Settings()
        (settings.claims, settings.doubleClaims, settings.kills, settings.pauses) = (0, 0, 0, 0)
        (settings.cuts, settings.elections, settings.refusedReads) = (0, 0, 0)
        let world = LogWorld(seed: seed, settings)
        plant(world)
        world.log.unreadUntil = settings.faultMicroseconds
        var (last, longest) = (Int64(1_000_000), Int64(0))
        world.tamperEffects = { [unowned world] effects, _ in
            guard effects.contains(where: { if case .confirmed = $0 { true } else { false } }) else { return }
            longest = max(longest, min(world.time, settings.faultMicroseconds) - last)
            last = max(last, world.time)
        }
        #expect(world.run().isEmpty, "seed \(seed)")
        return longest / 1_000
    }

    @Test("an owner goes on while all reads are refused and its frames are confirmed, also late")
    func refusedReads() {
        for seed in 0..<20 as Range<UInt64> { #expect(Self.longestPause(seed) < 2_000, "seed \(seed)") }
    }

    @Test("a seed repeats a run")
    func repeats() {
        let worlds = [3, 3].map { LogWorld(seed: $0, Self.settings(1)) }
        for world in worlds { #expect(world.run().isEmpty) }
        #expect(worlds[0].log.records == worlds[1].log.records && worlds[0].time == worlds[1].time)
        #expect(worlds[0].log.records.count > 100)
    }

    @Test("without faults, all is confirmed at once, and nothing is void")
    func calm() {
        var settings = LogWorld.Settings()
        settings.faultMicroseconds = 0
        let world = LogWorld(seed: 1, settings)
        #expect(world.run().isEmpty && world.marks == 1)
        #expect(world.log.records.count == world.checkers.confirmedCount + 1)
    }

    @Test("the worlds reach what they are made for")
    func coverage() {
        var (marks, voids, repeated) = (UInt64(0), 0, 0)
        for seed in 0..<60 as Range<UInt64> {
            let world = LogWorld(seed: seed, Self.settings(seed))
            var appended: Set<[UInt8]> = []
            world.tamperFrame = { frame, _ in
                if !appended.insert(frame).inserted { repeated += 1 }
                return frame
            }
            _ = world.run()
            marks += world.marks
            let valid = LogCheckers.valid(world.log.records, in: world.key)
            voids += world.log.records.count - valid.count - Int(world.marks)
        }
        #expect(marks > 200 && voids > 1_000 && repeated > 1_000, "\(marks) \(voids) \(repeated)")
    }
}
