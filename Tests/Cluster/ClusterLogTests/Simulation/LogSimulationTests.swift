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
