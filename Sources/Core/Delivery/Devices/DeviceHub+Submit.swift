import Basics

/// Admission of messages from app servers to a device's mailbox.
extension DeviceHub {
    mutating func submit(_ submission: consuming Submission, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard submission.content.replaces == nil else { return replace(submission, entry, &turn) }
        submit(submission, replacing: [], entry, &turn)
    }

    /// Submits a message that takes the place of others, if it is accepted.
    mutating func submit(
        _ submission: consuming Submission, replacing old: [SequenceNumber], _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        let (replyTo, share) = (submission.replyTo, submission.topic)
        let place: (registration: Int, canonical: TokenName?)
        do throws(Refusal) { place = try admit(&submission, replacing: old, entry, &turn) } catch {
            turn.traceSubmission(submission, .refused, detail: error.detail)
            turn.countRefused(error, of: submission.sender)
            // App servers delete such a token: the end of its registration must be on disk.
            let isFinal = error == .notRegistered
            if isFinal, waitUntilCommitted(.refusal(replyTo, error), entry, &turn) { return }
            return turn.refuse(replyTo, error)
        }
        if submission.content.isDryRun {
            turn.traceSubmission(submission, .accepted, detail: "dry_run")
            turn.accept(replyTo, nil, canonical: place.canonical)
        } else {
            countMessage(of: submission.topic == nil ? submission.sender : nil, entry, &turn)
            for sequence in old { cancel(sequence, entry, &turn) }
            let (at, canonical) = place
            if submission.content.lifetimeSeconds <= 0 {
                deliverUnstored(consume submission, at: at, canonical: canonical, entry, &turn)
            } else {
                store(consume submission, at: at, canonical: canonical, entry, &turn)
            }
        }
        if let share { countTopic(share, &turn) }
    }

    /// Checks whether a submission may be accepted, and completes it by its registration. Returns the index of that, and its token if it
    /// has replaced the one in the submission.
    private mutating func admit(
        _ submission: inout Submission, replacing old: [SequenceNumber], _ entry: DeviceEntry,
        _ turn: inout Turn
    ) throws(Refusal) -> (registration: Int, canonical: TokenName?) {
        var at = try check(submission, entry, &turn)
        var canonical: TokenName?
        // A web push is encrypted for this subscription: a newer registration could not decrypt it.
        if submission.topic == nil, !submission.entitlement.isWebPush,
            let newer = try replacement(of: at, entry, onDisk: true, &turn)
        {
            at = newer
            canonical = entry.registrations[newer].registration.tokenName
            submission.target = entry.registrations[newer].registration.name
        }
        try entry.registrations[at].registration.complete(
            &submission.content, appleData: turn.settings.appleData)
        try checkGatewayRoom(for: submission, at, entry, turn)
        if submission.content.sendAt != nil {
            try checkSchedule(&submission.content, of: submission.sender, replacing: old, entry, &turn)
        }
        return (at, canonical)
    }

    /// Checks whether a submission may be accepted (ccs-xmpp 3.4, from step 8). Returns the index of its registration.
    ///
    /// It changes nothing in the turn, which is `inout` since the compiler copies the 1,160 bytes of a borrowed one.
    private func check(
        _ submission: borrowing Submission, _ entry: DeviceEntry, _ turn: inout Turn
    ) throws(Refusal) -> Int {
        guard let at = entry.index(of: submission.target.number) else { throw .notRegistered }
        let registration = entry.registrations[at].registration
        try registration.checkEntitlement(of: submission)
        if submission.sender == nil, !turn.directory.suspended.isEmpty,
            entry.hasSuspendedSender(ofEndpoint: registration, turn.directory.suspended)
        {
            throw .senderSuspended
        }
        if let end = registration.apnsState.end {
            throw .apns(APNsRefusal(.unregistered, end.verdict))
        }
        if let only = submission.content.restrictedPackage, only != registration.category {
            throw .packageMismatch
        }
        // Topic messages that have waited for a login do not come at once by the fault of their senders.
        let isLate = submission.topic != nil && entry.link == nil
        try checkRates(of: submission.topic == nil ? submission.sender : nil, entry, isLate: isLate, &turn)
        if submission.content.lifetimeSeconds > 0, !submission.content.isDryRun, submission.topic == nil,
            turn.isOverloaded
        {
            throw .unavailable
        }
        return at
    }

    /// Checks whether one more message to a device is within its rate, unless it is late, and within that of its sender, if it has one.
    func checkRates(
        of sender: SenderID?, _ entry: DeviceEntry, isLate: Bool = false, _ turn: inout Turn
    ) throws(Refusal) {
        let now = turn.now.monotonic
        guard isLate || entry.buckets.allowsMessage(turn.settings.rates, now) else {
            throw .deviceRateExceeded
        }
        if let sender, !turn.messageBuckets.allows(sender, now: now) { throw .senderRateExceeded }
    }

    /// Charges these rates for a message.
    func countMessage(of sender: SenderID?, _ entry: DeviceEntry, _ turn: inout Turn) {
        let now = turn.now.monotonic
        entry.buckets.countMessage(turn.settings.rates, now)
        if let sender { turn.messageBuckets.consume(sender, now: now) }
    }

    /// Delivers a now-or-never message if the device is connected, and answers at once either way.
    private mutating func deliverUnstored(
        _ submission: consuming Submission, at: Int, canonical: TokenName?,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let replyTo = submission.replyTo
        let message = message(of: submission, &turn)
        guard message.apns == nil else {
            return offerUnstored(message, answering: replyTo, canonical: canonical, at: at, entry, &turn)
        }
        turn.accept(replyTo, message.persistentID, canonical: canonical)
        turn.effects.downstream.accepted += 1
        turn.effects.senders.count(.accepted, of: message.sender)
        turn.traceMessage(message, .accepted, detail: "now_or_never")
        guard let link = entry.link, link.acceptsUnstored, !waits(message.delaysWhileIdle, for: entry) else {
            turn.effects.downstream.expired += 1
            turn.effects.senders.count(.expired, of: message.sender)
            turn.traceMessage(message, .expired, detail: "now_or_never")
            return
        }
        send(message, isStored: false, entry, registrationAt: at, link.connection, &turn)
    }

    /// Adds a submission to the mailbox; it is answered and delivered once it is on disk.
    private mutating func store(
        _ submission: consuming Submission, at: Int, canonical: TokenName?,
        _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let isForGateway = submission.content.apns != nil
        let isDelayed = !isForGateway && waits(submission.content.delaysWhileIdle, for: entry)
        let isScheduled = submission.content.sendAt != nil
        if isForGateway, !isScheduled { entry.markForGateway(&turn) }
        if let key = submission.content.collapseKey, !isScheduled {
            makeRoom(
                for: key, isDelayed: isDelayed, isForGateway: isForGateway, registrationAt: at, entry, &turn)
        }
        let (replyTo, submitter) = (submission.replyTo, submission.submitter)
        let isForSeveral = submission.content.isForSeveral
        var message = message(of: submission, &turn)
        turn.demand(
            message.expiresAt > message.acceptedAt, "a message expires before it is accepted", of: entry)
        turn.batch.senders.count(.accepted, of: message.sender)
        if isForSeveral, !isScheduled { shareBody(of: &message, &turn) }
        if let shared = message.shared { bodies.share(shared.name) }
        entry.add(
            message, from: submitter, isDelayed: isDelayed,
            then: .submission(message, replyTo, canonical: canonical), &turn)
        if let scheduled = message.scheduled { return schedule(scheduled, &turn) }
        let cap = deviceCap(entry, offline: turn.settings.storedMessages, turn)
        if !isForGateway, entry.registrations[at].counts.plainWaiting > cap {
            discardPlain(isDelayed: false, registrationAt: at, entry, &turn)
        }
        if entry.registrations[at].counts.plainDelayed > turn.settings.storedMessages {
            discardPlain(isDelayed: true, registrationAt: at, entry, &turn)
        }
    }

    /// Makes the stored message of a submission.
    private func message(of submission: consuming Submission, _ turn: inout Turn) -> StoredMessage {
        let lifetime = Int64(min(max(submission.content.lifetimeSeconds, 0), Limits.Message.lifetimeSeconds))
        let sendAt = submission.content.sendAt
        var message = StoredMessage(
            device: submission.target.device, sequence: turn.nextSequence(), salt: turn.salt,
            registration: submission.target.number, sender: submission.sender,
            fields: submission.content.fields, acceptedAt: turn.now.wall,
            expiresAt: turn.now.expiry(after: lifetime * 1_000),
            priority: submission.content.priority, wantsReceipt: submission.content.wantsReceipt,
            delaysWhileIdle: submission.content.delaysWhileIdle)
        if let share = submission.topic {
            // All copies of a topic message expire together, regardless of when they were stored.
            message.acceptedAt = share.acceptedAt
            message.expiresAt = share.expiresAt
            message.shared = share.reference
        }
        if let sendAt {
            message.dueAt = sendAt
            message.expiresAt = turn.now.expiry(after: sendAt - turn.now.wall + lifetime * 1_000)
        }
        return message
    }

    /// Answers a submission whose batch is on disk or has failed, and delivers the message.
    mutating func submissionCommitted(
        _ message: consuming StoredMessage, _ replyTo: ReplyTo, canonical: TokenName?,
        _ entry: DeviceEntry, hasFailed: Bool, _ turn: inout Turn
    ) {
        turn.demand(message.device == entry.device, "a message was stored for another device", of: entry)
        guard !hasFailed else {
            turn.refuse(replyTo, .unavailable)
            turn.countRefused(.unavailable, of: message.sender)
            turn.traceMessage(message, .refused, detail: Refusal.unavailable.word)
            return
        }
        if message.apns == nil || message.dueAt != nil {
            turn.accept(replyTo, message.persistentID, canonical: canonical)
        } else {
            answerForGateway(message, to: replyTo, canonical: canonical, entry, &turn)
        }
        turn.traceMessage(message, .stored)
        turn.traceMessage(message, .accepted)
        if let dueAt = message.dueAt {
            turn.traceMessage(message, .scheduled, detail: Timestamp.text(dueAt))
        }
        messageStored(message, entry, &turn)
    }
}

extension DeviceEntry {
    /// Whether a web app was registered from a push endpoint for a suspended sender: the endpoint itself belongs to the key of an
    /// application server, which would be a second way to the app.
    fileprivate func hasSuspendedSender(
        ofEndpoint endpoint: Registration, _ suspended: Set<SenderID>
    ) -> Bool {
        registrations.contains { state in
            guard let sender = state.registration.sender, suspended.contains(sender) else { return false }
            return state.registration.isOfEndpoint(endpoint)
        }
    }
}
