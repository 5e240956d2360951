import Basics
import Delivery
import Store

/// All checkers, and the truth that they share.
final class Checkers {
    var truth = Truth()
    var durability = DurabilityChecker()
    var endings = EndingChecker()
    var identity = IdentityChecker()
    var order = OrderChecker()
    var windows = WindowChecker()
    var answers = AnswerChecker()

    // MARK: Downstream

    func submitted(_ draft: DownstreamDraft, _ sender: SenderID, _ link: Int, _ world: World) {
        truth.downstream[draft.number] = Truth.Downstream(
            draft: draft, sender: sender, link: link, submittedAt: world.clock.now.wall,
            isCalm: draft.number >= 1_000_000)
    }

    func answered(_ number: Int, _ refusal: Refusal?, isOutstanding: Bool, _ world: World) {
        answers.answered(number, refusal, isOutstanding: isOutstanding, &truth, world)
        if refusal == nil { durability.acknowledged(number, truth, world) }
    }

    func deviceHeard(
        _ number: Int?, _ id: PersistentID?, _ port: ObjectIdentifier, unacknowledged: Set<Int>,
        _ world: World
    ) {
        windows.device(unacknowledged, truth, world)
        if let id { order.device(id, port, world) }
        guard let number else { return }
        identity.heard(number, id, &truth, world)
        truth.downstream[number]?.isHeard = true
    }

    // MARK: Upstream

    func upstreamSent(_ draft: UpstreamDraft, _ device: DeviceID?, _ world: World) {
        truth.upstream[draft.number] = Truth.Upstream(
            draft: draft, device: device, isCalm: draft.number >= 1_000_000)
    }

    func upstreamConfirmed(_ number: Int, _ world: World) {
        truth.upstream[number]?.isConfirmed = true
        durability.confirmed(number, truth, world)
    }

    func upstreamRefused(_ number: Int) { truth.upstream[number]?.isRefused = true }

    func appServerHeard(
        _ number: Int, _ handle: UpstreamHandle, _ sender: SenderID, _ link: Int,
        unsettled: some Collection<Int>,
        _ world: World
    ) {
        windows.appServer(unsettled, truth, world)
        order.appServer(number, handle, link, world)
        truth.upstream[number]?.isHeard = true
        if truth.upstream[number]?.draft.sender != sender {
            world.fail("identity", "u\(number) went to sender \(sender.number)")
        }
    }

    func receiptHeard(_ number: Int, _ sender: SenderID, _ world: World) {
        guard let message = truth.downstream[number] else {
            return world.fail("receipts", "for unknown m\(number)")
        }
        if message.sender != sender { world.fail("receipts", "m\(number) went to sender \(sender.number)") }
        if !message.isHeard { world.fail("receipts", "m\(number) has not been delivered") }
        if !message.draft.wantsReceipt { world.fail("receipts", "none was asked for m\(number)") }
    }

    // MARK: Registrations

    func registered(_ name: RegistrationName, _ world: World) {
        if truth.gone.contains(name) {
            world.fail("registrations", "\(name.device.number)/\(name.number.number) was used again")
        }
        truth.registered.insert(name)
    }

    func unregistering(_ name: RegistrationName) { truth.unregistered.insert(name) }

    func unregistered(_ name: RegistrationName) { truth.gone.insert(name) }

    // MARK: Disk

    func didApply(_ batch: WriteBatch, _ outcome: CommitOutcome, _ world: World) {
        endings.didApply(batch, outcome, &truth, world)
    }

    func didSync(_ batch: WriteBatch) { durability.didSync(batch, &truth) }

    func rolledBack(to state: MemoryState, _ world: World) {
        endings.rolledBack(to: state)
        durability.rolledBack(to: state, truth, world)
    }
}
