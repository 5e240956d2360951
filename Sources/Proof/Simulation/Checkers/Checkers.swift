import Basics
import Delivery
import Store

/// All checkers, and the facts that they share.
final class Checkers {
    let truth = Truth()
    var durability = DurabilityChecker()
    var conservation = ConservationChecker()
    var endings = EndingChecker()
    var replacements = ReplacementChecker()
    var identity = IdentityChecker()
    var order = OrderChecker()
    var windows = WindowChecker()
    var answers = AnswerChecker()
    var caps = CapChecker()
    var tokens = TokenChecker()
    var fanOuts = FanOutChecker()
    var sequences = SequenceChecker()
    var imports = ImportChecker()
    var reconnects = ReconnectChecker()
    var history = HistoryChecker()
    let logins = LoginChecker()
    /// The checker of the current process.
    var core: CoreChecker?

    // MARK: Downstream

    func submitted(_ draft: DownstreamDraft, _ sender: SenderID, _ link: Int, _ world: World) {
        world.countMessage()
        guard case .registration(let target) = draft.target else {
            return fanOuts.submitted(draft, sender, world)
        }
        var message = Truth.Downstream(
            draft: draft, target: target, sender: sender, link: link, submittedAt: world.clock.honest,
            submittedNanoseconds: world.clock.nanoseconds, isCalm: draft.number >= 1_000_000)
        if let before = truth.downstream[draft.number] {
            message = before
            message.link = link
            message.submissions += 1
            message.submittedAt = world.clock.honest
            world.reached(.retried)
        }
        truth.downstream[draft.number] = message
    }

    /// Returns how often a message was submitted.
    func submissions(of number: Int) -> Int {
        truth.downstream[number]?.submissions ?? fanOuts.messages[number]?.submissions ?? 0
    }

    func answered(_ number: Int, _ answer: Answer, _ link: AppServerClient.Link, _ world: World) {
        let isOutstanding = link.outstanding[number] != nil || link.again.contains(number)
        if fanOuts.messages[number] != nil {
            return fanOuts.answered(number, answer, isOutstanding: isOutstanding, world)
        }
        answers.answered(number, answer, isOutstanding: isOutstanding, link, truth, world)
        guard case .acknowledged(let canonical) = answer, let message = truth.downstream[number] else {
            return
        }
        durability.acknowledged(number, truth, world)
        tokens.acknowledged(message, number, canonical: canonical, truth, world)
        replacements.acknowledged(number, message, world)
        if message.draft.isDryRun { world.reached(.dryRunAnswered) }
    }

    func deviceReceived(
        _ delivered: DeliveredMessage, _ device: DeviceID?, _ port: ObjectIdentifier,
        since: Int64, unacknowledged: some Collection<PersistentID>, _ world: World
    ) {
        if let device { windows.device(device, unacknowledged, world) }
        // A message that waits for the rate of its app, or for the device to be active, may be overtaken.
        let draft = delivered.number.flatMap { truth.downstream[$0] }?.draft
        if draft?.delaysWhileIdle == true { world.reached(.delayedDelivered) }
        let waits =
            draft?.delaysWhileIdle == true || draft?.sendAt != nil
            || delivered.id.map { truth.delayedMarkers.contains($0) } == true
            || draft?.collapseKey != nil && world.settings.rates.collapsible.isLimited
        if let id = delivered.id, !waits {
            order.device(id, port, world)
        }
        guard let number = delivered.number else { return identity.deliveredMarker(delivered, truth, world) }
        if fanOuts.messages[number] != nil {
            return fanOuts.delivered(number, delivered, device, since: since, world)
        }
        identity.delivered(number, delivered, truth, world)
        truth.downstream[number]?.isDelivered = true
    }

    /// Records that a device reported messages as received.
    func reported(_ numbers: some Swift.Sequence<Int>) {
        for number in numbers { truth.downstream[number]?.isReported = true }
    }

    // MARK: Upstream

    func upstreamSent(_ draft: UpstreamDraft, _ device: DeviceID?, _ world: World) {
        world.countMessage()
        guard draft.group == nil else { return }
        truth.upstream[draft.number] = Truth.Upstream(
            draft: draft, device: device, sentAt: world.clock.honest, isCalm: draft.number >= 1_000_000)
    }

    func upstreamConfirmed(_ number: Int, _ world: World) {
        if fanOuts.messages[number] != nil { return fanOuts.confirmed(number, truth, world) }
        truth.upstream[number]?.isConfirmed = true
        durability.confirmed(number, truth, world)
    }

    func upstreamRefused(_ number: Int, _ refusal: UpstreamRefusal, _ world: World) {
        if fanOuts.messages[number] != nil { return fanOuts.refused(number, refusal, truth, world) }
        truth.upstream[number]?.isRefused = true
        answers.upstreamRefused(number, refusal, truth, world)
    }

    /// Checks a report to a device that its message has expired.
    func returnReceived(_ messageID: [UInt8], _ device: DeviceID, _ world: World) {
        world.reached(.returnReceived)
        guard truth.reports[device]?.contains(messageID) != true else { return }
        world.fail(
            "identity", "a device got a wrong report for \(String(decoding: messageID, as: UTF8.self))")
    }

    /// Records that an app server answered an upstream message.
    func upstreamAnswered(_ number: Int, isRefused: Bool, _ world: World) {
        truth.upstream[number]?.isAnswered = true
        if isRefused { world.reached(.upstreamNacked) }
    }

    func appServerReceived(
        _ number: Int, _ handle: UpstreamHandle, _ sender: SenderID, _ link: Int,
        unanswered: some Collection<Int>,
        _ world: World
    ) {
        windows.appServer(unanswered, truth, world)
        order.appServer(number, handle, link, world)
        truth.upstream[number]?.isDelivered = true
        guard let draft = truth.upstream[number]?.draft, draft.sender == sender else {
            return world.fail("identity", "u\(number) was sent to sender \(sender.number)")
        }
        if draft.lifetimeSeconds == 0 { world.reached(.upstreamNowOrNeverSent) }
    }

    func receiptReceived(_ number: Int, _ sender: SenderID, _ world: World) {
        guard let message = truth.downstream[number] else {
            return world.fail("receipts", "a receipt for unknown m\(number)")
        }
        if message.sender != sender {
            world.fail("receipts", "the receipt of m\(number) was sent to sender \(sender.number)")
        }
        if !message.isDelivered {
            world.fail("receipts", "a receipt for m\(number), which was not delivered")
        }
        if !message.draft.wantsReceipt {
            world.fail("receipts", "a receipt for m\(number), which requested none")
        }
        world.reached(.receiptReceived)
    }

    /// Messages on disk that are for one app.
    var cancellable: [StoredMessage] {
        endings.messages.values.filter { message in
            message.kind == .message
                && Number.of(message.messageID).map { truth.downstream[$0] != nil } == true
        }
    }

    // MARK: Registrations

    /// Checks the answer to a registration that was requested at a time of the simulated clock.
    ///
    /// An answer that was given before the removal of its registration may arrive after the answer to that, over another connection.
    func registered(_ name: RegistrationName, requestedAt: Int64, _ world: World) {
        if let removedAt = truth.gone[name], removedAt < requestedAt {
            world.fail("registrations", "\(name.device.number)/\(name.number.number) was reused")
        }
        truth.registered.insert(name)
        truth.tokens.confirmed(name, at: world.clock.nanoseconds)
    }

    /// Checks the token for which a subscription was changed.
    func checkSubscriber(
        _ found: RegistrationName, of name: RegistrationName, since start: Int64, _ world: World
    ) {
        tokens.subscribed(found, of: name, since: start, truth, world)
    }

    /// Marks all tokens of an app as to be removed.
    func unregistering(_ app: AppName) -> [RegistrationName] {
        let names = truth.tokens.apps[app]?.tokens.map(\.name) ?? []
        truth.unregistered.formUnion(names)
        return names
    }

    /// Marks all apps of an expired device as to be removed.
    func expired(_ device: DeviceID) {
        for app in truth.tokens.apps.keys where app.device == device { _ = unregistering(app) }
    }

    /// Records that a removal was confirmed.
    func unregistered(_ names: [RegistrationName], _ world: World) {
        for name in names where truth.gone[name] == nil { truth.gone[name] = world.clock.nanoseconds }
    }

    // MARK: Disk

    func didApply(_ batch: WriteBatch, _ outcome: CommitOutcome, _ world: World) {
        replacements.willApply(batch, endings.messages, truth, world)
        endings.didApply(batch, outcome, truth, &fanOuts, world)
        fanOuts.didApply(batch, truth, world)
        caps.didApply(batch, endings, truth, world)
        history.didApply(batch)
    }

    func didSync(_ batch: WriteBatch, _ world: World) {
        durability.didSync(batch, truth)
        fanOuts.didSync(batch, world)
    }

    func rolledBack(to state: MemoryState, _ world: World) {
        endings.rolledBack(to: state)
        replacements.rolledBack(to: state, truth, world)
        history.rolledBack(to: state, world)
        fanOuts.rolledBack(to: state, world)
        conservation.check(state, "after a crash", world)
        durability.rolledBack(to: state, truth, world)
        for (number, message) in truth.upstream where !message.isSynced {
            truth.upstream[number]?.putAt = nil
        }
        for number in truth.upstream.keys { truth.upstream[number]?.returnsOwed = 0 }
        state.forEachUpstream { message in
            if let number = message.draftNumber, message.kind == .message {
                truth.upstream[number]?.returnsOwed += 1
            }
        }
    }
}
