import Basics

/// Admission of messages from devices to a sender's mailbox.
extension SenderHub {
    mutating func upstreamResolved(
        _ upstream: UpstreamSubmission, from token: TokenName, _ turn: inout Turn
    ) {
        let name = token.registration
        guard turn.directory[upstream.sender] != nil else {
            return refuseUpstream(upstream, from: name, .invalidParameters, &turn)
        }
        let entry = table.entry(upstream.sender)
        guard entry.bucket.allows(turn.settings.rates.senderUpstream, now: turn.now.monotonic) else {
            return refuseUpstream(upstream, from: name, .tooMany, &turn)
        }
        entry.bucket.consume(turn.settings.rates.senderUpstream, now: turn.now.monotonic)
        let lifetime = min(max(upstream.lifetimeSeconds, 0), Limits.Message.upstreamLifetimeSeconds)
        var message = StoredUpstream(
            sender: upstream.sender, sequence: turn.nextSequence(), from: name,
            isFCMDomain: upstream.isFCMDomain, category: upstream.category,
            messageID: upstream.messageID, persistentID: upstream.persistentID,
            expiresAt: turn.now.expiry(after: Int64(lifetime) * 1_000), lifetimeSeconds: lifetime,
            body: upstream.body)
        message.tokenPrefix = token.prefix
        turn.demand(name.device == upstream.device, "a message comes from another device's app", of: entry)
        turn.demand(
            message.sequence > entry.newest && message.sequence > entry.cursor,
            "a message's sequence is not the newest", of: entry)
        if lifetime == 0 {
            deliverUnstored(message, upstream, entry, &turn)
        } else if entry.stored >= turn.settings.storedUpstreamPerSender
            || entry.shares.places(of: upstream.device, turn.now.wall)
                >= turn.settings.storedUpstreamPerDevice
        {
            refuseUpstream(upstream, from: name, .tooMany, &turn)
        } else if turn.isOverloaded {
            refuseUpstream(upstream, from: name, .unavailable, &turn)
        } else {
            turn.demand(entry.stored >= 0, "the message count of a mailbox is negative", of: entry)
            turn.demand(
                message.expiresAt > turn.now.wall, "a message expires before it is accepted", of: entry)
            entry.stored += 1
            entry.shares.add(upstream.device, endingAt: message.expiresAt, turn.now.wall)
            turn.write(
                .putUpstream(message, now: turn.now.wall),
                then: .sender(entry.sender, .upstream(message, upstream.requester)))
        }
    }

    /// Delivers a now-or-never message to a session with room, or refuses it.
    private mutating func deliverUnstored(
        _ message: StoredUpstream, _ upstream: UpstreamSubmission, _ entry: SenderEntry, _ turn: inout Turn
    ) {
        guard let at = choose(for: message, of: entry, isForced: true, turn) else {
            return refuseUpstream(upstream, from: message.from, .expired, &turn)
        }
        turn.effects.upstream.accepted += 1
        turn.effects.senders.count(.upstreamAccepted, of: message.sender)
        turn.traceUpstream(message, .accepted, detail: "now_or_never")
        let requester = upstream.requester
        turn.send(.upstreamStored(requestID: requester.requestID), to: requester.connection)
        turn.forward(.upstreamAnswered(message.from, requester))
        deliver(message, toSessionAt: at, of: entry, isStored: false, &turn)
    }

    func refuseUpstream(
        _ upstream: UpstreamSubmission, from name: RegistrationName, _ refusal: UpstreamRefusal,
        _ turn: inout Turn
    ) {
        turn.refuseUpstream(upstream, refusal)
        turn.forward(.upstreamAnswered(name, upstream.requester))
    }

    /// Answers a message whose batch is on disk or has failed, and routes it.
    mutating func upstreamCommitted(
        _ requester: Requester, _ message: StoredUpstream, _ outcome: CommitOutcome, _ turn: inout Turn
    ) {
        let isDuplicate = outcome.duplicates.contains {
            $0.0 == message.sender && $0.1 == message.sequence
        }
        if outcome.hasFailed || isDuplicate, let entry = table[message.sender] {
            entry.countRemoved()
            entry.shares.remove(message.from.device, endingAt: message.expiresAt)
            turn.demand(
                entry.shares.isSound, "the message count of the devices is negative", of: entry)
        }
        guard !outcome.hasFailed else {
            turn.traceUpstream(message, .refused, detail: UpstreamRefusal.unavailable.rawValue)
            turn.effects.senders.count(.upstreamRefused, of: message.sender)
            turn.refuseUpstream(requester, .unavailable)
            return turn.forward(.upstreamAnswered(message.from, requester))
        }
        // Also if it expired before it was on disk: its retransmissions are acknowledged, so its expiry is reported to the device
        // like that of any other message.
        turn.send(.upstreamStored(requestID: requester.requestID), to: requester.connection)
        turn.forward(.upstreamAnswered(message.from, requester))
        guard !isDuplicate else { return turn.traceUpstream(message, .duplicate) }
        turn.traceUpstream(message, .stored)
        turn.traceUpstream(message, .accepted)
        turn.effects.senders.count(.upstreamAccepted, of: message.sender)
        route(message, &turn)
    }

    /// Charges the sender's rate for a device's message to a group, and forwards it to the group.
    mutating func groupUpstream(_ submission: GroupSubmission, _ turn: inout Turn) {
        let sender = submission.group.sender
        let rate = turn.settings.rates.senderUpstream
        guard sender == submission.sender, turn.directory[sender] != nil else {
            return turn.answer(submission, .failure(.notRegistered))
        }
        let entry = table.entry(sender)
        guard entry.bucket.allows(rate, now: turn.now.monotonic) else {
            return turn.answer(submission, .failure(.senderRateExceeded))
        }
        entry.bucket.consume(rate, now: turn.now.monotonic)
        turn.forward(.groupSubmitted(submission))
    }
}
