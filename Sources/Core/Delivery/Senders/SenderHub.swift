import Basics

/// The senders of a partition: their sessions, and their mailboxes with upstream messages and receipts.
struct SenderHub: ~Copyable {
    var table: SenderTable
    /// The number of sessions of webhooks so far.
    var webhookSessions: UInt32 = 0

    init(hash: SipHash) { table = SenderTable(hash: hash) }

    mutating func handle(_ event: consuming SenderEvent, of sender: SenderID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(sender), "an event is for another sender", owner: .sender(sender))
        else {
            return refuse(event, &turn)
        }
        switch consume event {
        case .login(let connection, let key): login(connection, sender, key, &turn)
        case .keysRequested(let connection):
            turn.send(.loginKeys(turn.directory.provableKeys(of: sender)), to: connection)
        case .bound(let connection): bound(connection, sender, &turn)
        case .draining(let connection): draining(connection, sender, &turn)
        case .congested(let connection): congested(connection, sender)
        case .writable(let connection): writable(connection, sender, &turn)
        case .closed(let connection): closed(connection, sender, &turn)
        case .streamManaged(let connection, let id): streamManaged(connection, sender, id: id, &turn)
        case .streamDetached(let connection, let stream):
            streamDetached(connection, sender, stream, &turn)
        case .streamRequested(let connection, let id): streamRequested(connection, sender, id: id, &turn)
        case .upstreamFinished(let connection, let sequence, let outcome):
            upstreamFinished(connection, sender, sequence, outcome, &turn)
        case .upstreamResolved(let upstream, let token): upstreamResolved(upstream, from: token, &turn)
        case .groupUpstream(let submission): groupUpstream(submission, &turn)
        case .upstreamReturnFinished(let sequence, let hasFailed):
            returnFinished(sequence, of: sender, hasFailed: hasFailed, &turn)
        case .receiptDue(let receipt): receiptDue(receipt, &turn)
        }
    }

    /// Refuses an event that cannot be handled, if a peer waits for the answer.
    func refuse(_ event: SenderEvent, _ turn: inout Turn) {
        switch event {
        case .login(let connection, _):
            turn.send(AppServerCommand.loginRefused(.unavailable), to: connection)
        case .keysRequested(let connection): turn.send(.loginKeys([]), to: connection)
        case .streamRequested(let connection, _): turn.send(.streamNotResumed, to: connection)
        case .upstreamResolved(let upstream, let token):
            refuseUpstream(upstream, from: token.registration, .unavailable, &turn)
        case .groupUpstream(let submission): turn.answer(submission, .failure(.unavailable))
        case .receiptDue(let due): turn.forward(.receiptRefused(due.message.device, due.sequence))
        case .bound, .draining, .congested, .writable, .closed, .streamManaged, .streamDetached,
            .upstreamFinished, .upstreamReturnFinished:
            break
        }
    }

    /// Resets a sender whose state violates an invariant; its connections have been ordered to close.
    func readAgain(_ entry: SenderEntry) {
        for at in entry.sessions.indices { entry.sessions[at].mode = .draining }
        entry.reset()
    }

    // MARK: Commits

    /// Resumes an operation that waited for a batch.
    mutating func finish(
        _ waiter: consuming SenderWaiter, of sender: SenderID, _ outcome: CommitOutcome, _ turn: inout Turn
    ) {
        switch consume waiter {
        case .upstream(let message, let requester):
            turn.demand(
                message.sender == sender, "a message was stored for another sender", owner: .sender(sender))
            upstreamCommitted(requester, message, outcome, &turn)
        case .receipt(let receipt, let sequence):
            turn.demand(
                receipt.sender == sender, "a receipt was stored for another sender", owner: .sender(sender))
            receiptCommitted(receipt, ofMessage: sequence, hasFailed: outcome.hasFailed, &turn)
        }
    }

    /// Moves the cursor back after a failed put, since the message may be on disk all the same.
    func rewind(_ sender: SenderID, before sequence: SequenceNumber) {
        table[sender]?.rewind(before: sequence)
    }

    /// Marks the removals of a batch as confirmed; those of a failed batch are tried again at the next tick.
    func removalsCommitted(_ record: borrowing BatchRecord, _ outcome: CommitOutcome) {
        for mutation in record.mutations {
            guard case .removeUpstream(let sender, let sequence, _, _) = mutation, let entry = table[sender]
            else { continue }
            if outcome.hasFailed, entry.failedRemovals.count < Limits.Store.expiredPerSweep {
                entry.failedRemovals.append(mutation)
            } else {
                entry.leaving.remove(sequence.number)
            }
        }
    }

    // MARK: Settings

    mutating func ratesChanged(from old: Rates, _ turn: inout Turn) {
        let rate = turn.settings.rates.senderUpstream
        for entry in table.all {
            entry.bucket.change(from: old.senderUpstream, to: rate, now: turn.now.monotonic)
            pump(entry, &turn)
        }
    }

    /// Ends the sessions that may no longer send. The next tick adapts those of webhooks: this is also how a
    /// partition begins, whose effects are lost then.
    mutating func directoryChanged(_ turn: inout Turn) {
        for entry in table.all { endRevoked(of: entry, &turn) }
        loadWebhooks(turn)
    }

    // MARK: Time

    mutating func tick(_ turn: inout Turn) {
        for entry in table.all {
            removeUnansweredReceipts(of: entry, &turn)
            if !entry.failedRemovals.isEmpty {
                turn.demand(
                    entry.failedRemovals.count <= Limits.Store.expiredPerSweep,
                    "there are more failed removals than the limit", of: entry)
                turn.effects.mutations += entry.failedRemovals
                entry.failedRemovals = []
                turn.batch.removesUpstream = true
            }
            forgetOldStreams(of: entry, turn)
            endExpired(of: entry, &turn)
            adaptWebhook(of: entry, &turn)
            pump(entry, &turn)
            forgetIfUnneeded(entry, &turn)
        }
    }

    /// Removes a deleted sender from memory once it has no sessions and no outstanding operations.
    private mutating func forgetIfUnneeded(_ entry: SenderEntry, _ turn: inout Turn) {
        guard entry.sessions.isEmpty, entry.leaving.isEmpty, entry.pageRead == nil,
            turn.directory[entry.sender] == nil
        else { return }
        turn.demand(
            entry.sticky.isEmpty && entry.backlog.isEmpty,
            "a sender is removed from memory with outstanding messages",
            of: entry)
        table.remove(entry.sender)
    }
}
