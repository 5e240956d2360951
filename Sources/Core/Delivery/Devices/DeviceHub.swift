import Basics

/// The devices of a partition: those in memory, and the events that wait for others to be read.
///
/// `handle` is the only entry point for events. It loads the device's state into memory, calls the function for the event, and
/// marks the device idle afterwards if it is.
struct DeviceHub: ~Copyable {
    var table: DeviceTable
    /// The search for expired devices.
    var sweep: DeviceSweep
    /// Last-seen times that are not in the store yet.
    var pendingLastSeen: PendingLastSeen
    /// The throttled apps.
    var throttled = DueQueue()
    /// The topic messages for its devices.
    var feed = TopicFeed()
    /// The pairs that its messages share.
    var bodies = SharedBodies()
    /// The numbers of its scheduled messages.
    var schedule = ScheduleCounts()
    /// The requests that wait for the store to find messages by an ID.
    var lookups = MessageLookups()
    /// Expired messages of devices that were not in memory, and are removed.
    var removedUnread = UnreadRemovals()
    /// What its registrations wait for at the APNs gateway.
    var gateway = GatewaySchedule()
    /// This partition's share of each sender's rate limit of subscription changes.
    var topicBuckets: SenderBuckets

    init(hash: SipHash, searchFrom: DeviceID, _ turn: borrowing Turn) {
        table = DeviceTable(
            hash: hash, idleLimit: turn.shares.idleDevices, transientLimit: turn.shares.transientDevices)
        sweep = DeviceSweep(from: searchFrom)
        pendingLastSeen = PendingLastSeen(limit: turn.shares.pendingLastSeen)
        let rates = turn.settings.rates
        topicBuckets = SenderBuckets(rates.share(rates.topicChanges, of: turn.partitions))
    }

    /// Handles one event; an event that needs the device's state waits until it has been read.
    mutating func handle(_ event: consuming DeviceEvent, of device: DeviceID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(device), "an event is for another device", owner: .device(device))
        else {
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
        turn.demand(table.wake(entry), "the count of idle devices is negative", of: entry)
        turn.demand(entry.residence.state != .evicted, "an event reaches an evicted device", of: entry)
        if event.needsState {
            if !event.isForTopic { table.keep(entry) }
            takeTopics(entry, &turn)
        }
        switch consume event {
        case .submitted(let submission): submit(submission, entry, &turn)
        case .acknowledged(let connection, let sequences):
            acknowledged(sequences, on: connection, entry, &turn)
        case .login(let login): self.login(login, entry, &turn)
        case .writable(let connection): writable(connection, entry, &turn)
        case .congested(let connection): congested(connection, entry)
        case .idleChanged(let connection, let isIdle):
            idleChanged(connection, entry, isIdle: isIdle, &turn)
        case .closed(let connection): closed(connection, entry, &turn)
        case .receiptStored(let sequence): receiptStored(entry, sequence, &turn)
        case .receiptRefused(let sequence): receiptRefused(entry, sequence, &turn)
        case .upstreamReceived(let upstream): upstreamReceived(upstream, entry, &turn)
        case .upstreamAnswered(let number, _): entry.waitingUpstream.count(number, by: -1)
        case .upstreamReturned(let gone): upstreamReturned(gone, entry, &turn)
        case .checkIn(let request): checkIn(request, entry, &turn)
        case .register(let request): register(request, entry, &turn)
        case .unregister(let request): unregister(request, entry, &turn)
        case .registerWeb(let request): registerWeb(request, entry, &turn)
        case .unregisterToken(let claim, let requester): unregisterToken(claim, for: requester, entry, &turn)
        case .subscribe(let request): subscribe(request, entry, &turn)
        case .token(let request): self.token(request, entry, &turn)
        case .installationFound(let request, let names):
            installationFound(request, of: names, entry, &turn)
        case .gatewayAnswered(let answer): gatewayAnswered(answer, entry, &turn)
        case .gatewayDue(let number): gatewayDue(number, entry, &turn)
        // What it has for the gateway was offered when the device was read.
        case .markedForGateway: entry.unmarkIfUnused(&turn)
        case .forget(let requester): forget(entry, requester, &turn)
        case .cancel(let request): cancel(request, entry, &turn)
        case .imported(let rows): imported(rows, entry, &turn)
        case .due(let sequence, let dueAt): due(sequence, dueAt, entry, &turn)
        case .topicsDue: topicDeviceVisited(hasFailed: false, &turn)
        case .unseen: unseen(entry, &turn)
        }
        markIfIdle(entry, &turn)
    }

    /// Changes a device in memory outside of its events; it is not evicted meanwhile.
    mutating func whileAwake(
        _ entry: DeviceEntry, _ turn: inout Turn, _ change: (inout DeviceHub, inout Turn) -> Void
    ) {
        turn.demand(table.wake(entry), "the count of idle devices is negative", of: entry)
        change(&self, &turn)
        markIfIdle(entry, &turn)
    }

    /// Marks a device idle if it is, so that it may be evicted.
    mutating func markIfIdle(_ entry: DeviceEntry, _ turn: inout Turn) {
        turn.demand(
            table.markIfIdle(entry), "there are too many idle devices, and none can be evicted", of: entry)
    }

    mutating func tick(_ turn: inout Turn) {
        tickContacts(&turn)
        sweep.tick(&turn)
        releaseThrottled(dueBy: turn.now.monotonic, &turn)
        tickGateway(&turn)
        tickTopics(&turn)
        endRequests(&turn)
    }

    // MARK: Reading

    /// Queues an event of a device that is not in memory, and reads the device.
    private mutating func wait(_ event: consuming DeviceEvent, for device: DeviceID, _ turn: inout Turn) {
        let entry = DeviceEntry(device, isTransient: event.isForTopic)
        entry.wait(event, &turn)
        turn.demand(table.insert(entry), "a device is loaded into memory twice", of: entry)
        if !feed.isRead { readLog(&turn) }
        turn.load(.device(device))
    }

    /// Queues an event until the device has been read.
    private mutating func wait(_ event: consuming DeviceEvent, on entry: DeviceEntry, _ turn: inout Turn) {
        if !event.isForTopic { table.keep(entry) }
        if entry.state.waiting.count < turn.settings.eventsWaitingForDevice {
            entry.wait(event, &turn)
        } else {
            refuse(event, of: entry.device, &turn)
        }
        reload(entry, &turn)
    }

    /// Reads a device again after a failed batch, once no other batch with changes to it is outstanding.
    private func reload(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.state.isStale, entry.batches.isEmpty else { return }
        entry.beginLoading()
        turn.load(.device(entry.device))
    }

    /// Reads a device again whose state violates an invariant; its connection has been ordered to close.
    func readAgain(_ entry: DeviceEntry, _ turn: inout Turn) {
        if entry.link != nil { entry.setMode(.closing, &turn) }
        guard entry.residence.state != .evicted, !entry.state.isLoading else { return }
        entry.becomeStale()
        reload(entry, &turn)
    }

    /// Returns a device that the store was asked for.
    private func loading(_ device: DeviceID, _ turn: inout Turn) -> DeviceEntry? {
        let entry = turn.demand(
            table[device], "the store answers for a device that is not in memory", owner: .device(device))
        guard let entry,
            turn.demand(entry.state.isLoading, "the store answers for a device unasked", of: entry)
        else { return nil }
        return entry
    }

    /// Takes over a device's state from the store, and handles the events that waited for it.
    mutating func loaded(_ state: DeviceState, _ turn: inout Turn) {
        guard let entry = loading(state.device, &turn) else { return }
        guard feed.isRead else { return feed.hold(state) }
        // An inconsistent answer is treated like a failed read.
        guard turn.demand(state.isOfOneDevice, "the store returned records of several devices", of: entry),
            turn.demand(state.isInOrder, "the store returned records out of order", of: entry)
        else { return loadFailed(state.device, &turn) }
        turn.demand(
            entry.batches.inFlight == 0, "a device was read while changes to it are uncommitted", of: entry)
        var state = state
        removedUnread.drop(from: &state)
        let waiting = entry.finishLoading(state, &turn)
        if let newest = state.mailbox.last?.sequence { turn.sequences.observe(newest) }
        for message in state.mailbox where entry.index(of: message.registration) == nil {
            // Its registration is gone, so no app may receive it.
            remove(message, of: entry, reason: .removed, &turn)
        }
        let cutoff = turn.now.expiryCutoff
        removeAll(of: entry, reason: .expired, &turn) { $0.entry.expiresAt <= cutoff }
        // Also without an event: the batch that has failed may have had topic messages.
        takeTopics(entry, &turn)
        if entry.link != nil {
            listTopics(entry)
            resume(entry, &turn)
        }
        entry.markAgain(&turn)
        for at in entry.registrations.indices where entry.registrations[at].registration.usesAPNs {
            offerNext(at, entry, &turn)
        }
        for event in waiting { handle(event, of: state.device, &turn) }
        markIfIdle(entry, &turn)
    }

    mutating func loadFailed(_ device: DeviceID, isDamage: Bool = false, _ turn: inout Turn) {
        guard let entry = loading(device, &turn) else { return }
        if let link = entry.link {
            turn.send(.close(isDamage ? .storeDamaged : .storeFailed), to: link.connection)
            pendingLastSeen.record(entry.device, at: turn.contactTime)
        }
        // What waits for APNs is offered when the device is found again by its mark.
        if entry.isMarkedForGateway { gateway.search.missed(device, turn.now.monotonic) }
        let refusal: Refusal = isDamage ? .storeDamaged : .unavailable
        for event in entry.failLoading() { refuse(event, of: device, as: refusal, &turn) }
        listTopics(entry)
        if entry.registrations.contains(where: \.registration.usesAPNs) { offerTopicsAgain(&turn) }
        evictIfUnread(entry, &turn)
    }

    /// Evicts a device that could not be read, unless an answer for it is still outstanding.
    mutating func evictIfUnread(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.state.isStale, entry.link == nil, entry.state.waiting.isEmpty, !entry.isPageAsked,
            entry.batches.isEmpty, entry.busyQueues == 0
        else { return }
        turn.demand(
            table.remove(entry), "a device is evicted while changes to it are uncommitted", of: entry)
    }

    // MARK: Commits

    /// Updates the devices that a batch changed, which is on disk or has failed.
    mutating func committed(_ entries: [DeviceEntry], _ turn: inout Turn) {
        for entry in entries {
            turn.demand(entry.batches.inFlight > 0, "a batch is committed twice", of: entry)
            entry.batches.committed()
            if entry.state.isStale { reload(entry, &turn) } else { markIfIdle(entry, &turn) }
        }
    }

    /// Resumes an operation that waited for a batch.
    mutating func finish(
        _ waiter: consuming DeviceWaiter, of entry: DeviceEntry, _ outcome: CommitOutcome,
        _ turn: inout Turn
    ) {
        turn.demand(
            entry.batches.inFlight > 0, "a commit is reported for a device without uncommitted changes",
            of: entry)
        switch consume waiter {
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
                turn.refuseUpstream(upstream, .unavailable)
            } else {
                handle(.upstreamReceived(upstream), of: entry.device, &turn)
            }
        case .gatewayEnd(let number, let sequence): endStored(sequence, of: number, entry, &turn)
        case .cancellation(let request): handle(.cancel(request), of: entry.device, &turn)
        // If the message may still be stored, it will be sent again.
        case .refusal(let replyTo, let refusal):
            turn.refuse(replyTo, outcome.hasFailed ? .unavailable : refusal)
        case .reply(let requester, let answer, let failure):
            turn.reply(outcome.hasFailed ? failure : answer, to: requester)
        case .next(let event, let requester):
            if outcome.hasFailed {
                turn.refuseRequest(requester, .serviceNotAvailable)
            } else {
                turn.forward(event)
            }
        }
    }

    // MARK: Settings

    /// Applies changed rates, and releases the apps that only waited for the old ones.
    mutating func ratesChanged(from old: Rates, _ turn: inout Turn) {
        let (rates, now) = (turn.settings.rates, turn.now.monotonic)
        topicBuckets.change(to: rates.share(rates.topicChanges, of: turn.partitions), now: now)
        for entry in table.all {
            entry.changeRates(from: old, to: rates, now)
        }
        // Apps that are still above their rate are throttled again.
        releaseThrottled(dueBy: .distantFuture, &turn)
    }
}

extension DeviceEvent {
    /// Whether the event waits until the device has been read.
    fileprivate var needsState: Bool {
        switch self {
        case .writable, .congested, .idleChanged, .closed, .upstreamAnswered, .receiptRefused:
            false
        case .submitted, .login, .acknowledged, .upstreamReceived, .upstreamReturned, .receiptStored,
            .checkIn, .register, .unregister, .registerWeb, .unregisterToken, .subscribe, .token,
            .installationFound, .gatewayAnswered, .gatewayDue, .markedForGateway, .forget, .cancel,
            .imported, .topicsDue, .unseen, .due:
            true
        }
    }

    /// Whether the event is due to a topic message, which may be for very many devices: no reason to keep the device in memory.
    fileprivate var isForTopic: Bool { if case .topicsDue = self { true } else { false } }
}
