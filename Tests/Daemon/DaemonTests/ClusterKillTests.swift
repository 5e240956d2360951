import Foundation
import NATSServerSupport
import Testing

/// What Scripts/cluster asks for.
private enum ClusterRun {
    private static let environment = ProcessInfo.processInfo.environment
    static let cycles = environment["CCS_CLUSTER_CYCLES"].flatMap { Int($0) }
    private static let kind = environment["CCS_CLUSTER_KIND"].flatMap { ClusterFault(rawValue: $0) }
    /// How many further devices there are, and how many messages are stored for each.
    static let registry = environment["CCS_CLUSTER_REGISTRY"].map {
        $0.split(separator: ":").compactMap { Int($0) }
    }
    /// The faults that one cluster can have: the kind, or all that are possible where each node has a network of its own, if it can.
    static var faults: [ClusterFault] {
        if let kind { return [kind] }
        let layout: ClusterLayout = ClusterNetwork.isAvailable ? .networks : .relayed
        return ClusterFault.allCases.filter { $0.isPossible && ($0.layout ?? layout) == layout }
    }
}

/// A cluster under load whose parts are killed at random: no acknowledged message is lost.
///
/// `CCS_CLUSTER_CYCLES` sets the number of faults, `CCS_CLUSTER_KIND` their kind, and `CCS_CLUSTER_REGISTRY` a large
/// registry (DEVICES:MESSAGES); the results are printed (Scripts/cluster).
@Suite(
    "Cluster killed under load", .serialized,
    .enabled(if: ClusterRun.cycles != nil, "run Scripts/cluster"))
struct ClusterKillTests {
    @Test("no acknowledged message is lost when nodes and servers of the log are killed at random moments")
    func kills() throws {
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
        let faults = ClusterRun.faults
        let layout = faults.compactMap(\.layout).first
        let alone = try ClusterWorld(seed: seed, layout: .alone)
        let single = try alone.measure(seconds: 10)
        // The waits of others are noted by partition: most partitions have a device then.
        let devices = faults == [.isolate] ? 24 : 6
        let world = try ClusterWorld(seed: seed, layout: layout ?? .loopback, devices: devices)
        let many = try world.measure(seconds: 10)
        if let registry = ClusterRun.registry, registry.count == 2 {
            try world.fill(devices: registry[0], messages: registry[1])
        }
        var pauses: [ClusterPauses] = []
        let cycles = ClusterRun.cycles ?? 1
        try world.cluster.keepingLogs(unless: { world.lost.isEmpty && world.wrongs.isEmpty }) {
            for number in 0..<cycles {
                let start = Date()
                let pause = try world.cycle(faults[number % faults.count])
                pauses.append(pause)
                print("cluster-progress: \(number + 1) \(pause), \(Int(-start.timeIntervalSinceNow)) s")
                fflush(nil)
            }
            try world.finish()
        }
        ClusterResults(world: world, pauses: pauses, faults: faults, single: single, cluster: many).show()
        #expect(try world.discarded() == 0, "the load exceeded the mailbox of a device, seed \(seed)")
        #expect(world.lost == [], "seed \(seed)")
        #expect(world.wrongs == [], "seed \(seed)")
    }
}
