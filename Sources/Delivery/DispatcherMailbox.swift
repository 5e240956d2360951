import Basics

/// Submissions, acknowledgements and expiry: what enters a device's mailbox and what leaves it.
extension Dispatcher {
    mutating func submitted(
        _ given: consuming Submission, _ now: Now, _ effects: inout Effects
    ) {
        var submission = given
        let device = submission.target.device
        guard let entry = ready(device, forTopic: submission.topic != nil) else {
            return wait(.submitted(submission), for: device, &effects)
        }
        let (origin, sender) = (submission.origin, submission.sender)
        guard isMeant(submission, entry, now) else {
            answer(topicJob: origin, of: sender, .passedOver, &effects)
            return devices.rest(entry)
        }
        do {
            var at = try check(submission, entry, now.monotonic, effects)
            var canonical: RegistrationName?
            // A web push is encrypted for this subscription, and no newer one could read it.
            if submission.entitlement == .account, submission.topic == nil,
                let newer = try replacement(of: at, entry, now)
            {
                at = newer
                canonical = entry.registrations[newer].registration.name
                submission.target = entry.registrations[newer].registration.name
            }
            try entry.registrations[at].registration.complete(&submission)
            if submission.isDryRun {
                traceSubmission(submission, .accepted, detail: "dry_run", &effects)
                answer(origin, of: sender, nil, canonical: canonical, &effects)
            } else if submission.lifetimeSeconds <= 0 {
                count(submission, entry, now.monotonic)
                passOn(submission, at: at, canonical, entry, now, &effects)
            } else {
                count(submission, entry, now.monotonic)
                store(submission, at: at, canonical, entry, now, &effects)
            }
        } catch {
            traceSubmission(submission, .refused, detail: error.word, &effects)
            refuse(origin, of: sender, error, &effects)
            effects.downstream.refused += 1
        }
        devices.rest(entry)
    }

    /// Whether it may be accepted (ccs-xmpp 3.4, from step 8): the place of its registration.
    private func check(
        _ submission: borrowing Submission, _ entry: DeviceEntry, _ now: Instant,
        _ effects: borrowing Effects
    ) throws(Refusal) -> Int {
        guard let at = entry.index(of: submission.target.number) else { throw .notRegistered }
        let registration = entry.registrations[at].registration
        try registration.checkEntitlement(of: submission)
        if let only = submission.restrictedPackage, only != registration.category { throw .packageMismatch }
        guard entry.buckets.allowsMessage(settings.rates, now) else { throw .deviceRateExceeded }
        if submission.entitlement == .account, submission.topic == nil,
            !messageBuckets.allows(submission.sender, now: now)
        {
            throw .senderRateExceeded
        }
        if submission.lifetimeSeconds > 0, !submission.isDryRun, isOverloaded(effects) {
            throw .unavailable
        }
        return at
    }

    /// The place of the registration that replaced one (ccs-xmpp 6); nil: none has, or it is not on disk yet.
    ///
    /// It is the newest of the same app, subtype and senders on the device that another instance of the app asked for.
    /// The old token works until the time of `Limits.replacedRegistrationSeconds` is over.
    private func replacement(
        of at: Int, _ entry: DeviceEntry, _ now: Now
    ) throws(Refusal) -> Int? {
        var place = entry.registrations.count - 1
        while place > at {
            let newer = entry.registrations[place].registration
            let isOpen = entry.registrations[place].batch.map { ledger.isOpen($0) } ?? false
            if !newer.instance.isEmpty, !isOpen, newer.isSameApp(as: entry.registrations[at].registration) {
                let end = newer.createdAt + Int64(Limits.replacedRegistrationSeconds) * 1_000
                // One of a time that cannot have been says nothing of how long ago it was.
                guard newer.createdAt < Limits.earliestClock || now.ended < end else { throw .notRegistered }
                return place
            }
            place -= 1
        }
        return nil
    }

    /// Notes a message that is accepted with the rates it counts for.
    private mutating func count(
        _ submission: borrowing Submission, _ entry: DeviceEntry, _ now: Instant
    ) {
        entry.buckets.takeMessage(settings.rates, now)
        if submission.entitlement == .account, submission.topic == nil {
            messageBuckets.take(submission.sender, now: now)
        }
    }

    /// Now or never: delivered if the device is there, and answered at once either way.
    private mutating func passOn(
        _ submission: consuming Submission, at: Int, _ canonical: RegistrationName?,
        _ entry: DeviceEntry, _ now: Now, _ effects: inout Effects
    ) {
        let origin = submission.origin
        let message = message(of: submission, now)
        answer(origin, of: message.sender, message.persistentID, canonical: canonical, &effects)
        effects.downstream.accepted += 1
        traceMessage(message, .accepted, detail: "now_or_never", &effects)
        guard let link = entry.link, link.takesPassing, !waits(message.delaysWhileIdle, for: entry) else {
            effects.downstream.expired += 1
            traceMessage(message, .expired, detail: "now_or_never", &effects)
            return
        }
        send(message, isStored: false, entry, registrationAt: at, link.connection, &effects)
    }

    /// Puts it in the mailbox; it is answered and delivered once that is on disk.
    private mutating func store(
        _ submission: consuming Submission, at: Int, _ canonical: RegistrationName?,
        _ entry: DeviceEntry, _ now: Now, _ effects: inout Effects
    ) {
        let state: MailboxSlot.State = waits(submission.delaysWhileIdle, for: entry) ? .delayed : .waiting
        if let key = submission.collapseKey {
            makeRoom(for: key, state, registrationAt: at, entry, now.monotonic, &effects)
        }
        turn.waiters.append(
            .submission(
                submission.origin, entry, mutation: effects.mutations.count, canonical: canonical))
        let origin = submission.submitter ?? submission.origin.connection
        let message = message(of: submission, now)
        effects.mutations.append(.putMessage(message))
        touch(entry)
        turn.downstream.accepted += 1
        turn.downstream.stored += 1
        entry.append(
            MailboxSlot(entry: MailboxEntry(message, origin: origin), state: state, isStored: false),
            registrationAt: at)
        if entry.registrations[at].plainWaiting > cap(entry, offline: settings.storedMessages) {
            discardPlain(.waiting, registrationAt: at, entry, now, &effects)
        }
        if entry.registrations[at].plainDelayed > settings.storedMessages {
            discardPlain(.delayed, registrationAt: at, entry, now, &effects)
        }
    }

    /// How many messages of one registration may wait for the device.
    ///
    /// The caps of the service are for those who are away. For one that is there and only slow, or still reading its mailbox,
    /// the bound is that of what a connection may hold; what is handed on as soon as it is stored does not wait at all.
    private func cap(_ entry: DeviceEntry, offline: Int) -> Int {
        guard entry.phase == .ready, let link = entry.link else { return offline }
        switch link.mode {
        case .closing: return offline
        case .live: return .max
        case .accepting, .loading, .queued, .paused: return max(offline, settings.unacknowledgedPerDevice)
        }
    }

    /// The stored form of a submission.
    private mutating func message(of submission: consuming Submission, _ now: Now) -> StoredMessage {
        let lifetime = Int64(min(max(submission.lifetimeSeconds, 0), Limits.lifetimeSeconds))
        var message = StoredMessage(
            device: submission.target.device, sequence: sequences.next(now), salt: salt,
            registration: submission.target.number, sender: submission.sender,
            text: submission.text, acceptedAt: now.wall, expiresAt: now.end(after: lifetime * 1_000),
            priority: submission.priority, wantsReceipt: submission.wantsReceipt,
            delaysWhileIdle: submission.delaysWhileIdle)
        if let share = submission.topic {
            // All messages of a job end together, whenever their turn came.
            message.acceptedAt = share.acceptedAt
            message.expiresAt = share.expiresAt
            message.topic = share.origin
        }
        return message
    }

    /// Removes what a collapse key replaces; if the key is one too many, the oldest of those that still wait (ccs-xmpp 6).
    private mutating func makeRoom(
        for key: [UInt8], _ state: MailboxSlot.State, registrationAt at: Int, _ entry: DeviceEntry,
        _ now: Instant,
        _ effects: inout Effects
    ) {
        guard entry.registrations[at].keyed > 0 else { return }
        let number = entry.registrations[at].registration.name.number
        var waiting: [Sequence] = []
        var held: [Sequence] = []
        var delayed: [Sequence] = []
        var index = 0
        while index < entry.mailbox.slots.count {
            let slot = entry.mailbox.slots[index]
            guard slot.entry.registration == number, let other = slot.entry.collapseKey,
                slot.state != .owingReceipt
            else {
                index += 1
                continue
            }
            if other == key {
                remove(at: index, of: entry, reason: .replaced, &effects)
                continue
            }
            if slot.state == .waiting { waiting.append(slot.entry.sequence) }
            if slot.state == .held { held.append(slot.entry.sequence) }
            if slot.state == .delayed { delayed.append(slot.entry.sequence) }
            index += 1
        }
        var leaving: [Sequence] = []
        if state == .delayed {
            // A device that is there and idle is as good as away for these.
            leaving += delayed.prefix(max(0, delayed.count + 1 - settings.collapseKeys))
        } else {
            let surplus = waiting.count + 1 - cap(entry, offline: settings.collapseKeys)
            leaving += waiting.prefix(max(0, surplus))
        }
        // Those that wait for the rate of a device that is there are as few.
        if !entry.registrations[at].bucket.allows(settings.rates.collapsible, now: now) {
            leaving += held.prefix(max(0, held.count + 1 - settings.collapseKeys))
        }
        for sequence in leaving {
            guard let index = entry.mailbox.index(of: sequence) else { continue }
            remove(at: index, of: entry, reason: .discarded, &effects)
        }
    }

    /// Too many messages without collapse key wait: all go, and a marker tells the app how many (ccs-xmpp 6).
    ///
    /// What the present connection has been given does not wait and stays. What waits until the device is active (`delayed`) is
    /// counted by itself, and its marker waits like it.
    private mutating func discardPlain(
        _ state: MailboxSlot.State, registrationAt at: Int, _ entry: DeviceEntry, _ now: Now,
        _ effects: inout Effects
    ) {
        let name = entry.registrations[at].registration.name
        var total = 0
        var index = 0
        while index < entry.mailbox.slots.count {
            let slot = entry.mailbox.slots[index]
            guard slot.entry.registration == name.number, slot.state == state,
                slot.entry.collapseKey == nil, slot.entry.kind != .sendError
            else {
                index += 1
                continue
            }
            if case .discardedMarker(let count) = slot.entry.kind { total += count } else { total += 1 }
            remove(at: index, of: entry, reason: .discarded, &effects)
        }
        let marker = StoredMessage(
            device: name.device, sequence: sequences.next(now), salt: salt, registration: name.number,
            sender: SenderID(0), kind: .discardedMarker(count: total), messageID: [],
            acceptedAt: now.wall, expiresAt: now.end(after: Int64(Limits.lifetimeSeconds) * 1_000),
            delaysWhileIdle: state == .delayed, body: [])
        turn.waiters.append(.marker(entry, mutation: effects.mutations.count))
        effects.mutations.append(.putMessage(marker))
        entry.append(
            MailboxSlot(entry: MailboxEntry(marker), state: state, isStored: false), registrationAt: at)
    }

    // MARK: Leaving

    /// Takes a message out of the mailbox, here and in the store.
    mutating func remove(
        at index: Int, of entry: DeviceEntry, reason: Milestone, _ effects: inout Effects
    ) {
        let slot = entry.remove(at: index)
        remove(slot.entry, of: entry, reason: reason, &effects)
    }

    /// Takes a message out of the store that is not in the mailbox here.
    mutating func remove(
        _ message: MailboxEntry, of entry: DeviceEntry, reason: Milestone, _ effects: inout Effects
    ) {
        effects.mutations.append(
            .removeMessage(
                entry.device, message.sequence, expiresAt: message.expiresAt, reason: reason))
        touch(entry)
        traceEntry(message, of: entry.device, TraceNote.Step(reason), &effects)
        if message.kind == .message { turn.downstream[reason] += 1 }
    }

    mutating func deviceAcknowledged(
        _ connection: ConnectionID, _ device: DeviceID, _ sequences: [Sequence], _ now: Now,
        _ effects: inout Effects
    ) {
        guard
            let entry = ready(
                device, orWait: .deviceAcknowledged(connection, device, sequences), &effects)
        else { return }
        // Only what this connection was given: a late word of an old one is said again at login.
        if entry.link?.connection == connection {
            for sequence in sequences {
                guard let at = entry.mailbox.index(of: sequence), entry.mailbox.slots[at].state == .sent
                else { continue }
                settle(at, of: entry, now, &effects)
            }
        }
        devices.rest(entry)
    }

    /// The device has a message: it goes, after its receipt if one is owed.
    mutating func settle(_ index: Int, of entry: DeviceEntry, _ now: Now, _ effects: inout Effects) {
        let slot = entry.mailbox.slots[index]
        guard slot.state != .owingReceipt else { return }
        traceEntry(slot.entry, of: entry.device, .acknowledged, &effects)
        guard let receipt = slot.entry.receipt, let at = entry.index(of: slot.entry.registration) else {
            return remove(at: index, of: entry, reason: .delivered, &effects)
        }
        entry.setState(.owingReceipt, at: index)
        let registration = entry.registrations[at].registration
        effects.forwards.append(
            .receiptDue(
                ReceiptDue(
                    message: registration.name, sequence: slot.entry.sequence, sender: receipt.sender,
                    messageID: receipt.messageID, category: registration.category,
                    deliveredAt: now.wall, origin: receipt.origin)))
    }

    mutating func receiptStored(
        _ device: DeviceID, _ sequence: Sequence, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = ready(device, orWait: .receiptStored(device, sequence), &effects) else { return }
        if let at = entry.mailbox.index(of: sequence) {
            remove(at: at, of: entry, reason: .delivered, &effects)
        }
        devices.rest(entry)
    }

    /// It counts as sent again, so that it is delivered, and its receipt tried, at the next login.
    func receiptRefused(_ device: DeviceID, _ sequence: Sequence) {
        guard let entry = devices[device], let at = entry.mailbox.index(of: sequence),
            entry.mailbox.slots[at].state == .owingReceipt
        else { return }
        entry.setState(entry.link == nil ? .waiting : .sent, at: at)
    }

    mutating func messageExpired(
        _ device: DeviceID, _ sequence: Sequence, _ expiresAt: UnixMilliseconds, _ now: Now,
        _ effects: inout Effects
    ) {
        if let entry = devices[device], entry.phase == .ready {
            guard let at = entry.mailbox.index(of: sequence) else {
                // Gone already, unless the store knows better and nothing is on its way.
                guard entry.batchesInFlight == 0, !entry.isTouched else { return }
                return removeUnseen(device, sequence, expiresAt, &effects)
            }
            // What the device has goes when its receipt is on disk, not before.
            guard entry.mailbox.slots[at].state != .owingReceipt else { return }
            remove(at: at, of: entry, reason: .expired, &effects)
            devices.rest(entry)
        } else {
            turn.downstream.expired += 1
            removeUnseen(device, sequence, expiresAt, &effects)
        }
    }

    private func removeUnseen(
        _ device: DeviceID, _ sequence: Sequence, _ expiresAt: UnixMilliseconds, _ effects: inout Effects
    ) {
        effects.mutations.append(
            .removeMessage(device, sequence, expiresAt: expiresAt, reason: .expired))
    }

    /// Removes what is over its time from a device that has just been read.
    mutating func removeExpired(_ entry: DeviceEntry, _ now: Now, _ effects: inout Effects) {
        var index = 0
        while index < entry.mailbox.slots.count {
            if entry.mailbox.slots[index].entry.expiresAt <= now.ended {
                remove(at: index, of: entry, reason: .expired, &effects)
            } else {
                index += 1
            }
        }
    }
}
