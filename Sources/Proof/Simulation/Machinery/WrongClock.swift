import Basics
import Delivery

/// A machine whose wall clock is wrong for a while: months ahead, behind, or never set. It is set right before the faults end.
///
/// Drawn from random numbers of its own, so that worlds without it stay the same.
struct WrongClock {
    private enum Kind: CaseIterable {
        case ahead, behind, neverSet
    }

    private var random: SeededRandom
    /// Whether the clock is wrong at all: not in worlds where the clock is set properly, since that must be believed.
    fileprivate let happens: Bool

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

/// A wall clock that is wrong by a day for a few seconds while a process runs, forward or back, and in half of the cases the other way
/// before it is right again: a mistake at the console, or of a time server.
///
/// Drawn from random numbers of its own, like `WrongClock`, in worlds without that.
struct JumpingClock {
    private var random: SeededRandom
    private let happens: Bool
    private static let day: Int64 = 86_400_000

    init(_ seed: Simulation.Seed, _ settings: WorldSettings, besides other: WrongClock) {
        random = SeededRandom(seed: seed.number ^ 0x1e4b_1e4b_1e4b_1e4b)
        let isFree = !seed.isEarly && !settings.faults.setsClock && !other.happens
        happens = isFree && Int.random(in: 0..<3, using: &random) == 0
    }

    /// Plans the jumps, before the first process starts.
    mutating func plan(_ world: World) {
        guard happens else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let wait = Int64.random(in: 1...world.settings.stormNanoseconds, using: &random)
            let error = Bool.random(using: &random) ? Self.day : -Self.day
            let seconds = (0..<2).map { _ in Int64.random(in: 1...4, using: &random) }
            let turns = Bool.random(using: &random)
            world.after(wait) {
                guard world.server != nil, world.clock.error == 0 else { return }
                Self.jump(to: error, world)
                world.after(seconds[0] * 1_000_000_000) {
                    guard world.clock.error == error else { return }
                    Self.jump(to: turns ? -error : 0, world)
                    guard turns else { return }
                    world.after(seconds[1] * 1_000_000_000) {
                        if world.clock.error == -error { Self.jump(to: 0, world) }
                    }
                }
            }
        }
    }

    /// Sets the clock right before a process starts: a start believes a clock that is a day ahead, since the machine may have been off
    /// for that long.
    func prepareStart(_ world: World) {
        if happens, world.clock.error != 0 { world.setClockWrong(by: 0) }
    }

    private static func jump(to error: Int64, _ world: World) {
        guard !world.isCalm else { return }
        if error != 0 { world.reached(.clockJumped) }
        world.setClockWrong(by: error)
        if world.canary == .believesJump { world.server?.acceptClock(by: .operator) }
    }
}
