import Basics
import Delivery

/// Checks the core event by event.
struct CoreChecker {
    private var rates: RateChecker
    private var contacts: ContactChecker
    /// When the drain of an app server's connection was announced.
    private var drained: [ConnectionID: Int64] = [:]
    /// Since when an app server has been congested.
    private var congested: [ConnectionID: Int64] = [:]

    /// Since when a device has been idle.
    private var idle: [ConnectionID: Int64] = [:]

    /// Creates the checker of a new process.
    init(_ settings: WorldSettings) {
        rates = RateChecker(settings)
        contacts = ContactChecker(settings.delivery)
    }

    /// Records that a session has reported its drain to the core.
    mutating func draining(_ connection: ConnectionID, _ world: World) {
        drained[connection] = world.clock.nanoseconds
    }

    /// Records that a session has reported to the core that its app server is congested, or reads again.
    mutating func reading(_ connection: ConnectionID, _ isReading: Bool, _ world: World) {
        congested[connection] = isReading ? nil : world.clock.nanoseconds
    }

    /// Records that a device has reported to the core that it is idle, or active again.
    mutating func idle(_ connection: ConnectionID, _ isIdle: Bool, _ world: World) {
        idle[connection] = isIdle ? world.clock.nanoseconds : nil
    }

    mutating func check(_ step: CoreStep, _ world: World) {
        rates.check(step, world)
        contacts.check(step, world)
        ClockChecker().check(step, world)
        world.checkers.sequences.check(step, world)
        world.checkers.fanOuts.check(step, world)
        world.checkers.windows.check(step)
        world.checkers.endings.check(step, world.checkers.truth, world)
        world.checkers.replacements.check(step, world)
        world.checkers.history.check(step, world)
        world.checkers.reconnects.check(step, world.checkers.truth, world)
        for case .putRegistration(let registration) in step.mutations {
            world.checkers.truth.tokens.made(registration)
        }
        for (id, command) in step.commands {
            if case .device(.deliver(let delivery)) = command, let since = idle[id],
                delivery.message.kind == .message,
                let number = Number.of(delivery.message.messageID),
                world.checkers.truth.downstream[number]?.draft.delaysWhileIdle == true,
                since + world.crossingNanoseconds < world.clock.nanoseconds
            {
                world.fail("idle", "m\(number) was sent to an idle device")
            }
            guard case .appServer(.deliver(let message)) = command else { continue }
            world.checkers.order.offered(message, id, world)
            if let since = drained[id], since + world.crossingNanoseconds < world.clock.nanoseconds {
                world.fail("drains", "a draining connection was sent more")
            }
            if let since = congested[id], since + world.crossingNanoseconds < world.clock.nanoseconds {
                world.fail("windows", "a congested app server was sent more")
            }
        }
    }
}
