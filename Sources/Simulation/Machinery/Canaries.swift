import Basics
import Delivery

/// The planted faults of the shell: what the core wants is not what is done.
struct Canaries {
    /// Whether what a session tells never arrives.
    func loses(_ event: Event, _ world: World) -> Bool {
        if case .appServerClosed = event { world.canary == .losesFarewell } else { false }
    }

    /// What is done instead of what was wanted.
    mutating func tamper(
        _ commands: [(ConnectionID, SessionCommand)], _ world: World
    ) -> [(ConnectionID, SessionCommand)] {
        guard let canary = world.canary else { return commands }
        var changed: [(ConnectionID, SessionCommand)] = []
        for (id, command) in commands {
            switch (canary, command) {
            case (.dropsDelivery, .deliver) where world.chance(1, in: 5): continue
            case (.dropsAnswer, .acknowledge) where world.chance(1, in: 5): continue
            case (.changesPersistentID, .deliver(var delivery)):
                delivery.message.salt ^= UInt32(world.random(0...1))
                changed.append((id, .deliver(delivery)))
            case (.floodsAppServer, .deliverUpstream):
                changed.append((id, command))
                changed.append((id, command))
            case (.swapsDeliveries, .deliver):
                let isSwapped =
                    if let last = changed.last, last.0 == id, case .deliver = last.1 { true } else { false }
                changed.insert((id, command), at: isSwapped ? changed.count - 1 : changed.count)
            default: changed.append((id, command))
            }
        }
        return changed
    }
}
