import Basics

/// What the store answers, and time.
extension Dispatcher {
    mutating func committed(_ outcome: CommitOutcome, _ now: Now, _ effects: inout Effects) {
        guard let record = ledger.take(outcome.ticket) else { return }
        if outcome.hasFailed {
            // Before the answers: what they lead to must not rely on what is in memory.
            for entry in record.devices { entry.phase = .stale }
            for mutation in record.mutations {
                switch mutation {
                // A failed batch may be on disk all the same: what it put is looked for.
                case .putUpstream(let message, _): senders[message.sender]?.rewind(before: message.sequence)
                case .putDevice(let device): contacts.note(device.device, at: device.seenAt)
                // A process that ends before the next note is due must leave one all the same.
                case .putMark(.clock, _): clockMark.next = .distantPast
                default: break
                }
            }
            topicChangesFailed(record)
        } else {
            effects.downstream.add(record.downstream)
            effects.upstream.add(record.upstream)
        }
        for waiter in record.waiters { settle(waiter, record, outcome, now, &effects) }
        if record.removesUpstream { forgetRemovals(record, hasFailed: outcome.hasFailed, now, &effects) }
        for entry in record.devices {
            entry.batchesInFlight -= 1
            if entry.phase == .stale { reload(entry, &effects) } else { devices.rest(entry) }
        }
    }

    private mutating func settle(
        _ waiter: Waiter, _ record: borrowing BatchRecord, _ outcome: CommitOutcome, _ now: Now,
        _ effects: inout Effects
    ) {
        switch waiter {
        case .submission(let origin, let entry, let at, let canonical):
            guard case .putMessage(let message) = record.mutations[at] else { return }
            guard !outcome.hasFailed else {
                refuse(origin, of: message.sender, .unavailable, &effects)
                effects.downstream.refused += 1
                traceMessage(message, .refused, detail: Refusal.unavailable.word, &effects)
                return
            }
            answer(origin, of: message.sender, message.persistentID, canonical: canonical, &effects)
            traceMessage(message, .stored, &effects)
            traceMessage(message, .accepted, &effects)
            messageStored(message, entry, now, &effects)
        case .marker(let entry, let at):
            if !outcome.hasFailed, case .putMessage(let marker) = record.mutations[at] {
                messageStored(marker, entry, now, &effects)
            }
        case .login(let connection, let entry):
            loginSettled(connection, entry, hasFailed: outcome.hasFailed, &effects)
        case .upstream(let origin, let at):
            if case .putUpstream(let message, _) = record.mutations[at] {
                upstreamCommitted(origin, message, outcome, now, &effects)
            }
        case .receipt(let device, let sequence, let at, let origin):
            effects.forwards.append(
                outcome.hasFailed ? .receiptRefused(device, sequence) : .receiptStored(device, sequence))
            if !outcome.hasFailed, case .putUpstream(var receipt, _) = record.mutations[at] {
                receipt.origin = origin
                route(receipt, now, &effects)
            }
        case .returned(let gone, let entry, let at):
            returnCommitted(gone, entry, record.mutations[at], outcome, now, &effects)
        case .topicJob(let origin, let at):
            if case .putTopicJob(let job) = record.mutations[at] {
                topicJobCommitted(job, origin, hasFailed: outcome.hasFailed, now, &effects)
            }
        case .group(let request, let changed):
            groupCommitted(request, changed, hasFailed: outcome.hasFailed, &effects)
        case .installation(let id): endInstallationTurn(id, &effects)
        case .request(let connection, let success, let failure):
            effects.commands.append((connection, outcome.hasFailed ? failure : success))
        case .next(let event, let origin):
            guard outcome.hasFailed else { return effects.forwards.append(event) }
            effects.commands.append(
                (
                    origin.connection,
                    .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)
                ))
        }
    }

    /// Removals of a batch are no longer on their way; those of a failed one are tried again at the next tick.
    private mutating func forgetRemovals(
        _ record: borrowing BatchRecord, hasFailed: Bool, _ now: Now, _ effects: inout Effects
    ) {
        for mutation in record.mutations {
            guard case .removeUpstream(let sender, let sequence, _, _) = mutation,
                let entry = senders[sender]
            else { continue }
            if hasFailed, entry.failedRemovals.count < Limits.expiredPerSweep {
                entry.failedRemovals.append(mutation)
            } else {
                entry.leaving.remove(sequence.number)
            }
        }
    }

    mutating func loaded(_ loaded: Loaded, _ now: Now, _ effects: inout Effects) {
        switch loaded {
        case .device(let state): deviceLoaded(state, now, &effects)
        case .messages(let device, let messages, let isLast):
            pageLoaded(device, messages, isLast: isLast, now, &effects)
        case .upstream(let sender, let messages, let isLast):
            upstreamLoaded(sender, messages, isLast: isLast, now, &effects)
        case .expired(let entries):
            sweep.isAsking = false
            for entry in entries { effects.forwards.append(.expired(entry)) }
        case .group(let name, let record, let isForChange):
            if isForChange {
                groupLoaded(name.sender, record, now, &effects)
            } else {
                groupRead(name, record, &effects)
            }
        case .groupLabelled(let sender, _, let record): groupLoaded(sender, record, now, &effects)
        case .failed(.group(let name, let isForChange)):
            if isForChange { groupLoadFailed(name.sender, &effects) } else { groupReadFailed(name, &effects) }
        case .failed(.groupLabelled(let sender, _)): groupLoadFailed(sender, &effects)
        case .unseen(let devices, let next): unseenLoaded(devices, next: next, now, &effects)
        case .installation(let installation, let record, let names, let isForChange):
            if isForChange {
                installationChanges(installation, record, names, now, &effects)
            } else {
                installationLoaded(installation, record, names, &effects)
            }
        case .unusedInstallations(let found, let next, let before, let unlinkedBefore):
            unusedInstallationsLoaded(
                found, next: next, before: before, unlinkedBefore: unlinkedBefore, now, &effects)
        case .topicPage(let job, let page): topicPageLoaded(job, page, now, &effects)
        case .topicJobs(let jobs, let isLast): topicJobsLoaded(jobs, isLast: isLast, &effects)
        case .failed(.topicPage(let job, _, _, _)): topicPageLoadFailed(job, now)
        case .failed(.topicJobs): topicResumption.isAsking = false
        case .failed(.installation(let installation, _, let isForChange)):
            installationLoadFailed(installation, isForChange: isForChange, &effects)
        case .failed(.unusedInstallations): installationSweep.isAsking = false
        case .failed(.device(let device)): deviceLoadFailed(device, now, &effects)
        case .failed(.messages(let device, _, _)): pageLoadFailed(device, &effects)
        case .failed(.upstream(let sender, _, _)): senders[sender]?.load = nil
        case .failed(.expired): sweep.isAsking = false
        case .failed(.unseen): deviceSweep.isAsking = false
        }
    }

    /// The time of something that is stored is over.
    mutating func expired(_ entry: ExpiredEntry, _ now: Now, _ effects: inout Effects) {
        // Whoever asked for it may have been deceived.
        guard clock.doubt == nil else { return }
        switch entry {
        case .message(let device, let sequence, let expiresAt):
            messageExpired(device, sequence, expiresAt, now, &effects)
        case .upstream(let sender, let sequence, let expiresAt, let author):
            upstreamExpired(sender, sequence, expiresAt, author, now, &effects)
        case .topicBody(let job, let expiresAt):
            effects.mutations.append(.removeTopicBody(job, expiresAt: expiresAt))
        }
    }

    mutating func tick(_ now: Now, _ effects: inout Effects) {
        tickClock(now, &effects)
        if partition == 0, !sweep.isAsking, clock.doubt == nil, now.monotonic >= sweep.next {
            sweep.isAsking = true
            sweep.next = now.monotonic.advanced(milliseconds: Int64(Limits.sweepMilliseconds))
            effects.loads.append(.expired(by: now.wall, limit: Limits.expiredPerSweep))
        }
        tickContacts(&effects)
        tickDevices(now, &effects)
        tickInstallations(now, &effects)
        tickHeld(now, &effects)
        tickSenders(now, &effects)
        tickTopics(now, &effects)
    }
}
