import Basics

/// Messages to iOS apps, which travel through the APNs gateway: which message is offered when.
///
/// `DeviceHub+Verdicts` handles the gateway's answers.
extension DeviceHub {
    // MARK: Submissions

    /// Answers a submission of a stored message to an iOS app: at once, or with Apple's verdict if that is likely to come soon
    /// (apns 4.1).
    mutating func answerForGateway(
        _ message: borrowing StoredMessage, to replyTo: ReplyTo, canonical: TokenName?,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let id = message.persistentID
        guard replyTo.waitsForVerdict, let at = entry.index(of: message.registration),
            entry.mailbox.index(of: message.sequence) != nil,
            gateway.verdicts.count < turn.shares.waitingVerdicts,
            !entry.registrations[at].queue.isDeferred
        else { return turn.accept(replyTo, id, canonical: canonical) }
        waitForVerdict(of: message, replyTo, canonical: canonical, isStored: true, at: at, entry, &turn)
    }

    private mutating func waitForVerdict(
        of message: borrowing StoredMessage, _ replyTo: ReplyTo, canonical: TokenName?,
        isStored: Bool, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let deadline = gateway.verdicts.add(
            entry.registrations[at].registration.name, message.sequence,
            due: turn.now.monotonic.advanced(milliseconds: Limits.APNs.verdictMilliseconds))
        let verdict = GatewayQueue.Verdict(
            sequence: message.sequence, replyTo: replyTo, id: message.persistentID, canonical: canonical,
            isStored: isStored, deadline: deadline)
        entry.update(at) { $0.queue.add(verdict) }
    }

    /// Offers a now-or-never message, which is answered with Apple's verdict.
    mutating func offerUnstored(
        _ message: consuming StoredMessage, answering replyTo: ReplyTo, canonical: TokenName?, at: Int,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let queue = entry.registrations[at].queue
        guard !queue.isDeferred, queue.unstored.count < Limits.APNs.waitingUnstored,
            gateway.verdicts.count < turn.shares.waitingVerdicts
        else {
            turn.traceMessage(message, .refused, detail: "now_or_never")
            let refusal = Refusal.apns(APNsRefusal(.unavailable))
            turn.refuse(replyTo, refusal)
            return turn.countRefused(refusal, of: message.sender)
        }
        if replyTo.waitsForVerdict {
            waitForVerdict(of: message, replyTo, canonical: canonical, isStored: false, at: at, entry, &turn)
        } else {
            turn.accept(replyTo, message.persistentID, canonical: canonical)
        }
        turn.traceMessage(message, .accepted, detail: "now_or_never")
        if queue.isOpen {
            offer(message, isStored: false, at: at, entry, &turn)
        } else {
            let waiting = copy message
            entry.update(at) { $0.queue.add(waiting) }
        }
    }

    /// Refuses a message that would wait for APNs behind too many others of its registration.
    ///
    /// Those that wait were accepted and are never discarded for it: APNs may be slow or away, but the app would not learn of it as
    /// one with a connection does from a marker.
    func checkGatewayRoom(
        for submission: borrowing Submission, _ at: Int, _ entry: DeviceEntry, _ turn: borrowing Turn
    ) throws(Refusal) {
        guard submission.content.apns != nil, submission.content.lifetimeSeconds > 0,
            !submission.content.isDryRun
        else { return }
        let cap = max(turn.settings.storedMessages, turn.settings.unacknowledgedPerDevice)
        if entry.registrations[at].counts.gatewayWaiting >= cap { throw .deviceRateExceeded }
    }

    // MARK: Offers

    /// Offers a message that is now on disk, unless an earlier one of its registration is not answered yet.
    mutating func gatewayMessageStored(
        _ message: consuming StoredMessage, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let at = entry.index(of: message.registration), entry.registrations[at].queue.isOpen else {
            return
        }
        // The pairs of a topic message may have to be read.
        guard message.hasBody else { return offerNext(at, entry, &turn) }
        offerStored(message, at: at, entry, &turn)
    }

    /// Offers the next message of a registration: a now-or-never message, or the first that is stored.
    mutating func offerNext(_ at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.state.isReady, entry.registrations[at].queue.isOpen else { return }
        if let next = entry.update(at, { $0.queue.takeUnstored() }) {
            return offer(next, isStored: false, at: at, entry, &turn)
        }
        let number = entry.registrations[at].registration.name.number
        let first = entry.mailbox.slots.first {
            $0.entry.registration == number && $0.isReadyForGateway
        }
        guard let first else { return }
        entry.update(at) { $0.queue.change(to: .loading(first.entry.sequence)) }
        turn.load(.gatewayMessage(entry.device, first.entry.sequence))
    }

    mutating func gatewayMessageLoaded(
        _ message: StoredMessage?, _ sequence: SequenceNumber, of device: DeviceID,
        _ turn: inout Turn
    ) {
        guard let entry = table[device] else { return }
        whileAwake(entry, &turn) { hub, turn in
            guard let at = entry.index(loading: sequence) else { return }
            entry.update(at) { $0.queue.change(to: .idle) }
            guard entry.state.isReady else { return }
            guard let index = entry.mailbox.index(of: sequence), entry.mailbox.slots[index].isReadyForGateway
            else { return hub.offerNext(at, entry, &turn) }
            guard let message, message.hasBody else {
                entry.updateMessage(at: index) { $0.passOver() }
                return hub.offerNext(at, entry, &turn)
            }
            hub.offerStored(message, at: at, entry, &turn)
        }
    }

    mutating func gatewayMessageFailed(_ device: DeviceID, _ sequence: SequenceNumber, _ turn: inout Turn) {
        guard let entry = table[device], let at = entry.index(loading: sequence) else { return }
        whileAwake(entry, &turn) {
            $0.postpone(at, milliseconds: Int64(Limits.Store.sweepMilliseconds), entry, &$1)
        }
    }

    private mutating func offerStored(
        _ message: consuming StoredMessage, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        guard let index = entry.mailbox.index(of: message.sequence) else {
            return offerNext(at, entry, &turn)
        }
        guard message.expiresAt > turn.now.expiryCutoff else {
            remove(at: index, of: entry, reason: .expired, &turn)
            return offerNext(at, entry, &turn)
        }
        turn.demand(message.hasBody, "a message is offered without its shared body", of: entry)
        entry.setState(.atGateway, at: index, &turn)
        offer(message, isStored: true, at: at, entry, &turn)
    }

    private mutating func offer(
        _ message: consuming StoredMessage, isStored: Bool, at: Int, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        turn.demand(
            entry.registrations[at].queue.isOpen, "two messages of a registration are at the gateway",
            of: entry)
        let registration = entry.registrations[at].registration
        let sequence = message.sequence
        entry.update(at) { $0.queue.change(to: .sent(sequence, isStored: isStored)) }
        turn.effects.downstream.sent += 1
        turn.traceMessage(message, .sent, detail: isStored ? "apns" : "apns now_or_never")
        let path = message.shared?.path ?? []
        turn.effects.deliveries.append(
            GatewayDelivery(
                message: message, registration: registration.name, app: registration.app,
                registeredAt: registration.apnsReportedAt, topicPath: path,
                isStored: isStored, attempt: entry.registrations[at].queue.attempt))
    }

    /// Offers the next message of a registration later.
    mutating func postpone(
        _ at: Int, milliseconds: Int64, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let due = turn.now.monotonic.advanced(milliseconds: max(0, milliseconds))
        entry.update(at) { $0.queue.change(to: .deferred(until: due)) }
        gateway.deferred.add(entry.registrations[at].registration.name, due: due)
    }

    // MARK: Time

    mutating func tickGateway(_ turn: inout Turn) {
        let now = turn.now.monotonic
        while let overdue = gateway.verdicts.popOverdue(now) {
            verdictOverdue(overdue.name, overdue.sequence, &turn)
        }
        while let name = gateway.deferred.popFirst(dueBy: now) {
            handle(.gatewayDue(name.number), of: name.device, &turn)
        }
        gateway.search.continueIfDue(&turn)
    }

    /// Offers the next message of a registration whose time has come. It may have been evicted and read again since.
    mutating func gatewayDue(_ number: RegistrationNumber, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard let at = entry.index(of: number) else { return }
        if case .deferred(let until) = entry.registrations[at].queue.state {
            guard until <= turn.now.monotonic else { return }
            entry.update(at) { $0.queue.change(to: .idle) }
        }
        offerNext(at, entry, &turn)
    }

    mutating func markedLoaded(_ found: [DeviceID], next: DeviceID?, _ turn: inout Turn) {
        gateway.search.found(next: next, &turn)
        for device in found { handle(.markedForGateway, of: device, &turn) }
    }
}

extension ReplyTo {
    /// Whether the answer waits for Apple's verdict. A topic message is answered before it is sent.
    fileprivate var waitsForVerdict: Bool {
        switch self {
        case .session, .group: true
        case .nobody: false
        }
    }
}
