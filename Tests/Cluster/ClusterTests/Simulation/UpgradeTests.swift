import ClusterLog
import Foundation
import Testing

@Suite("rolling upgrades in the simulation")
struct UpgradeTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["CCS_CLUSTER_SEEDS"].flatMap(UInt64.init) ?? 40

    @Test("no frame of a newer version is written before all members read it, and a late node halts by name")
    func upgrades() {
        var (upgraded, halted, held) = (0, 0, 0)
        for seed in 0..<Self.seeds {
            let world = UpgradeWorld(seed: seed)
            let found = world.run()
            #expect(found.isEmpty, "seed \(seed): \(found)")
            #expect(world.versions.first == 1)
            if world.versions.contains(2) { upgraded += 1 } else { held += 1 }
            if let halt = world.nodes.last?.halt {
                guard case .unreadable(.newer(version: 2), at: _) = halt else {
                    Issue.record("seed \(seed): \(halt)")
                    continue
                }
                halted += 1
            }
        }
        // A node of the old software that came early enough keeps the version back.
        #expect(upgraded > Self.seeds / 2 && halted > 0 && held > 0, "\(upgraded) \(halted) \(held)")
    }

    private func finds(_ kind: String, _ plant: (UpgradeWorld) -> Void) -> Bool {
        (0..<60 as Range<UInt64>).contains { seed in
            let world = UpgradeWorld(seed: seed)
            plant(world)
            return world.run().contains { $0.hasPrefix(kind) }
        }
    }

    @Test("nodes that forget the others over a restart, or ignore what they read, are found")
    func canaries() {
        #expect(finds("version") { $0.forgetsRoster = true })
        #expect(finds("version") { $0.ignoresMembers = true })
    }
}
