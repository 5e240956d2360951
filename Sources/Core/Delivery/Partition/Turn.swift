import Basics

/// State that the owners of a partition share while a turn runs: the time, the effects, and the continuations of the turn's batch.
///
/// An owner accesses its own state and this, and no other owner. What concerns another owner becomes an event (`forward`), even
/// within the same partition.
struct Turn: ~Copyable {
    /// The number of the partition, and the number of all partitions.
    let partition: Int
    let partitions: Int
    /// This partition's share of the global limits.
    let shares: PartitionShares
    /// Second half of the persistent IDs of this process.
    let salt: UInt32
    /// The time of the current event, corrected if the machine's wall clock is in doubt.
    var now = Now(monotonic: .distantPast, wall: 0)
    /// Actions for the shell.
    var effects = Effects()
    /// Continuations and changed devices of this turn's batch.
    var batch = BatchRecord()
    /// Whether the batch of this turn must not be stored because an invariant is broken.
    var refusesBatch = false
    /// The owners with a broken invariant.
    var broken = BrokenStates()
    /// Batches that the store has not answered.
    var ledger: BatchLedger
    var settings: DeliverySettings
    var directory = SenderDirectory()
    var sequences: SequenceSource
    /// Whether the machine's wall clock is believed.
    var clock: ClockGuard
    /// Traced devices.
    var traces: [DeviceID: Trace] = [:]
    /// What is left of this partition's share of each sender's message rate.
    var messageBuckets: SenderBuckets

    init(partition: Int, of count: Int, salt: UInt32, settings: DeliverySettings, failuresSeen: UInt64 = 0) {
        self.partition = partition
        ledger = BatchLedger(failuresSeen: failuresSeen)
        partitions = count
        shares = PartitionShares(of: settings, among: count)
        self.salt = salt
        self.settings = settings
        sequences = SequenceSource(floor: settings.sequenceWatermark)
        clock = ClockGuard(mark: settings.clockMark)
        messageBuckets = SenderBuckets(settings.rates.share(settings.rates.sender, of: count))
    }

    /// Sets the time of an event.
    mutating func read(_ machine: Now) { now = clock.read(machine, grace: settings.clockGraceSeconds) }

    /// Returns a sequence number greater than all earlier ones.
    mutating func nextSequence() -> SequenceNumber {
        let before = sequences.last
        let next = sequences.next(now)
        demand(next.number > before, "a sequence number does not exceed the previous one")
        return next
    }

    /// When this partition first searches for unused devices and installations: the partitions take turns.
    var firstSearch: Instant {
        now.monotonic.advanced(milliseconds: Int64(Limits.Device.sweepMilliseconds * partition))
    }

    /// Whether submissions are refused because too many mutations wait for the store.
    var isOverloaded: Bool { ledger.mutations + effects.mutations.count >= shares.waitingWrites }

    /// The mutations that the store has not confirmed, oldest first.
    var openMutations: [Mutation] { ledger.openMutations + effects.mutations }

    // MARK: Effects

    /// Forwards an event to its owner, in this or another partition.
    mutating func forward(_ event: Event) { effects.forwards.append(event) }

    /// Adds a query to the store.
    mutating func load(_ question: StoreQuery) { effects.loads.append(question) }

    /// Adds a mutation to the batch of this turn.
    mutating func write(_ mutation: Mutation) { effects.mutations.append(mutation) }

    /// Adds a mutation of a device's rows to the batch of this turn.
    mutating func write(_ mutation: Mutation, of entry: DeviceEntry) {
        write(mutation)
        touch(entry)
    }

    /// Adds a continuation to the batch of this turn.
    mutating func wait(_ waiter: Waiter) { batch.waiters.append(waiter) }

    /// Adds a continuation to the batch of this turn or to an unanswered one. Returns `false` if the batch has been answered.
    mutating func wait(_ waiter: Waiter, for batchNumber: UInt64) -> Bool {
        guard batchNumber == ledger.nextBatchNumber else { return ledger.wait(waiter, for: batchNumber) }
        wait(waiter)
        return true
    }

    /// Adds a mutation and its continuation to the batch of this turn.
    mutating func write(_ mutation: Mutation, then waiter: Waiter) {
        effects.mutations.append(mutation)
        batch.waiters.append(waiter)
    }

    /// Marks a device as changed by the batch of this turn.
    mutating func touch(_ entry: DeviceEntry) {
        demand(entry.state.isReady, "a device changed before it was read", of: entry)
        demand(
            entry.residence.state != .evicted, "a device changed after it was evicted", of: entry)
        if entry.batches.touch() { batch.devices.append(entry) }
    }

    /// Closes the batch of this turn, records it in the ledger and returns it. Returns `nil` if nothing changes.
    mutating func closeBatch() -> WriteBatch? {
        if effects.mutations.isEmpty {
            let isEmpty =
                batch.waiters.isEmpty && batch.devices.isEmpty && !batch.removesUpstream
                && batch.history.isEmpty && batch.traces.isEmpty
            // Waiters of an empty batch are answered by refusing it.
            if demand(isEmpty, "a continuation waits for a batch without mutations") { return nil }
        }
        let batchNumber = ledger.nextBatchNumber
        var record = BatchRecord()
        swap(&record, &batch)
        record.mutations = effects.mutations
        // The next batch is probably as large: growing its arrays step by step would cost an allocation for every other message.
        effects.mutations = []
        effects.mutations.reserveCapacity(min(record.mutations.count, 64))
        batch.waiters.reserveCapacity(min(record.waiters.count, 64))
        batch.devices.reserveCapacity(min(record.devices.count, 64))
        for entry in record.devices {
            demand(entry.batches.isTouched, "a device is in a batch that does not change it", of: entry)
            entry.batches.close(batchNumber)
        }
        let batch = WriteBatch(
            batchNumber: batchNumber, mutations: record.mutations, isDurable: !record.waiters.isEmpty,
            partition: partition, newestSequence: SequenceNumber(sequences.last),
            failuresSeen: ledger.failuresSeen)
        ledger.append(record)
        return batch
    }

    // MARK: Replies

    mutating func send(_ command: AppServerCommand, to connection: ConnectionID) {
        effects.commands.append((connection, .appServer(command)))
    }

    mutating func send(_ command: DeviceCommand, to connection: ConnectionID) {
        effects.commands.append((connection, .device(command)))
    }

    mutating func send(_ command: ConnectionCommand, to connection: ConnectionID) {
        effects.commands.append((connection, .connection(command)))
    }

    /// Answers a request other than a submission.
    mutating func reply(_ reply: RequestReply, to requester: Requester) {
        effects.commands.append((requester.connection, .reply(requestID: requester.requestID, reply)))
    }

    /// Answers a submission.
    mutating func reply(_ reply: SubmissionReply, to requester: Requester) {
        effects.commands.append((requester.connection, .submission(requestID: requester.requestID, reply)))
    }

    /// Answers a request once the batch of this turn is on disk, or with `failure` if it cannot be stored.
    mutating func replyWhenStored(
        _ reply: RequestReply, to requester: Requester,
        orFailed failure: RequestReply = .registrationRefused(.serviceNotAvailable)
    ) {
        wait(.reply(requester, reply, orFailed: failure))
    }

    /// Answers a request once a batch is on disk: that of this turn or an unanswered one. Answers at once if the batch has been
    /// answered or is `nil`.
    mutating func reply(
        _ reply: RequestReply, to requester: Requester, whenStored batch: UInt64?,
        orFailed failure: RequestReply = .registrationRefused(.serviceNotAvailable)
    ) {
        if let batch, wait(.reply(requester, reply, orFailed: failure), for: batch) { return }
        self.reply(reply, to: requester)
    }

    /// Accepts a submission; `id` is `nil` for a dry run.
    mutating func accept(_ replyTo: ReplyTo, _ id: PersistentID?, canonical: TokenName?) {
        switch replyTo {
        case .session(let requester): reply(.accepted(id: id, canonical: canonical), to: requester)
        case .group(let sender, let member):
            forward(.memberAnswered(sender, member, .sent(canonical: canonical)))
        case .nobody: break
        }
    }

    /// Refuses a submission.
    mutating func refuse(_ replyTo: ReplyTo, _ refusal: Refusal) {
        switch replyTo {
        case .session(let requester): reply(.refused(refusal), to: requester)
        case .group(let sender, let member): forward(.memberAnswered(sender, member, .refused(refusal)))
        case .nobody: break
        }
    }

    /// Counts a refused downstream message, and for its sender if that is known.
    mutating func countRefused(_ refusal: Refusal, of sender: SenderID?) {
        effects.downstream.refused += 1
        effects.senders.countRefused(.refusal(refusal), of: sender)
    }

    /// Refuses an upstream message.
    mutating func refuseUpstream(_ requester: Requester, _ refusal: UpstreamRefusal) {
        send(.upstreamRefused(requestID: requester.requestID, refusal), to: requester.connection)
        effects.upstream.refused += 1
    }

    /// Refuses an upstream message and records that in the trace.
    mutating func refuseUpstream(_ upstream: UpstreamSubmission, _ refusal: UpstreamRefusal) {
        traceUpstream(upstream, .refused, detail: refusal.rawValue)
        effects.senders.count(.upstreamRefused, of: upstream.sender)
        refuseUpstream(upstream.requester, refusal)
    }

    /// Refuses a registry request.
    mutating func refuseRequest(_ requester: Requester, _ refusal: RegistrationRefusal) {
        reply(.registrationRefused(refusal), to: requester)
    }
}
