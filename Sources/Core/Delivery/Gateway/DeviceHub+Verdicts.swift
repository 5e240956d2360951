import Basics

/// The answers of the APNs gateway: what they mean for the message, its submission and its registration (apns 4.1, 4.2).
extension DeviceHub {
    mutating func gatewayAnswered(_ answer: GatewayAnswer, _ entry: DeviceEntry, _ turn: inout Turn) {
        // The registration may have been removed meanwhile.
        guard let at = entry.index(of: answer.registration.number),
            case .sent(answer.sequence, let isStored) = entry.registrations[at].queue.state
        else { return }
        entry.update(at) { $0.queue.change(to: .idle) }
        let wasInMailbox = isStored && entry.mailbox.index(of: answer.sequence) != nil
        let sent = SentMessage(registration: at, sequence: answer.sequence, isStored: isStored)
        switch answer.outcome {
        case .accepted(let environment): accepted(sent, in: environment, entry, &turn)
        case .later(let delay, let refusal, let isAttempt):
            later(sent, delay, refusal, isAttempt: isAttempt, entry, &turn)
        case .refused(let refusal): refused(sent, because: refusal, entry, &turn)
        case .tokenEnded(let verdict): tokenEnded(sent, by: verdict, entry, &turn)
        case .tokenUnknown(let verdict): tokenUnknown(sent, by: verdict, entry, &turn)
        case .tokenMismatched(let verdict): tokenMismatched(sent, by: verdict, entry, &turn)
        }
        if wasInMailbox { beginEnd(answer.sequence, of: answer.registration.number, entry, &turn) }
        // The registrations may have changed.
        if let at = entry.index(of: answer.registration.number) { offerNext(at, entry, &turn) }
    }

    // MARK: Ends

    /// Has the next message wait until the store has the end of this one. Otherwise a kill in between would send both again, in the
    /// order 1, 2, 1, 2.
    private mutating func beginEnd(
        _ sequence: SequenceNumber, of number: RegistrationNumber, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let at = entry.index(of: number), entry.registrations[at].queue.isOpen else { return }
        let left = entry.mailbox.index(of: sequence).map { entry.mailbox.slots[$0].state }
        guard left == nil || left == .owingReceipt else { return }
        entry.update(at) { $0.queue.change(to: .ending(sequence)) }
        if left == nil { awaitEnd(of: sequence, of: number, entry, &turn) }
    }

    /// Waits for the batch of this turn, which removes a message, if the next one of its registration waits for that.
    func awaitEnd(
        of sequence: SequenceNumber, of number: RegistrationNumber, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let at = entry.index(of: number), entry.registrations[at].queue.state == .ending(sequence)
        else { return }
        turn.wait(.device(entry, .gatewayEnd(number, sequence)))
    }

    /// Offers the next message. After a failed write the device is read again first.
    mutating func endStored(
        _ sequence: SequenceNumber, of number: RegistrationNumber, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard entry.state.isReady, let at = entry.index(of: number),
            entry.registrations[at].queue.state == .ending(sequence)
        else { return }
        entry.update(at) { $0.queue.change(to: .idle) }
        offerNext(at, entry, &turn)
    }

    /// Offers a message again whose receipt could not be stored.
    mutating func endRefused(
        _ sequence: SequenceNumber, of number: RegistrationNumber, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let at = entry.index(of: number), entry.registrations[at].queue.state == .ending(sequence)
        else { return }
        postpone(at, milliseconds: Int64(Limits.Store.sweepMilliseconds), entry, &turn)
    }

    /// A message that the gateway has answered.
    private struct SentMessage {
        /// The index of its registration.
        let registration: Int
        let sequence: SequenceNumber
        let isStored: Bool
    }

    // MARK: Accepted

    private mutating func accepted(
        _ sent: SentMessage, in environment: APNsEnvironment, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        entry.update(sent.registration) { $0.queue.resetAttempts() }
        knowToken(environment, at: sent.registration, entry, &turn)
        if let verdict = takeVerdict(of: sent.sequence, sent.registration, entry) {
            turn.accept(verdict.replyTo, verdict.id, canonical: verdict.canonical)
        }
        guard sent.isStored else {
            turn.effects.downstream.accepted += 1
            turn.effects.downstream.forwarded += 1
            let sender = entry.registrations[sent.registration].registration.sender
            turn.effects.senders.count(.accepted, of: sender)
            turn.effects.senders.count(.forwarded, of: sender)
            turn.recordPosition(sent.sequence, of: entry.device, .forwarded)
            return
        }
        // It may have been replaced or have expired meanwhile.
        guard let index = entry.mailbox.index(of: sent.sequence) else { return }
        removeAcknowledged(index, of: entry, &turn)
    }

    /// Corrects the environment of a device token that Apple has accepted, and forgets earlier doubts about it.
    private mutating func knowToken(
        _ environment: APNsEnvironment, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        var registration = entry.registrations[at].registration
        var state = registration.apnsState
        state.unknownSince = nil
        state.mismatchedSince = nil
        guard registration.apnsEnvironment != environment || state != registration.apnsState else { return }
        registration.apnsState = state
        // Apple has accepted it, so it is valid.
        if let token = AppleToken(registration.apnsToken) {
            registration.apnsToken = AppleToken(token.digits, isSandbox: environment == .sandbox).stored
        }
        change(at, of: entry, to: registration, &turn)
    }

    // MARK: Later

    private mutating func later(
        _ sent: SentMessage, _ delay: Int64, _ refusal: APNsRefusal, isAttempt: Bool = true,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        if sent.isStored {
            if let index = entry.mailbox.index(of: sent.sequence) {
                turn.traceEntry(
                    entry.mailbox.slots[index].entry, of: entry.device, .deferred, detail: refusal.traceDetail
                )
                entry.setState(.waiting(isStored: true), at: index, &turn)
            }
            // An outage would otherwise turn the wait after the next busy answer into a quarter of an hour.
            if isAttempt { entry.update(sent.registration) { $0.queue.countAttempt() } }
        } else {
            refuseSubmission(of: sent.sequence, sent.registration, refusal, entry, &turn)
        }
        release(at: sent.registration, refusal, entry, &turn)
        postpone(sent.registration, milliseconds: delay, entry, &turn)
    }

    /// Answers all submissions of a registration that wait: what is stored is accepted, what is not is refused.
    private mutating func release(
        at: Int, _ refusal: APNsRefusal, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let (stored, unstored) = entry.update(at) { $0.queue.takeAll() }
        for verdict in stored {
            gateway.verdicts.remove(verdict.deadline)
            turn.accept(verdict.replyTo, verdict.id, canonical: verdict.canonical)
        }
        for message in unstored {
            refuseSubmission(of: message.sequence, at, refusal, entry, &turn)
        }
    }

    /// Refuses the submission of a message that is not stored, if it waits for its answer.
    private mutating func refuseSubmission(
        of sequence: SequenceNumber, _ at: Int, _ refusal: APNsRefusal, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        turn.effects.downstream.refused += 1
        turn.recordPosition(sequence, of: entry.device, .refused, detail: refusal.traceDetail)
        guard let verdict = takeVerdict(of: sequence, at, entry) else { return }
        turn.refuse(verdict.replyTo, .apns(refusal))
    }

    // MARK: Refused

    private mutating func refused(
        _ sent: SentMessage, because refusal: APNsRefusal, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let isAwaited = entry.registrations[sent.registration].queue.awaits(sent.sequence)
        // It was accepted: it waits until the credential is repaired or its lifetime ends.
        if refusal.kind == .credential, sent.isStored, !isAwaited {
            return later(sent, Limits.APNs.credentialRetryMilliseconds, refusal, entry, &turn)
        }
        discard(sent, because: refusal, entry, &turn)
    }

    /// Refuses a message for good; its registration stays, and its next message starts with the shortest delay again.
    private mutating func discard(
        _ sent: SentMessage, because refusal: APNsRefusal, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        entry.update(sent.registration) { $0.queue.resetAttempts() }
        drop(sent, because: refusal, as: .discarded, entry, &turn)
    }

    /// Refuses a message for good: its submission if that still waits, and the message in the mailbox.
    private mutating func drop(
        _ sent: SentMessage, because refusal: APNsRefusal, as reason: Milestone, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        guard sent.isStored else {
            return refuseSubmission(of: sent.sequence, sent.registration, refusal, entry, &turn)
        }
        let verdict = takeVerdict(of: sent.sequence, sent.registration, entry)
        guard let index = entry.mailbox.index(of: sent.sequence) else {
            if let verdict { turn.refuse(verdict.replyTo, .apns(refusal)) }
            return
        }
        turn.traceEntry(
            entry.mailbox.slots[index].entry, of: entry.device, .refused, detail: refusal.traceDetail)
        remove(at: index, of: entry, reason: reason, &turn)
        // Not before the removal is on disk: a refused message must not be sent.
        if let verdict { turn.wait(.device(entry, .refusal(verdict.replyTo, .apns(refusal)))) }
    }

    // MARK: Tokens

    /// Ends the registration, unless the app has reported its token since the time that Apple names.
    private mutating func tokenEnded(
        _ sent: SentMessage, by verdict: APNsVerdict, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let queue = entry.registrations[sent.registration].queue
        let registration = entry.registrations[sent.registration].registration
        let reportedAt = registration.apnsReportedAt
        guard let reportedAt, let since = verdict.invalidSince, since < reportedAt else {
            return end(sent, APNsRefusal(.unregistered, verdict), verdict, entry, &turn)
        }
        // Once more, in case that Apple has learned it meanwhile; then the message alone is lost. It is refused as unavailable: app
        // servers delete registrations that are not registered.
        let refusal = APNsRefusal(.unavailable, verdict)
        guard queue.attempt > 0 || !sent.isStored else {
            return later(sent, Limits.APNs.renewedRetryMilliseconds, refusal, entry, &turn)
        }
        discard(sent, because: refusal, entry, &turn)
    }

    private mutating func tokenUnknown(
        _ sent: SentMessage, by verdict: APNsVerdict, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let registration = entry.registrations[sent.registration].registration
        let refusal = APNsRefusal(.badToken, verdict)
        if let since = registration.apnsState.unknownSince,
            turn.now.wall - since <= Limits.APNs.unknownWithinMilliseconds
        {
            return end(sent, refusal, verdict, entry, &turn)
        }
        let now = turn.now.wall
        record(at: sent.registration, entry, &turn) { $0.unknownSince = now }
        discard(sent, because: refusal, entry, &turn)
    }

    private mutating func tokenMismatched(
        _ sent: SentMessage, by verdict: APNsVerdict, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let registration = entry.registrations[sent.registration].registration
        let refusal = APNsRefusal(.mismatch, verdict)
        // A clock in doubt must not end a registration.
        if let since = registration.apnsState.mismatchedSince, turn.clock.doubt == nil,
            turn.now.wall - since > Limits.APNs.mismatchedMilliseconds
        {
            return end(sent, refusal, verdict, entry, &turn)
        }
        if registration.apnsState.mismatchedSince == nil {
            let now = turn.now.wall
            record(at: sent.registration, entry, &turn) { $0.mismatchedSince = now }
        }
        discard(sent, because: refusal, entry, &turn)
    }

    private mutating func record(
        at: Int, _ entry: DeviceEntry, _ turn: inout Turn, _ update: (inout APNsTokenState) -> Void
    ) {
        var registration = entry.registrations[at].registration
        update(&registration.apnsState)
        change(at, of: entry, to: registration, &turn)
    }

    /// Ends a registration: it receives nothing any more, and keeps the reason for those who send to it.
    private mutating func end(
        _ sent: SentMessage, _ refusal: APNsRefusal, _ verdict: APNsVerdict, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        let at = sent.registration
        drop(sent, because: refusal, as: .removed, entry, &turn)
        let end = APNsTokenState.End(verdict: verdict, seenAt: turn.now.wall)
        record(at: at, entry, &turn) { $0.end = end }
        if let entry = APNsFeedback(entry.registrations[at].registration) { turn.write(.putFeedback(entry)) }
        for subscription in entry.registrations[at].topics.all(of: entry.registrations[at].registration.name)
        {
            _ = endSubscription(to: subscription.topic, of: subscription.sender, at: at, entry, &turn)
        }
        dropAll(at: at, refusal, entry, &turn)
        turn.effects.endedTokens += 1
    }

    /// Drops all messages of a registration for the gateway.
    private mutating func dropAll(
        at: Int, _ refusal: APNsRefusal, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let number = entry.registrations[at].registration.name.number
        for slot in entry.mailbox.slots
        where slot.entry.registration == number && slot.entry.isForGateway && slot.state != .owingReceipt {
            drop(
                SentMessage(registration: at, sequence: slot.entry.sequence, isStored: true),
                because: refusal, as: .removed, entry, &turn)
        }
        release(at: at, refusal, entry, &turn)
    }

    // MARK: Submissions

    /// Answers a submission whose time is over: what is stored is accepted, a now-or-never message is refused.
    mutating func verdictOverdue(
        _ name: RegistrationName, _ sequence: SequenceNumber, _ turn: inout Turn
    ) {
        guard let entry = table[name.device], let at = entry.index(of: name.number),
            let verdict = takeVerdict(of: sequence, at, entry)
        else { return }
        whileAwake(entry, &turn) { _, turn in
            if verdict.isStored {
                turn.accept(verdict.replyTo, verdict.id, canonical: verdict.canonical)
            } else {
                entry.update(at) { $0.queue.removeUnstored(sequence) }
                turn.effects.downstream.refused += 1
                turn.refuse(verdict.replyTo, .apns(APNsRefusal(.unavailable)))
            }
        }
    }

    /// Offers the message of an answer again that could not wait for its device to be read.
    mutating func gatewayAnswerDropped(_ answer: GatewayAnswer, _ turn: inout Turn) {
        guard let entry = table[answer.registration.device],
            let at = entry.index(of: answer.registration.number),
            case .sent(answer.sequence, let isStored) = entry.registrations[at].queue.state
        else { return }
        if isStored, let index = entry.mailbox.index(of: answer.sequence) {
            entry.setState(.waiting(isStored: true), at: index, &turn)
        }
        postpone(at, milliseconds: Int64(Limits.Store.sweepMilliseconds), entry, &turn)
    }

    /// Answers the submission of a message that leaves the mailbox for another reason than Apple's verdict.
    mutating func settleVerdict(
        of message: borrowing MailboxEntry, _ reason: Milestone, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard message.isForGateway, let at = entry.index(of: message.registration),
            let verdict = takeVerdict(of: message.sequence, at, entry)
        else { return }
        if reason == .removed {
            turn.refuse(verdict.replyTo, .notRegistered)
        } else {
            turn.accept(verdict.replyTo, verdict.id, canonical: verdict.canonical)
        }
    }

    /// Removes and returns the submission of a message that waits for a verdict.
    private mutating func takeVerdict(
        of sequence: SequenceNumber, _ at: Int, _ entry: DeviceEntry
    ) -> GatewayQueue.Verdict? {
        let verdict = entry.update(at) { $0.queue.takeVerdict(of: sequence) }
        if let verdict { gateway.verdicts.remove(verdict.deadline) }
        return verdict
    }

    /// Refuses the now-or-never messages of a registration that is removed.
    mutating func refuseUnstored(of at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        release(at: at, APNsRefusal(.unregistered), entry, &turn)
        guard case .sent(let sequence, isStored: false) = entry.registrations[at].queue.state else { return }
        refuseSubmission(of: sequence, at, APNsRefusal(.unregistered), entry, &turn)
    }

    /// Clears the end of a registration whose app has reported its device token again.
    func revive(_ registration: inout Registration, _ turn: inout Turn) {
        if let feedback = APNsFeedback(registration) { turn.write(.removeFeedback(feedback)) }
        // Not at each start of the app: that would write the record each time.
        guard
            registration.apnsState.end != nil
                || turn.now.wall - (registration.apnsReportedAt ?? .min / 2)
                    > Limits.APNs.confirmedEveryMilliseconds
        else { return }
        registration.apnsState = APNsTokenState()
        registration.apnsState.confirmedAt = turn.now.wall
    }
}

extension APNsRefusal {
    /// The words of a trace.
    fileprivate var traceDetail: String {
        guard let verdict, verdict.status > 0 else { return kind.rawValue }
        return "\(kind.rawValue) \(verdict.status) \(verdict.reason)"
    }
}
