import Basics

/// Messages of devices on their way into a sender's mailbox.
extension Dispatcher {
    // MARK: At the device's partition

    mutating func upstreamReceived(
        _ upstream: UpstreamSubmission, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = ready(upstream.device, orWait: .upstreamReceived(upstream), &effects) else {
            return
        }
        defer { devices.rest(entry) }
        traceUpstream(upstream, .received, &effects)
        noteDeviceTime(upstream, entry, &effects)
        // The newest registration of the app with the sender is the one it goes by (mcs-device 4.1).
        let name = entry.registrations.last {
            $0.registration.allows(upstream.sender) && $0.registration.category == upstream.category
        }?.registration.name
        guard let name, upstream.sender.number != 0 else {
            return refuse(upstream, .invalidParameters, &effects)
        }
        guard entry.waitingUpstream(of: upstream.category) < settings.waitingUpstream else {
            return refuse(upstream, .tooMany, &effects)
        }
        guard entry.buckets.takeUpstream(settings.rates, now.monotonic) else {
            return refuse(upstream, .tooMany, &effects)
        }
        entry.countWaiting(name.number, by: 1)
        guard let group = upstream.group else {
            effects.forwards.append(.upstreamResolved(upstream, from: name))
            return
        }
        let own = entry.registrations.map(\.registration).filter {
            $0.allows(upstream.sender) && $0.category == upstream.category
        }.map(\.name)
        var submission = GroupSubmission(group: group, submission: Submission(upstream))
        submission.author = GroupAuthor(own: own)
        effects.forwards.append(.groupSubmitted(submission))
    }

    mutating func upstreamAnswered(_ name: RegistrationName) {
        guard let entry = devices[name.device] else { return }
        entry.countWaiting(name.number, by: -1)
        devices.rest(entry)
    }

    private mutating func refuse(
        _ upstream: UpstreamSubmission, _ refusal: UpstreamRefusal, _ effects: inout Effects
    ) {
        traceUpstream(upstream, .refused, detail: refusal.rawValue, &effects)
        refuse(upstream.origin, refusal, &effects)
    }

    private func refuse(_ origin: Origin, _ refusal: UpstreamRefusal, _ effects: inout Effects) {
        effects.commands.append((origin.connection, .upstreamRefused(ticket: origin.ticket, refusal)))
        effects.upstream.refused += 1
    }

    // MARK: At the sender's partition

    mutating func upstreamResolved(
        _ upstream: UpstreamSubmission, from name: RegistrationName, _ now: Now, _ effects: inout Effects
    ) {
        guard directory[upstream.sender] != nil else {
            return refuse(upstream, name, .invalidParameters, &effects)
        }
        let entry = senders.entry(upstream.sender)
        guard entry.bucket.allows(settings.rates.senderUpstream, now: now.monotonic) else {
            return refuse(upstream, name, .tooMany, &effects)
        }
        entry.bucket.take(settings.rates.senderUpstream, now: now.monotonic)
        let lifetime = min(max(upstream.lifetimeSeconds, 0), Limits.upstreamLifetimeSeconds)
        let message = StoredUpstream(
            sender: upstream.sender, sequence: sequences.next(now), from: name,
            isFCMDomain: upstream.isFCMDomain, category: upstream.category,
            messageID: upstream.messageID, persistentID: upstream.persistentID,
            expiresAt: now.end(after: Int64(lifetime) * 1_000), lifetimeSeconds: lifetime,
            body: upstream.body)
        if lifetime == 0 {
            passOn(message, upstream, entry, now, &effects)
        } else if entry.stored >= settings.storedUpstreamPerSender
            || entry.shares.places(of: upstream.device, now.wall) >= settings.storedUpstreamPerDevice
        {
            refuse(upstream, name, .tooMany, &effects)
        } else if isOverloaded(effects) {
            refuse(upstream, name, .unavailable, &effects)
        } else {
            entry.stored += 1
            entry.shares.add(upstream.device, endingAt: message.expiresAt, now.wall)
            turn.waiters.append(.upstream(upstream.origin, mutation: effects.mutations.count))
            effects.mutations.append(.putUpstream(message, now: now.wall))
        }
    }

    /// Now or never: to a session with room, or refused.
    private mutating func passOn(
        _ message: StoredUpstream, _ upstream: UpstreamSubmission, _ entry: SenderEntry, _ now: Now,
        _ effects: inout Effects
    ) {
        guard let at = choose(for: message, of: entry, isForced: true) else {
            return refuse(upstream, message.from, .expired, &effects)
        }
        effects.upstream.accepted += 1
        traceUpstream(upstream, .accepted, detail: "now_or_never", &effects)
        let origin = upstream.origin
        effects.commands.append((origin.connection, .upstreamStored(ticket: origin.ticket)))
        answered(message.from, &effects)
        hand(message, toSessionAt: at, of: entry, isStored: false, now, &effects)
    }

    private mutating func refuse(
        _ upstream: UpstreamSubmission, _ name: RegistrationName, _ refusal: UpstreamRefusal,
        _ effects: inout Effects
    ) {
        refuse(upstream, refusal, &effects)
        answered(name, &effects)
    }

    /// Tells the device's partition that a message no longer waits.
    private func answered(_ name: RegistrationName, _ effects: inout Effects) {
        effects.forwards.append(.upstreamAnswered(name))
    }

    /// The batch that holds a message is on disk, or failed.
    mutating func upstreamCommitted(
        _ origin: Origin, _ message: StoredUpstream, _ outcome: CommitOutcome, _ now: Now,
        _ effects: inout Effects
    ) {
        let isDuplicate = outcome.duplicates.contains {
            $0.0 == message.sender && $0.1 == message.sequence
        }
        if outcome.hasFailed || isDuplicate, let entry = senders[message.sender] {
            entry.stored -= 1
            entry.shares.remove(message.from.device, endingAt: message.expiresAt)
        }
        guard !outcome.hasFailed else {
            traceUpstream(message, .refused, detail: UpstreamRefusal.unavailable.rawValue, &effects)
            refuse(origin, .unavailable, &effects)
            return answered(message.from, &effects)
        }
        // Also where the disk took longer than it had to live: its repetitions are acknowledged, so the device hears of its end as
        // of that of any other.
        effects.commands.append((origin.connection, .upstreamStored(ticket: origin.ticket)))
        answered(message.from, &effects)
        guard !isDuplicate else { return traceUpstream(message, .duplicate, &effects) }
        traceUpstream(message, .stored, &effects)
        traceUpstream(message, .accepted, &effects)
        effects.upstream.accepted += 1
        effects.upstream.stored += 1
        route(message, now, &effects)
    }

    // MARK: Receipts

    mutating func receiptDue(_ due: ReceiptDue, _ now: Now, _ effects: inout Effects) {
        guard directory[due.sender] != nil else {
            // Nobody is left to hear it.
            effects.forwards.append(.receiptStored(due.message.device, due.sequence))
            return
        }
        let receipt = StoredUpstream(
            sender: due.sender, sequence: sequences.next(now), kind: .receipt(sentAt: due.deliveredAt),
            from: due.message, category: due.category, messageID: due.messageID,
            expiresAt: now.end(after: Int64(Limits.upstreamLifetimeSeconds) * 1_000), lifetimeSeconds: 0,
            body: [])
        senders.entry(due.sender).stored += 1
        turn.waiters.append(
            .receipt(
                due.message.device, due.sequence, mutation: effects.mutations.count,
                origin: due.origin))
        effects.mutations.append(.putUpstream(receipt, now: now.wall))
    }
}

extension Submission {
    /// What the other members of a group are sent of a device's message; the target is set for each.
    fileprivate init(_ upstream: UpstreamSubmission) {
        self.init(
            origin: upstream.origin, sender: upstream.sender, target: .setLater,
            messageID: upstream.messageID, lifetimeSeconds: upstream.lifetimeSeconds, body: upstream.body)
    }
}

extension DeviceEntry {
    /// Upstream messages of an app that are on their way to the store.
    fileprivate func waitingUpstream(of category: [UInt8]) -> Int {
        var total = 0
        for waiting in waitingUpstream {
            guard let at = index(of: waiting.registration),
                registrations[at].registration.category == category
            else { continue }
            total += waiting.count
        }
        return total
    }

    /// Counts upstream messages on their way in and out.
    fileprivate func countWaiting(_ registration: RegistrationNumber, by change: Int) {
        guard let at = waitingUpstream.firstIndex(where: { $0.registration == registration }) else {
            if change > 0 { waitingUpstream.append((registration, change)) }
            return
        }
        waitingUpstream[at].count += change
        if waitingUpstream[at].count <= 0 { waitingUpstream.remove(at: at) }
    }
}
