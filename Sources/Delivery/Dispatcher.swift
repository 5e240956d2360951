public import Basics

/// The brain of one partition: who gets what, when, until acknowledged (design 1, 3).
///
/// Pure and deterministic: events and time in, effects out. The owner calls `handle` for each event of a turn, then
/// `endTurn`, gives the batch to the store, and hands in `.committed` for every batch and `.loaded` for every load.
/// Batches of one partition are committed, and their outcomes told, in the order in which they were ended. A load
/// may be answered before, between or after the outcomes of batches that were ended earlier.
public struct Dispatcher: ~Copyable {
    let partition: Int
    let partitions: Int
    var settings: DeliverySettings
    /// Second half of this process's persistent ids.
    let salt: UInt32
    var directory = SenderDirectory()
    var sequences: SequenceSource
    var devices: DeviceTable
    var senders: SenderTable
    /// Batches that the store has not answered.
    var ledger = BatchLedger()
    /// What the turn that runs has gathered besides its changes.
    var turn = BatchRecord()
    var sweep = Sweep()
    /// The search for devices that have not been seen for too long.
    var deviceSweep: DeviceSweep
    /// Whether the machine's wall clock is believed.
    var clock: ClockGuard
    /// When the next process is told how late it is.
    var clockMark = ClockMark()
    /// The search for installations that nobody uses any more.
    var installationSweep = InstallationSweep()
    /// Changes of installations.
    var installationTurns = InstallationTurns()
    /// Contacts that the store has not been told of.
    var contacts = UnwrittenContacts()
    /// Messages that wait for the rate of their app.
    var held = DueQueue()
    /// Devices that somebody watches.
    var traces: [DeviceID: Trace] = [:]
    /// Changes of groups that wait, by sender.
    var groupChanges: [SenderID: GroupChanges] = [:]
    /// How many those are.
    var groupRequests = 0
    /// Messages to groups that are not answered.
    var groupSends = GroupSends()
    /// Messages to topics that are under way.
    var topicRuns = TopicRuns()
    /// The search for those that a stop has interrupted.
    var topicResumption = TopicResumption()
    /// Requests of installations whose registrations the store has been asked for.
    var waitingInstallations = WaitingInstallations()
    /// What is left of this partition's share of each sender's messages.
    var messageBuckets: SenderBuckets
    /// The same of its changes of subscriptions.
    var topicBuckets: SenderBuckets

    /// A partition with nothing in memory, of so many; `seed` gives the salt, `hashKey` keys the tables.
    public init(
        partition: Int, of count: Int, seed: UInt64, hashKey: (UInt64, UInt64),
        settings: DeliverySettings = DeliverySettings()
    ) {
        precondition(count > 0 && partition >= 0 && partition < count, "no such partition")
        self.partition = partition
        partitions = count
        self.settings = settings
        messageBuckets = SenderBuckets(settings.rates.sender.share(of: count))
        topicBuckets = SenderBuckets(settings.rates.topicChanges.share(of: count))
        var random = SeededRandom(seed: seed)
        salt = UInt32(truncatingIfNeeded: random.next())
        // Anywhere: a process that is restarted often must not look at the same devices each time.
        deviceSweep = DeviceSweep(from: DeviceID(random.next() >> 1))
        clock = ClockGuard(mark: settings.clockMark)
        sequences = SequenceSource(floor: settings.sequenceFloor)
        let hash = SipHash(key: hashKey)
        devices = DeviceTable(hash: hash, idleLimit: settings.idleDevicesInMemory)
        senders = SenderTable(hash: hash)
    }

    /// Takes in one event; what follows from it is appended to `effects`.
    public mutating func handle(_ event: consuming Event, now: Now, effects: inout Effects) {
        let time = clock.read(now, grace: settings.clockGraceSeconds)
        guard case .clockAccepted = event, clock.accept(now) else { return take(event, time, &effects) }
        take(event, clock.read(now, grace: settings.clockGraceSeconds), &effects)
    }

    /// Takes in one event at a time that the clock's guard has looked at.
    mutating func take(_ event: consuming Event, _ now: Now, _ effects: inout Effects) {
        switch consume event {
        case .submitted(let submission): submitted(submission, now, &effects)
        case .deviceAcknowledged(let connection, let device, let sequences):
            deviceAcknowledged(connection, device, sequences, now, &effects)
        case .committed(let outcome): committed(outcome, now, &effects)
        case .loaded(let loaded): self.loaded(loaded, now, &effects)
        case .tick, .clockAccepted: tick(now, &effects)
        case .senders(let directory): replaceDirectory(directory, &effects)
        case .trace(let device, let watcher): trace(device, watcher)
        case .untrace(let watcher): untrace(watcher)
        case .settingsChanged(let changed): settingsChanged(changed, now, &effects)
        case .expired(let entry): expired(entry, now, &effects)
        case .groupSubmitted(let submission): groupSubmitted(submission, now, &effects)
        case .memberAnswered(_, let ticket, let answer): memberAnswered(ticket, answer, &effects)
        case .groupRequested(let request): changeGroup(request, &effects)
        case .topicSubmitted(let submission): topicSubmitted(submission, now, &effects)
        case .topicAnswered(_, let run, let answer): topicAnswered(run, answer, now, &effects)
        case .topicResumed(let job): topicResumed(job, now, &effects)

        case .deviceLogin(let login): deviceLogin(login, now, &effects)
        case .deviceReady(let connection, let device): deviceReady(connection, device, now, &effects)
        case .deviceCongested(let connection, let device): deviceCongested(connection, device)
        case .deviceIdleChanged(let connection, let device, let isIdle):
            deviceIdleChanged(connection, device, isIdle: isIdle, &effects)
        case .deviceClosed(let connection, let device): deviceClosed(connection, device, now, &effects)
        case .receiptStored(let device, let sequence): receiptStored(device, sequence, now, &effects)
        case .receiptRefused(let device, let sequence): receiptRefused(device, sequence)

        case .checkIn(let checkIn): checkedIn(checkIn, now, &effects)
        case .register(let request): register(request, now, &effects)
        case .unregister(let request): unregister(request, now, &effects)
        case .registerWeb(let request): registerWeb(request, now, &effects)
        case .unregisterToken(let claim, let origin): unregisterToken(claim, origin, &effects)
        case .subscribe(let request): subscribe(request, now, &effects)
        case .address(let request): address(request, now, &effects)
        case .installation(let request): installationAsks(request, now, &effects)
        case .installationFound(let request, let names, let device):
            installationFound(request, names, at: device, now, &effects)
        case .forgetDevice(let device, let origin): forget(device, origin, now, &effects)
        case .unseen(let device): deviceUnseen(device, now, &effects)

        case .upstreamReceived(let upstream): upstreamReceived(upstream, now, &effects)
        case .upstreamAnswered(let name): upstreamAnswered(name)
        case .upstreamReturned(let gone): upstreamReturned(gone, now, &effects)
        case .upstreamReturnSettled(let sender, let sequence): returnSettled(sender, sequence)
        case .upstreamResolved(let upstream, let name): upstreamResolved(upstream, from: name, now, &effects)
        case .receiptDue(let receipt): receiptDue(receipt, now, &effects)
        case .upstreamSettled(let connection, let sender, let sequence, let settlement):
            upstreamSettled(connection, sender, sequence, settlement, now, &effects)
        case .appServerLogin(let connection, let sender, let key):
            appServerLogin(connection, sender, key, now, &effects)
        case .appServerKeysWanted(let connection, let sender):
            effects.commands.append((connection, .loginKeys(directory.provableKeys(of: sender))))
        case .appServerStreamManaged(let connection, let sender, let id):
            streamManaged(connection, sender, id: id)
        case .appServerStreamDetached(let connection, let sender, let remains):
            streamDetached(connection, sender, remains, now, &effects)
        case .appServerStreamWanted(let connection, let sender, let id):
            streamWanted(connection, sender, id: id, now, &effects)
        case .appServerReady(let connection, let sender):
            appServerReady(connection, sender, now, &effects)
        case .appServerDraining(let connection, let sender): appServerDraining(connection, sender)
        case .appServerCongested(let connection, let sender): appServerCongested(connection, sender)
        case .appServerRelieved(let connection, let sender):
            appServerRelieved(connection, sender, now, &effects)
        case .appServerClosed(let connection, let sender):
            appServerClosed(connection, sender, now, &effects)
        }
    }

    /// Ends the turn: takes the changes of this turn out of `effects`; nil if there are none. The ticket returns in `.committed`.
    public mutating func endTurn(now: Now, effects: inout Effects) -> WriteBatch? {
        guard !effects.mutations.isEmpty else {
            assert(turn.waiters.isEmpty && turn.devices.isEmpty, "something waits for no change")
            return nil
        }
        let ticket = ledger.nextTicket
        var record = BatchRecord()
        swap(&record, &turn)
        record.mutations = effects.mutations
        effects.mutations = []
        effects.mutations.reserveCapacity(min(record.mutations.count, 64))
        for entry in record.devices {
            entry.isTouched = false
            entry.batchesInFlight += 1
        }
        let batch = WriteBatch(
            ticket: ticket, mutations: record.mutations, isDurable: !record.waiters.isEmpty)
        ledger.append(record)
        return batch
    }

    /// When `.tick` is wanted, if earlier than twice a second: the next search for messages whose time is over.
    public var deadline: Instant { partition == 0 && !sweep.isAsking ? sweep.next : .distantFuture }

    /// Whether the store is so far behind that nothing more is accepted.
    func isOverloaded(_ effects: borrowing Effects) -> Bool {
        ledger.mutations + effects.mutations.count >= settings.waitingWrites
    }

    /// Messages to topics that are under way, for operators: the first ones of so many, and how many there are.
    public func runningTopics(limit: Int) -> (jobs: [TopicJob], count: Int) {
        (topicRuns.list(limit: limit), topicRuns.count)
    }

    /// Notes that the turn that runs changes a device.
    mutating func touch(_ entry: DeviceEntry) {
        guard !entry.isTouched else { return }
        devices.wake(entry)
        entry.isTouched = true
        devices.wake(entry)
        turn.devices.append(entry)
    }
}

/// The search of partition 0 for messages whose time is over.
struct Sweep {
    /// Whether the store has been asked.
    var isAsking = false
    /// When it is asked again.
    var next = Instant.distantPast
}
