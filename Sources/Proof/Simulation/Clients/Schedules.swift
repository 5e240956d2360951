import Basics
import Delivery

/// App servers that have some of their messages sent later.
///
/// Drawn from random numbers of its own, so that worlds without it stay the same.
struct Schedules {
    private var random: SeededRandom
    private let happens: Bool

    init(_ seed: Simulation.Seed) {
        random = SeededRandom(seed: seed.number ^ 0x5ced_01e5_5ced_01e5)
        happens = !seed.isEarly && Int.random(in: 0..<6, using: &random) == 0
    }

    /// Gives a message a time of its own, up to half a minute ahead, or a little before.
    mutating func schedule(_ draft: inout DownstreamDraft, _ world: World) {
        guard happens, draft.lifetimeSeconds > 0, Int.random(in: 0..<3, using: &random) > 0 else { return }
        draft.sendAt = world.clock.honest + Int64.random(in: -2_000...30_000, using: &random)
    }
}
