import Foundation
import Testing

/// Durability of the real daemon: no acknowledged message is lost when it is killed at random moments under load.
///
/// `CCS_KILL_CYCLES` sets the number of kills; the results are then printed (Scripts/kill).
@Suite("Killed under load", .serialized)
struct KillTests {
    private static let asked = ProcessInfo.processInfo.environment["CCS_KILL_CYCLES"].flatMap { Int($0) }
    private static let cycles = asked ?? 50
    /// Average number of acknowledged messages in each direction between two kills.
    private static let eachCycle = 10

    @Test(
        "no acknowledged message is lost in either direction, to a topic or to many when the daemon is killed at random moments"
    )
    func kills() throws {
        var seed = SystemRandomNumberGenerator()
        let number = UInt64.random(in: 0...UInt64.max, using: &seed)
        let world = try KillWorld(seed: number)
        for number in 0..<Self.cycles { try world.cycle(least: number * Self.eachCycle) }
        try world.finish()
        if Self.asked != nil { Self.printResults(world) }
        #expect(
            min(world.downstream.acknowledged.count, world.upstream.acknowledged.count)
                >= (Self.cycles - 1) * Self.eachCycle
                && min(world.topic.acknowledged.count, world.many.acknowledged.count) >= Self.cycles,
            "too little load to prove anything, seed \(number)")
        #expect(world.discarded == 0, "the load exceeded the mailbox of a device, seed \(number)")
        #expect(world.downstream.lost.isEmpty, "lost downstream, seed \(number)")
        #expect(world.upstream.lost.isEmpty, "lost upstream, seed \(number)")
        #expect(world.topic.lost.isEmpty, "lost messages to the topic, seed \(number)")
        #expect(world.many.lost.isEmpty, "lost messages of requests to many, seed \(number)")
        #expect(world.downstream.changed + world.topic.changed == [], "other persistent IDs, seed \(number)")
    }

    @Test("canary: a message is reported as lost when it is recorded as acknowledged but never stored")
    func canary() throws {
        let world = try KillWorld(seed: 1)
        try world.cycle()
        world.pretendAcknowledged("never-sent")
        try world.finish()
        #expect(world.downstream.lost == ["never-sent"])
    }

    private static func printResults(_ world: KillWorld) {
        func row(_ name: String, _ record: KillWorld.DirectionRecord) {
            let figures = [record.acknowledged.count, record.lost.count, record.twice].map { figure in
                String(repeating: " ", count: max(1, 14 - "\(figure)".count)) + "\(figure)"
            }
            print("kill: \(name)\(figures.joined())")
        }
        print("kill: \(cycles) kills  acknowledged          lost         twice")
        row("downstream", world.downstream)
        row("upstream  ", world.upstream)
        row("topic     ", world.topic)
        row("to many   ", world.many)
        let times = world.startMilliseconds.sorted()
        guard let most = times.last else { return }
        func share(_ part: Double) -> String {
            String(format: "%.0f ms", times[min(times.count - 1, Int(part * Double(times.count)))])
        }
        let longest = String(format: "%.0f ms", most)
        print(
            "kill: from start to the first accepted connection: p50 \(share(0.5)), p99 \(share(0.99)), max \(longest)"
        )
    }
}
