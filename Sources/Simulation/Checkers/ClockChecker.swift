import Basics
import Delivery

/// While the machine's clock is wrong, nothing expires.
struct ClockChecker {
    func check(_ step: CoreStep, _ world: World) {
        guard world.clock.error != 0 else { return }
        if !step.mutations.isEmpty { world.reached(.wroteInDoubt) }
        for mutation in step.mutations {
            switch mutation {
            case .removeMessage(_, _, expiresAt: _, reason: .expired),
                .removeUpstream(_, _, expiresAt: _, reason: .expired), .removeTopicBody:
                world.fail("clock", "a message expired while the clock was wrong by \(world.clock.error) ms")
            case .removeDevice(let device):
                guard step.isExpiry(of: device, world) else { continue }
                world.fail(
                    "clock", "\(device.number) expired while the clock was wrong by \(world.clock.error) ms")
            default: break
            }
        }
    }
}
