import Basics
import Delivery

/// Apple and the phones behind it: accepts messages late, has them sent again, or refuses them. Each phone gets its messages in order, and
/// none twice but the last one.
final class SimulatedApple {
    private unowned let world: World
    private(set) var accepted: Set<PersistentID> = []
    private(set) var refused: Set<PersistentID> = []
    /// The last stored message of each app, and the process that sent it.
    private var last: [RegistrationName: (sequence: SequenceNumber, process: Int)] = [:]

    init(_ world: World) { self.world = world }

    /// Handles a message, and answers after a while.
    func deliver(_ delivery: GatewayDelivery, _ answer: @escaping (GatewayAnswer) -> Void) {
        let process = world.boots
        world.after(world.random(1_000_000...(world.isCalm ? 50_000_000 : 1_000_000_000))) { [self] in
            let outcome = outcome(of: delivery)
            if case .accepted = outcome {
                accept(delivery, process)
                if world.canary == .repeatsAppleDelivery { accept(delivery, process) }
            }
            answer(
                GatewayAnswer(
                    registration: delivery.registration, sequence: delivery.message.sequence, outcome: outcome
                ))
        }
    }

    private func outcome(of delivery: GatewayDelivery) -> GatewayOutcome {
        let isOfTopic = delivery.message.topicMessage != nil
        if !world.isCalm, world.chance(1, in: 8) {
            let wait = world.random(0...2_000)
            return .later(
                milliseconds: wait, APNsRefusal(.unavailable), isAttempt: world.chance(1, in: 2))
        }
        // The refusal of another message would be passed on to its app server.
        if !world.isCalm, isOfTopic, world.chance(1, in: 20) {
            refused.insert(delivery.message.persistentID)
            return .refused(APNsRefusal(.invalid))
        }
        return .accepted(delivery.environment)
    }

    private func accept(_ delivery: GatewayDelivery, _ process: Int) {
        let message = delivery.message
        if world.canary == .losesAppleDelivery, world.chance(1, in: 3) { return }
        accepted.insert(message.persistentID)
        world.checkers.fanOuts.reachedApple(delivery, world)
        guard delivery.isStored else { return }
        // What a killed process has sent may arrive after what the next one sends.
        if let last = last[delivery.registration], last.process <= process {
            // After a kill, or a write that failed, the last one may be sent again.
            let mayRepeat = last.process != process || !world.settings.faults.hasCommitsAll
            if last.sequence > message.sequence || last.sequence == message.sequence && !mayRepeat {
                world.fail("order", "Apple got \(message.sequence.number) after \(last.sequence.number)")
            }
        }
        if last[delivery.registration]?.process ?? 0 <= process {
            last[delivery.registration] = (message.sequence, process)
        }
    }
}
