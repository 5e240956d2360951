import Basics

/// The devices of a partition: those in memory, and what waits for the others to be read.
///
/// `handle` is the one way in for events. It brings the device's state into memory, lets one function decide, and notes
/// whether the device is idle afterwards.
struct DeviceHub: ~Copyable {
    var table: DeviceTable
    /// The search for devices that have not been seen for too long.
    var sweep: DeviceSweep
    /// Contacts that the store does not know.
    var contacts: UnwrittenContacts
    /// Apps whose messages wait for their rate.
    var throttled = DueQueue()
    /// What is left of this partition's share of each sender's changes of subscriptions.
    var topicBuckets: SenderBuckets

    init(hash: SipHash, searchFrom: DeviceID, _ turn: borrowing Turn) {
        table = DeviceTable(
            hash: hash, idleLimit: turn.shares.idleDevices, passingLimit: turn.shares.passingDevices)
        sweep = DeviceSweep(from: searchFrom)
        contacts = UnwrittenContacts(limit: turn.shares.unwrittenContacts)
        let rates = turn.settings.rates
        topicBuckets = SenderBuckets(rates.share(rates.topicChanges, of: turn.partitions))
    }

    /// Handles one event; one that needs the device's state waits until the store has answered.
    mutating func handle(_ event: consuming DeviceEvent, of device: DeviceID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(device), "an event of another device", owner: .device(device)) else {
            return refuse(event, of: device, &turn)
        }
        guard let entry = table[device] else {
            if event.needsState { wait(event, for: device, &turn) }
            return
        }
        guard entry.state.isReady || !event.needsState else { return wait(event, on: entry, &turn) }
        perform(event, on: entry, &turn)
    }

    /// Handles an event of a device in memory.
    private mutating func perform(_ event: consuming DeviceEvent, on entry: DeviceEntry, _ turn: inout Turn) {
        turn.demand(table.wake(entry), "more devices are woken than were idle", of: entry)
        turn.demand(!entry.isForgotten, "an event reaches a device that is no longer in memory", of: entry)
        if event.needsState, !event.isForTopic { entry.isPassing = false }
        switch consume event {
        case .submitted(let submission): submit(submission, entry, &turn)
        case .acknowledged(let connection, let sequences):
            acknowledged(connection, entry, sequences, &turn)
        case .login(let login): self.login(login, entry, &turn)
        case .writable(let connection): writable(connection, entry, &turn)
        case .congested(let connection): congested(connection, entry, &turn)
        case .idleChanged(let connection, let isIdle):
            idleChanged(connection, entry, isIdle: isIdle, &turn)
        case .closed(let connection): closed(connection, entry, &turn)
        case .receiptStored(let sequence): receiptStored(entry, sequence, &turn)
        case .receiptRefused(let sequence): receiptRefused(entry, sequence, &turn)
        case .upstreamReceived(let upstream): upstreamReceived(upstream, entry, &turn)
        case .upstreamAnswered(let number): entry.countWaiting(number, by: -1)
        case .upstreamReturned(let gone): upstreamReturned(gone, entry, &turn)
        case .checkIn(let request): checkIn(request, entry, &turn)
        case .register(let request): register(request, entry, &turn)
        case .unregister(let request): unregister(request, entry, &turn)
        case .registerWeb(let request): registerWeb(request, entry, &turn)
        case .unregisterToken(let claim, let origin): unregisterToken(claim, origin, entry, &turn)
        case .subscribe(let request): subscribe(request, entry, &turn)
        case .token(let request): self.token(request, entry, &turn)
        case .installationFound(let request, let names):
            installationFound(request, names, entry, &turn)
        case .forget(let origin): forget(entry, origin, &turn)
        case .unseen: unseen(entry, &turn)
        }
        rest(entry, &turn)
    }

    /// Notes that a device is idle, if it is.
    mutating func rest(_ entry: DeviceEntry, _ turn: inout Turn) {
        turn.demand(table.rest(entry), "too many idle devices, and none that can leave memory", of: entry)
    }

    mutating func tick(_ turn: inout Turn) {
        tickContacts(&turn)
        tickSweep(&turn)
        releaseThrottled(dueBy: turn.now.monotonic, &turn)
    }

    // MARK: Reading

    /// Keeps an event of a device that is not in memory, and reads the device.
    private mutating func wait(_ event: consuming DeviceEvent, for device: DeviceID, _ turn: inout Turn) {
        let entry = DeviceEntry(device)
        entry.isPassing = event.isForTopic
        entry.wait(event, &turn)
        turn.demand(table.insert(entry), "a device comes into memory twice", of: entry)
        turn.load(.device(device))
    }

    /// Keeps an event until the device has been read.
    private mutating func wait(_ event: consuming DeviceEvent, on entry: DeviceEntry, _ turn: inout Turn) {
        if !event.isForTopic { entry.isPassing = false }
        if entry.state.waiting.count < turn.settings.eventsWaitingForDevice {
            entry.wait(event, &turn)
        } else {
            refuse(event, of: entry.device, &turn)
        }
        reload(entry, &turn)
    }

    /// Reads a device again after a failed batch, as soon as nothing of it is on its way.
    private func reload(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.state.isStale, entry.batchesInFlight == 0, !entry.isTouched else { return }
        entry.beginLoading()
        turn.load(.device(entry.device))
    }

    /// Reads a device again whose state was found broken; its connection has been told to close.
    func readAgain(_ entry: DeviceEntry, _ turn: inout Turn) {
        entry.link?.mode = .closing
        guard !entry.isForgotten, !entry.state.isLoading else { return }
        entry.becomeStale()
        reload(entry, &turn)
    }

    /// The store has answered what it holds of a device.
    mutating func loaded(_ state: DeviceState, _ turn: inout Turn) {
        let entry = turn.demand(
            table[state.device], "a device was read that is not in memory", owner: .device(state.device))
        guard let entry else { return }
        guard turn.demand(entry.state.isLoading, "a device was read that nobody asked for", of: entry) else {
            return
        }
        // What the store says of another device, or in another order, is as good as no answer.
        guard turn.demand(state.isOfOneDevice, "the store mixes devices up", of: entry),
            turn.demand(state.isInOrder, "the store answers out of order", of: entry)
        else { return loadFailed(state.device, &turn) }
        turn.demand(
            entry.batchesInFlight == 0, "a device was read while changes to it are on their way", of: entry)
        let waiting = entry.finishLoading(state, &turn)
        if let newest = state.mailbox.last?.sequence { turn.sequences.observe(newest) }
        for message in state.mailbox where entry.index(of: message.registration) == nil {
            // Its registration is gone: nobody may have it any more.
            remove(message, of: entry, reason: .removed, &turn)
        }
        removeExpired(entry, &turn)
        if entry.link != nil { resume(entry, &turn) }
        for event in waiting { handle(event, of: state.device, &turn) }
        rest(entry, &turn)
    }

    mutating func loadFailed(_ device: DeviceID, _ turn: inout Turn) {
        let entry = turn.demand(
            table[device], "a device could not be read that is not in memory", owner: .device(device))
        guard let entry else { return }
        guard
            turn.demand(entry.state.isLoading, "a device could not be read that nobody asked for", of: entry)
        else { return }
        if let link = entry.link {
            turn.send(.close(.storeFailed), to: link.connection)
            contacts.note(entry.device, at: turn.contactTime)
        }
        entry.link = nil
        for event in entry.failLoading() { refuse(event, of: device, &turn) }
        forgetIfUnread(entry, &turn)
    }

    /// Removes a device from memory that could not be read, unless an answer about it is still to come.
    mutating func forgetIfUnread(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.state.isStale, entry.link == nil, entry.state.waiting.isEmpty, !entry.isPageAsked,
            entry.batchesInFlight == 0, !entry.isTouched
        else { return }
        turn.demand(
            table.remove(entry), "a device leaves memory while changes to it are on their way", of: entry)
    }

    // MARK: Commits

    /// A batch that changed these devices is on disk, or has failed.
    mutating func committed(_ entries: [DeviceEntry], _ turn: inout Turn) {
        for entry in entries {
            turn.demand(entry.batchesInFlight > 0, "a batch is answered twice", of: entry)
            entry.batchesInFlight -= 1
            if entry.state.isStale { reload(entry, &turn) } else { rest(entry, &turn) }
        }
    }

    /// What waited for a batch.
    mutating func settle(
        _ waiter: DeviceWaiter, of entry: DeviceEntry, _ outcome: CommitOutcome, _ turn: inout Turn
    ) {
        turn.demand(entry.batchesInFlight > 0, "an answer to a change that is not on its way", of: entry)
        switch waiter {
        case .submission(let message, let replyTo, let canonical):
            submissionCommitted(
                message, replyTo, canonical: canonical, entry, hasFailed: outcome.hasFailed, &turn)
        case .marker(let marker):
            if !outcome.hasFailed { messageStored(marker, entry, &turn) }
        case .report(let report, let gone): returnCommitted(report, gone, entry, outcome, &turn)
        case .login(let connection):
            loginCommitted(connection, entry, hasFailed: outcome.hasFailed, &turn)
        case .upstream(let upstream):
            if outcome.hasFailed {
                turn.refuse(upstream, .unavailable)
            } else {
                handle(.upstreamReceived(upstream), of: entry.device, &turn)
            }
        // Where a batch before has failed, the device is to be read again.
        case .reply(let origin, let answer, let failure):
            turn.reply(outcome.hasFailed || !entry.state.isReady ? failure : answer, to: origin)
        case .next(let event, let origin):
            if outcome.hasFailed || !entry.state.isReady {
                turn.refuse(origin, .serviceNotAvailable)
            } else {
                turn.forward(event)
            }
        }
    }

    // MARK: Settings

    /// What only waited for the old rates goes on.
    mutating func ratesChanged(from old: Rates, _ turn: inout Turn) {
        let (rates, now) = (turn.settings.rates, turn.now.monotonic)
        topicBuckets.change(to: rates.share(rates.topicChanges, of: turn.partitions), now: now)
        for entry in table.all {
            entry.buckets.change(from: old, to: rates, now)
            for at in entry.registrations.indices {
                entry.registrations[at].bucket.change(from: old.collapsible, to: rates.collapsible, now: now)
            }
        }
        // Those that still may not go on wait for their new time.
        releaseThrottled(dueBy: .distantFuture, &turn)
    }
}

extension DeviceEvent {
    /// Whether it waits until the device has been read.
    fileprivate var needsState: Bool {
        switch self {
        case .writable, .congested, .idleChanged, .closed, .upstreamAnswered, .receiptRefused:
            false
        case .submitted, .login, .acknowledged, .upstreamReceived, .upstreamReturned, .receiptStored,
            .checkIn, .register, .unregister, .registerWeb, .unregisterToken, .subscribe, .token,
            .installationFound, .forget, .unseen:
            true
        }
    }

    /// Whether it is one of the messages of a topic, of which very many devices are sent one: no reason to keep the device in memory.
    fileprivate var isForTopic: Bool {
        if case .submitted(let submission) = self { submission.topic != nil } else { false }
    }
}
