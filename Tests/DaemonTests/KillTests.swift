import Foundation
import Testing

/// The promise, on the real thing: killed at random moments under load, nothing acknowledged is lost (design 8).
@Suite("Killed under load", .serialized)
struct KillTests {
    @Test("50 kills at random moments lose no acknowledged message, in either direction")
    func fiftyKills() throws {
        var seed = SystemRandomNumberGenerator()
        let number = UInt64.random(in: 0...UInt64.max, using: &seed)
        let world = try KillWorld(seed: number)
        for _ in 0..<50 { try world.cycle() }
        let verdict = try world.finish()
        #expect(verdict.downstreamAcknowledged > 500, "too little load to prove anything, seed \(number)")
        #expect(verdict.upstreamAcknowledged > 500, "too little load to prove anything, seed \(number)")
        #expect(verdict.downstreamLost.isEmpty, "lost downstream: \(verdict.downstreamLost), seed \(number)")
        #expect(verdict.upstreamLost.isEmpty, "lost upstream: \(verdict.upstreamLost), seed \(number)")
    }

    @Test("canary: a message that is said to be acknowledged and was not stored is found missing")
    func canary() throws {
        let world = try KillWorld(seed: 1)
        try world.cycle()
        world.pretendAcknowledged("never-sent")
        let verdict = try world.finish()
        #expect(verdict.downstreamLost == ["never-sent"])
    }
}
