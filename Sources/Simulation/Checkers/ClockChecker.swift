import Basics
import Delivery

/// While the machine's clock is wrong nothing ends by age.
struct ClockChecker {
    func check(_ step: CoreStep, _ world: World) {
        guard world.clock.error != 0 else { return }
        if !step.mutations.isEmpty { world.met(.wroteInDoubt) }
        for mutation in step.mutations {
            switch mutation {
            case .removeMessage(_, _, expiresAt: _, reason: .expired),
                .removeUpstream(_, _, expiresAt: _, reason: .expired), .removeTopicBody:
                world.fail("clock", "a message is expired by a clock that is \(world.clock.error) ms wrong")
            case .removeDevice(let device):
                guard step.isExpiry(of: device, world) else { continue }
                world.fail(
                    "clock", "\(device.number) is forgotten by a clock that is \(world.clock.error) ms wrong")
            default: break
            }
        }
    }
}
