import Basics

/// What the owners of a partition share while a turn runs: the time, the effects, and what waits for the changes of the turn.
///
/// An owner reads and changes its own state and this, and no other owner. What concerns another one becomes an event
/// (`forward`), also inside of the same partition.
struct Turn: ~Copyable {
    /// The partition and how many there are.
    let partition: Int
    let partitions: Int
    /// What this partition gets of what is bounded for all.
    let shares: PartitionShares
    /// Second half of this process's persistent IDs.
    let salt: UInt32
    /// The time of the event that is handled, as far as the machine's clock is believed.
    var now = Now(monotonic: .distantPast, wall: 0)
    /// What the shell is to do.
    var effects = Effects()
    /// What this turn has gathered besides its changes.
    var batch = BatchRecord()
    /// Whether the batch of this turn must not be stored: a state was found that cannot be.
    var refusesBatch = false
    /// Of whom such a state is.
    var broken = BrokenStates()
    /// Batches that the store has not answered.
    var ledger = BatchLedger()
    var settings: DeliverySettings
    var directory = SenderDirectory()
    var sequences: SequenceSource
    /// Whether the machine's wall clock is believed.
    var clock: ClockGuard
    /// Devices that somebody watches.
    var traces: [DeviceID: Trace] = [:]
    /// What is left of this partition's share of each sender's messages.
    var messageBuckets: SenderBuckets

    init(partition: Int, of count: Int, salt: UInt32, settings: DeliverySettings) {
        self.partition = partition
        partitions = count
        shares = PartitionShares(of: settings, among: count)
        self.salt = salt
        self.settings = settings
        sequences = SequenceSource(floor: settings.sequenceFloor)
        clock = ClockGuard(mark: settings.clockMark)
        messageBuckets = SenderBuckets(settings.rates.share(settings.rates.sender, of: count))
    }

    /// Takes the time of an event.
    mutating func read(_ machine: Now) { now = clock.read(machine, grace: settings.clockGraceSeconds) }

    /// A sequence greater than all before.
    mutating func nextSequence() -> Sequence {
        let before = sequences.last
        let next = sequences.next(now)
        demand(next.number > before, "a sequence is not above the one before")
        return next
    }

    /// When this partition first searches for what nobody uses any more: the partitions take turns.
    var firstSearch: Instant {
        now.monotonic.advanced(milliseconds: Int64(Limits.Device.sweepMilliseconds * partition))
    }

    /// Whether the store is so far behind that nothing more is accepted.
    var isOverloaded: Bool { ledger.mutations + effects.mutations.count >= shares.waitingWrites }

    // MARK: Effects

    /// Passes an event on to its owner, in this partition or another.
    mutating func forward(_ event: Event) { effects.forwards.append(event) }

    /// Asks the store.
    mutating func load(_ question: Load) { effects.loads.append(question) }

    /// Adds a change to the batch of this turn.
    mutating func write(_ mutation: Mutation) { effects.mutations.append(mutation) }

    /// Keeps what waits for the batch of this turn.
    mutating func wait(_ waiter: Waiter) { batch.waiters.append(waiter) }

    /// Keeps what waits for a batch: that of this turn, or one on its way. Returns false where it has been answered.
    mutating func wait(_ waiter: Waiter, for ticket: UInt64) -> Bool {
        guard ticket == ledger.nextTicket else { return ledger.wait(waiter, for: ticket) }
        wait(waiter)
        return true
    }

    /// Adds a change to the batch of this turn, and what waits for it.
    mutating func write(_ mutation: Mutation, then waiter: Waiter) {
        effects.mutations.append(mutation)
        batch.waiters.append(waiter)
    }

    /// Records that the batch of this turn changes a device.
    mutating func touch(_ entry: DeviceEntry) {
        demand(entry.state.isReady, "a device changes that has not been read", of: entry)
        demand(!entry.isForgotten, "a device changes that is no longer in memory", of: entry)
        guard !entry.isTouched else { return }
        entry.isTouched = true
        batch.devices.append(entry)
    }

    /// Returns the batch of this turn, with what waits for it kept in the ledger; `nil` if nothing changes.
    mutating func takeBatch() -> WriteBatch? {
        if effects.mutations.isEmpty {
            let isEmpty = batch.waiters.isEmpty && batch.devices.isEmpty && !batch.removesUpstream
            // What waits is answered by the refusal of a batch that changes nothing.
            if demand(isEmpty, "something waits for a batch without changes") { return nil }
        }
        let ticket = ledger.nextTicket
        var record = BatchRecord()
        swap(&record, &batch)
        record.mutations = effects.mutations
        effects.mutations = []
        effects.mutations.reserveCapacity(min(record.mutations.count, 64))
        for entry in record.devices {
            demand(entry.isTouched, "a device is in a batch that does not change it", of: entry)
            entry.isTouched = false
            entry.lastBatch = ticket
            entry.batchesInFlight += 1
        }
        let batch = WriteBatch(
            ticket: ticket, mutations: record.mutations, isDurable: !record.waiters.isEmpty)
        ledger.append(record)
        return batch
    }

    // MARK: Replies

    /// Gives a command to the session of an app server.
    mutating func send(_ command: AppServerCommand, to connection: ConnectionID) {
        effects.commands.append((connection, .appServer(command)))
    }

    /// Gives a command to the session of a device.
    mutating func send(_ command: DeviceCommand, to connection: ConnectionID) {
        effects.commands.append((connection, .device(command)))
    }

    /// Gives a command to any session.
    mutating func send(_ command: ConnectionCommand, to connection: ConnectionID) {
        effects.commands.append((connection, .connection(command)))
    }

    /// Answers a request that is no submission.
    mutating func reply(_ reply: RequestReply, to origin: Origin) {
        effects.commands.append((origin.connection, .reply(ticket: origin.ticket, reply)))
    }

    /// Answers a session's submission.
    mutating func reply(_ reply: SubmissionReply, to origin: Origin) {
        effects.commands.append((origin.connection, .submission(ticket: origin.ticket, reply)))
    }

    /// Answers a request once the changes of this turn are on disk, or with `failure` where they cannot be stored.
    mutating func replyWhenStored(
        _ reply: RequestReply, to origin: Origin,
        orFailed failure: RequestReply = .registrationRefused(.serviceNotAvailable)
    ) {
        wait(.reply(origin, reply, orFailed: failure))
    }

    /// Answers a request once a batch is on disk: that of this turn, or one on its way; at once where it has been answered, or
    /// there is none.
    mutating func reply(
        _ reply: RequestReply, to origin: Origin, whenStored batch: UInt64?,
        orFailed failure: RequestReply = .registrationRefused(.serviceNotAvailable)
    ) {
        if let batch, wait(.reply(origin, reply, orFailed: failure), for: batch) { return }
        self.reply(reply, to: origin)
    }

    /// Answers that a submission is accepted; `id` is `nil` for a dry run.
    mutating func accept(_ replyTo: ReplyTo, _ id: PersistentID?, canonical: RegistrationName?) {
        switch replyTo {
        case .session(let origin): reply(.accepted(id: id, canonical: canonical), to: origin)
        case .group(let sender, let member):
            forward(.memberAnswered(sender, member, .sent(canonical: canonical)))
        case .topic(let sender, let run): forward(.topicAnswered(sender, run: run, .reached))
        }
    }

    /// Answers why a submission is refused.
    mutating func refuse(_ replyTo: ReplyTo, _ refusal: Refusal) {
        switch replyTo {
        case .session(let origin): reply(.refused(refusal), to: origin)
        case .group(let sender, let member): forward(.memberAnswered(sender, member, .refused(refusal)))
        case .topic(let sender, let run):
            forward(.topicAnswered(sender, run: run, refusal == .unavailable ? .unavailable : .passedOver))
        }
    }

    /// Refuses a device's message.
    mutating func refuse(_ origin: Origin, _ refusal: UpstreamRefusal) {
        send(.upstreamRefused(ticket: origin.ticket, refusal), to: origin.connection)
        effects.upstream.refused += 1
    }

    /// Refuses a device's message, as one that is traced.
    mutating func refuse(_ upstream: UpstreamSubmission, _ refusal: UpstreamRefusal) {
        traceUpstream(upstream, .refused, detail: refusal.rawValue)
        refuse(upstream.origin, refusal)
    }

    /// Refuses a request about the registry.
    mutating func refuse(_ origin: Origin, _ refusal: RegistrationRefusal) {
        reply(.registrationRefused(refusal), to: origin)
    }
}
