import Basics

/// Handling of the store's reports: outcomes of batches and answers to queries.
extension Partition {
    mutating func committed(_ outcome: CommitOutcome) {
        guard !outcome.hasFailed else { return failed(outcome) }
        guard let record = turn.ledger.remove(outcome.batchNumber) else {
            let isKnown = outcome.batchNumber < turn.ledger.nextBatchNumber
            turn.demand(!isKnown, "a batch was answered twice, or written after one that failed")
            return
        }
        turn.demand(turn.ledger.mutations >= 0, "the count of unanswered mutations is negative")
        turn.demand(
            outcome.duplicates.count <= record.mutations.count,
            "a batch has more duplicates than mutations")
        devices.removedUnread.committed(outcome.batchNumber)
        devices.mailboxesCommitted(outcome, &turn)
        turn.effects.downstream.add(stored: outcome.downstream)
        turn.effects.upstream.add(stored: outcome.upstream)
        turn.effects.senders.add(record.senders)
        resume(record, outcome)
    }

    /// A batch has failed, and unless it was refused itself, all later ones (`BatchOrder`), also what this turn has gathered: it was decided
    /// as if they were on disk. The batches from now on are made with the new count of failures.
    private mutating func failed(_ outcome: CommitOutcome) {
        guard turn.ledger.see(outcome) else { return }
        if outcome.failures != nil, !turn.effects.mutations.isEmpty { _ = turn.closeBatch() }
        let records = turn.ledger.removeAll(by: outcome)
        // First, because the continuations must not rely on the in-memory state of a failed batch.
        for (number, record) in records {
            devices.removedUnread.committed(number)
            devices.mailboxesCommitted(.failed(number), &turn)
            undo(record)
        }
        for (number, record) in records { resume(record, .failed(number)) }
    }

    private mutating func resume(_ record: consuming BatchRecord, _ outcome: CommitOutcome) {
        record.waiters.drain { resume($0, outcome) }
        if record.removesUpstream { senders.removalsCommitted(record, outcome) }
        devices.committed(record.devices, &turn)
        if outcome.hasFailed { keepSteps(of: record) } else { turn.stepsCommitted(record, outcome) }
    }

    /// Drops the steps of a failed batch, which have not happened, except those of the removals that are written again: they happen then.
    private mutating func keepSteps(of record: borrowing BatchRecord) {
        guard !record.history.isEmpty else { return }
        retriedSteps.append(
            record.history.filter { step in
                switch step.kind {
                case .upstream, .receipt:
                    senders.table[SenderID(step.sender)]?.leaving.contains(step.sequence) ?? false
                case .topic: true
                case .downstream, .group, .gap: false
                }
            })
    }

    /// A failed batch may or may not be on disk: what it changed is read or written again.
    private mutating func undo(_ record: borrowing BatchRecord) {
        for entry in record.devices {
            turn.demand(
                !entry.state.isLoading, "a device was read while a batch with its changes was unanswered",
                of: entry)
            entry.becomeStale()
        }
        for mutation in record.mutations {
            switch mutation {
            case .putUpstream(let message, _): senders.rewind(message.sender, before: message.sequence)
            case .putDevice(let device): devices.pendingLastSeen.record(device.device, at: device.seenAt)
            case .putSchedule, .removeSchedule: devices.schedule.invalidate()
            case .removeMessage(let device, let sequence, _, .replaced),
                .removeMessage(let device, let sequence, _, .discarded),
                .removeMessage(let device, let sequence, _, .removed):
                devices.table[device]?.willReturn(sequence)
            // A process that ends before the next record is due must still leave one.
            case .putMark(.clock, _): clockMark.next = .distantPast
            default: break
            }
        }
        topics.changesFailed(record)
        devices.topicChangesFailed(record)
    }

    private mutating func resume(_ waiter: consuming Waiter, _ outcome: CommitOutcome) {
        switch consume waiter {
        case .device(let entry, let waiter): devices.finish(waiter, of: entry, outcome, &turn)
        case .sender(let sender, let waiter): senders.finish(waiter, of: sender, outcome, &turn)
        case .topicMessage(let message, let requester):
            topics.messageCommitted(message, requester, hasFailed: outcome.hasFailed, &turn)
        case .topicEntries(let addition, let publications):
            devices.entriesCommitted(addition, publications, hasFailed: outcome.hasFailed, &turn)
        case .topicsDue: devices.topicsFed(&turn)
        case .group(let request, let changed):
            groups.changeCommitted(request, changed, hasFailed: outcome.hasFailed, &turn)
        case .installation(let id): installations.endTurn(of: id, &turn)
        case .reply(let requester, let success, let failure):
            turn.reply(outcome.hasFailed ? failure : success, to: requester)
        case .next(let event, let requester):
            if outcome.hasFailed {
                turn.refuseRequest(requester, .serviceNotAvailable)
            } else {
                turn.forward(event)
            }
        }
    }

    mutating func loaded(_ answer: StoreResult) {
        switch answer {
        case .device(let state): devices.loaded(state, &turn)
        case .messages(let device, let messages, let isLast):
            devices.pageLoaded(device, messages, isLast: isLast, &turn)
        case .gatewayMessage(let device, let sequence, let message):
            devices.gatewayMessageLoaded(message, sequence, of: device, &turn)
        case .named(_, let found, let lookup): devices.namedLoaded(found, lookup: lookup, &turn)
        case .schedule(let entries, let isLast): devices.scheduleLoaded(entries, isLast: isLast, &turn)
        case .gatewayDevices(let found, let next): devices.markedLoaded(found, next: next, &turn)
        case .upstream(let sender, let messages, let isLast):
            senders.pageLoaded(sender, messages, isLast: isLast, &turn)
        case .expired(let entries): expiredLoaded(entries)
        case .group(let name, let record, let isForChange):
            let isMatch = record.map { $0.name == name } ?? true
            guard turn.demand(isMatch, "the store returned another group", owner: .sender(name.sender))
            else { return loadFailed(.group(name, isForChange: isForChange)) }
            if isForChange {
                groups.changeLoaded(name.sender, record, &turn)
            } else {
                groups.membersLoaded(name, record, &turn)
            }
        case .groupLabelled(let sender, let label, let record):
            let isMatch = record.map { $0.name.sender == sender && $0.label == label } ?? true
            guard
                turn.demand(isMatch, "the store returned a group with another label", owner: .sender(sender))
            else { return loadFailed(.groupLabelled(sender, label)) }
            groups.changeLoaded(sender, record, &turn)
        case .unseen(let found, let next): devices.unseenLoaded(found, next: next, &turn)
        case .installation(let installation, let record, let names, let isForChange):
            if isForChange {
                installations.changeLoaded(installation, record, of: names, &turn)
            } else {
                installations.loaded(installation, record, of: names, &turn)
            }
        case .unusedInstallations(let found, let next, let before, let unlinkedBefore):
            installations.unusedLoaded(
                found, next: next, before: before, unlinkedBefore: unlinkedBefore, &turn)
        case .topicMessages(let messages, let isLast): topics.messagesLoaded(messages, isLast: isLast, &turn)
        case .topicEntries(let entries, let marks, let isLast):
            devices.logLoaded(entries, marks, isLast: isLast, &turn)
        case .topicDevices(let found, let next): devices.topicDevicesLoaded(found, next: next, &turn)
        case .failed(let question, let isDamage): loadFailed(question, isDamage: isDamage)
        }
    }

    private mutating func loadFailed(_ question: StoreQuery, isDamage: Bool = false) {
        switch question {
        case .device(let device): devices.loadFailed(device, isDamage: isDamage, &turn)
        case .messages(let device, _, _): devices.pageLoadFailed(device, isDamage: isDamage, &turn)
        case .gatewayMessage(let device, let sequence):
            devices.gatewayMessageFailed(device, sequence, &turn)
        case .named(_, _, let lookup): devices.namedFailed(lookup: lookup, &turn)
        case .schedule: devices.scheduleFailed(&turn)
        case .gatewayDevices: devices.gateway.search.failed(&turn)
        case .upstream(let sender, _, _): senders.pageLoadFailed(sender, &turn)
        case .expired:
            expirySweep.isAsking = false
        case .unseen: devices.sweep.failed(&turn)
        case .group(let name, let isForChange):
            if isForChange {
                groups.changeLoadFailed(name.sender, isDamage: isDamage, &turn)
            } else {
                groups.membersLoadFailed(name, isDamage: isDamage, &turn)
            }
        case .groupLabelled(let sender, _):
            groups.changeLoadFailed(sender, isDamage: isDamage, &turn)
        case .installation(let installation, _, let isForChange):
            installations.loadFailed(installation, isForChange: isForChange, &turn)
        case .unusedInstallations:
            turn.demand(
                installations.sweep.isAsking, "a search for installations failed that was not requested")
            installations.sweep.isAsking = false
        case .topicMessages: topics.messagesLoadFailed(&turn)
        case .topicEntries: devices.logLoadFailed(isDamage: isDamage, &turn)
        case .topicDevices: devices.topicDevicesFailed(&turn)
        }
    }
}
