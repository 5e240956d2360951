import Basics

/// Messages of app servers on their way into a device's mailbox.
extension DeviceHub {
    mutating func submit(_ given: consuming Submission, _ entry: DeviceEntry, _ turn: inout Turn) {
        var submission = given
        let replyTo = submission.replyTo
        if case .topic(let sender, let run) = replyTo, !isMeant(submission, of: sender, entry, turn) {
            return turn.forward(.topicAnswered(sender, run: run, .passedOver))
        }
        do {
            var at = try check(submission, entry, turn)
            var canonical: RegistrationName?
            // A web push is encrypted for this subscription, and no newer one could read it.
            if submission.topic == nil, submission.sender != nil,
                let newer = try replacement(of: at, entry, turn)
            {
                at = newer
                canonical = entry.registrations[newer].registration.name
                submission.target = entry.registrations[newer].registration.name
            }
            try entry.registrations[at].registration.complete(&submission.content)
            if submission.content.isDryRun {
                turn.traceSubmission(submission, .accepted, detail: "dry_run")
                turn.accept(replyTo, nil, canonical: canonical)
            } else if submission.content.lifetimeSeconds <= 0 {
                count(submission, entry, &turn)
                passOn(submission, at: at, canonical, entry, &turn)
            } else {
                count(submission, entry, &turn)
                store(submission, at: at, canonical, entry, &turn)
            }
        } catch {
            turn.traceSubmission(submission, .refused, detail: error.word)
            turn.refuse(replyTo, error)
            turn.effects.downstream.refused += 1
        }
    }

    /// Whether it may be accepted (ccs-xmpp 3.4, from step 8): the place of its registration.
    private func check(
        _ submission: borrowing Submission, _ entry: DeviceEntry, _ turn: borrowing Turn
    ) throws(Refusal) -> Int {
        guard let at = entry.index(of: submission.target.number) else { throw .notRegistered }
        let registration = entry.registrations[at].registration
        try registration.checkEntitlement(of: submission)
        if let only = submission.content.restrictedPackage, only != registration.category {
            throw .packageMismatch
        }
        guard entry.buckets.allowsMessage(turn.settings.rates, turn.now.monotonic) else {
            throw .deviceRateExceeded
        }
        if submission.topic == nil, let sender = submission.sender,
            !turn.messageBuckets.allows(sender, now: turn.now.monotonic)
        {
            throw .senderRateExceeded
        }
        if submission.content.lifetimeSeconds > 0, !submission.content.isDryRun, turn.isOverloaded {
            throw .unavailable
        }
        return at
    }

    /// The place of the registration that replaced one (ccs-xmpp 6); nil: none has, or it is not on disk yet.
    ///
    /// It is the newest of the same app, subtype and senders on the device that another instance of the app asked for.
    /// The old token works until the time of `Limits.Registration.replacedSeconds` is over.
    private func replacement(
        of at: Int, _ entry: DeviceEntry, _ turn: borrowing Turn
    ) throws(Refusal) -> Int? {
        var place = entry.registrations.count - 1
        while place > at {
            let newer = entry.registrations[place].registration
            let isOpen = entry.registrations[place].batch.map { turn.ledger.isOpen($0) } ?? false
            if !newer.instance.isEmpty, !isOpen, newer.isSameApp(as: entry.registrations[at].registration) {
                let end = newer.createdAt + Int64(Limits.Registration.replacedSeconds) * 1_000
                // One of a time that cannot have been says nothing of how long ago it was.
                guard newer.createdAt < Limits.Clock.earliest || turn.now.ended < end else {
                    throw .notRegistered
                }
                return place
            }
            place -= 1
        }
        return nil
    }

    /// Notes a message that is accepted with the rates it counts for.
    private func count(_ submission: borrowing Submission, _ entry: DeviceEntry, _ turn: inout Turn) {
        let now = turn.now.monotonic
        entry.buckets.takeMessage(turn.settings.rates, now)
        if submission.topic == nil, let sender = submission.sender {
            turn.messageBuckets.take(sender, now: now)
        }
    }

    /// Now or never: delivered if the device is there, and answered at once either way.
    private mutating func passOn(
        _ submission: consuming Submission, at: Int, _ canonical: RegistrationName?,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let replyTo = submission.replyTo
        let message = message(of: submission, &turn)
        turn.accept(replyTo, message.persistentID, canonical: canonical)
        turn.effects.downstream.accepted += 1
        turn.traceMessage(message, .accepted, detail: "now_or_never")
        guard let link = entry.link, link.takesPassing, !waits(message.delaysWhileIdle, for: entry) else {
            turn.effects.downstream.expired += 1
            turn.traceMessage(message, .expired, detail: "now_or_never")
            return
        }
        send(message, isStored: false, entry, registrationAt: at, link.connection, &turn)
    }

    /// Puts it in the mailbox; it is answered and delivered once that is on disk.
    private mutating func store(
        _ submission: consuming Submission, at: Int, _ canonical: RegistrationName?,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let isDelayed = waits(submission.content.delaysWhileIdle, for: entry)
        if let key = submission.content.collapseKey {
            makeRoom(for: key, isDelayed: isDelayed, registrationAt: at, entry, &turn)
        }
        let (replyTo, submitter) = (submission.replyTo, submission.submitter)
        let message = message(of: submission, &turn)
        turn.demand(
            message.device == entry.device, "a message goes to the mailbox of another device", of: entry)
        turn.demand(message.expiresAt > message.acceptedAt, "a message ends before it begins", of: entry)
        turn.write(
            .putMessage(message), then: .device(entry, .submission(message, replyTo, canonical: canonical)))
        turn.touch(entry)
        turn.batch.downstream.accepted += 1
        turn.batch.downstream.stored += 1
        entry.append(
            MailboxSlot(
                entry: MailboxEntry(message, origin: submitter),
                state: isDelayed ? .delayed(isStored: false) : .waiting(isStored: false)),
            registrationAt: at, &turn)
        if entry.registrations[at].plainWaiting > cap(entry, offline: turn.settings.storedMessages, turn) {
            discardPlain(isDelayed: false, registrationAt: at, entry, &turn)
        }
        if entry.registrations[at].plainDelayed > turn.settings.storedMessages {
            discardPlain(isDelayed: true, registrationAt: at, entry, &turn)
        }
    }

    /// The stored form of a submission.
    private func message(of submission: consuming Submission, _ turn: inout Turn) -> StoredMessage {
        let content = submission.content
        let lifetime = Int64(min(max(content.lifetimeSeconds, 0), Limits.Message.lifetimeSeconds))
        var message = StoredMessage(
            device: submission.target.device, sequence: turn.nextSequence(), salt: turn.salt,
            registration: submission.target.number, sender: submission.sender,
            text: content.text, acceptedAt: turn.now.wall,
            expiresAt: turn.now.end(after: lifetime * 1_000),
            priority: content.priority, wantsReceipt: content.wantsReceipt,
            delaysWhileIdle: content.delaysWhileIdle)
        if let share = submission.topic {
            // All messages of a job end together, whenever their turn came.
            message.acceptedAt = share.acceptedAt
            message.expiresAt = share.expiresAt
            message.topic = share.origin
        }
        return message
    }

    /// The batch that stores a message is on disk, or has failed.
    mutating func submissionCommitted(
        _ message: consuming StoredMessage, _ replyTo: ReplyTo, canonical: RegistrationName?,
        _ entry: DeviceEntry, hasFailed: Bool, _ turn: inout Turn
    ) {
        turn.demand(message.device == entry.device, "a message was stored for another device", of: entry)
        guard !hasFailed else {
            turn.refuse(replyTo, .unavailable)
            turn.effects.downstream.refused += 1
            turn.traceMessage(message, .refused, detail: Refusal.unavailable.word)
            return
        }
        turn.accept(replyTo, message.persistentID, canonical: canonical)
        turn.traceMessage(message, .stored)
        turn.traceMessage(message, .accepted)
        messageStored(message, entry, &turn)
    }

    /// Whether a submission of a job is for this registration, which it was met under a moment ago.
    private func isMeant(
        _ submission: borrowing Submission, of sender: SenderID, _ entry: DeviceEntry,
        _ turn: borrowing Turn
    ) -> Bool {
        guard let share = submission.topic else { return true }
        guard let at = entry.index(of: submission.target.number) else { return false }
        let state = entry.registrations[at]
        // What is now or never has no time in which it could be late.
        if share.expiresAt > share.acceptedAt, share.expiresAt <= turn.now.ended { return false }
        // Another instance of the app has come in its place: its topics went with it.
        let isReplaced = entry.registrations[(at + 1)...].contains {
            !$0.registration.instance.isEmpty && $0.registration.isSameApp(as: state.registration)
        }
        return !isReplaced
            && share.target.reaches(on: share.pass) { state.topics.contains(sender, $0) }
    }
}
