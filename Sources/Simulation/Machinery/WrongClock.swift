import Basics

/// A machine whose wall clock is wrong for a while: months ahead, behind, or never set. It is set right before the faults end.
///
/// Drawn from random numbers of its own, so that worlds without it stay the same.
struct WrongClock {
    private enum Kind: CaseIterable {
        case ahead, behind, neverSet
    }

    private var random: SeededRandom
    /// Whether the clock is wrong at all: not in worlds where the clock is set properly, since that must be believed.
    private let happens: Bool

    init(_ seed: Simulation.Seed, _ settings: WorldSettings) {
        random = SeededRandom(seed: seed.number ^ 0xc10c_c10c_c10c_c10c)
        happens = !seed.isEarly && !settings.faults.setsClock && Int.random(in: 0..<4, using: &random) == 0
    }

    /// Plans the wrong clock, before the first process starts.
    mutating func plan(_ world: World) {
        guard happens else { return }
        if Int.random(in: 0..<3, using: &random) == 0 { return goWrong(.neverSet, world) }
        let wait = Int64.random(in: 1...world.settings.stormNanoseconds, using: &random)
        var copy = self
        let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &copy.random)]
        world.after(wait) { [copy] in
            var copy = copy
            guard !world.isCalm else { return }
            copy.goWrong(kind, world)
        }
    }

    private mutating func goWrong(_ kind: Kind, _ world: World) {
        switch kind {
        case .ahead:
            world.reached(.clockAhead)
            world.setClockWrong(by: 400 * 86_400_000)
        case .behind:
            world.reached(.clockBehind)
            world.setClockWrong(by: -Int64.random(in: 7_200_000...2_700_000_000, using: &random))
        case .neverSet:
            world.reached(.clockNeverSet)
            world.setClockWrong(by: 60_000 - world.clock.honest)
        }
        if Bool.random(using: &random) { world.reboot() }
        let restarts = Bool.random(using: &random)
        world.after(Int64.random(in: 2...15, using: &random) * 1_000_000_000) {
            guard !world.isCalm else { return }
            world.setClockWrong(by: 0)
            if restarts { world.reboot() }
        }
    }
}
