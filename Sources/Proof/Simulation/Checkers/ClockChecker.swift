import Basics
import Delivery

/// While the machine's clock is wrong, nothing expires before its time, and a process that ran before goes on with the right time.
struct ClockChecker {
    func check(_ step: CoreStep, _ world: World) {
        guard world.clock.error != 0 else { return }
        if !step.mutations.isEmpty { world.reached(.wroteInDoubt) }
        for mutation in step.mutations {
            switch mutation {
            case .removeMessage(_, _, let end, reason: .expired),
                .removeUpstream(_, _, let end, reason: .expired):
                demandEnd(end, world)
            // The pairs of a message that has been replaced may end earlier.
            case .removeSharedBody(_, _, let end):
                if case .partition(.loaded(.expired)) = step.event { demandEnd(end, world) }
            case .removeDevice(let device):
                guard step.isExpiry(of: device, world) else { continue }
                world.fail(
                    "clock", "\(device.number) expired while the clock was wrong by \(world.clock.error) ms")
            case .putMessage(let message) where world.keepsTime && message.topicMessage == nil:
                demandTimes(of: message, world)
            case .putDevice(let record) where world.keepsTime && record.seenAt < Limits.Clock.earliest:
                world.fail("clock", "the contact of \(record.device.number) is dated \(record.seenAt)")
            default: break
            }
        }
    }

    private func demandEnd(_ end: UnixMilliseconds, _ world: World) {
        guard !world.keepsTime || end > world.clock.honest + Self.toleranceMilliseconds else { return }
        world.fail(
            "clock",
            "a message expired \(end - world.clock.honest) ms early while the clock was wrong by \(world.clock.error) ms"
        )
    }

    private func demandTimes(of message: StoredMessage, _ world: World) {
        let error = message.acceptedAt - world.clock.honest
        let lifetime = message.expiresAt - max(message.acceptedAt, message.dueAt ?? message.acceptedAt)
        guard
            error.magnitude > UInt64(Self.toleranceMilliseconds)
                || lifetime > Int64(Limits.Message.lifetimeSeconds) * 1_000
        else { return }
        world.fail(
            "clock",
            "a message is dated \(error) ms off with a lifetime of \(lifetime) ms while the clock was wrong by \(world.clock.error) ms"
        )
    }

    /// What a process may follow at once.
    private static let toleranceMilliseconds = Int64(Limits.Clock.stepSeconds) * 1_000
}
