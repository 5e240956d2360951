public import Basics

/// A partition of the core: decides which messages are sent to whom and when, until they are acknowledged (docs/architecture.md,
/// "Partitions and the store").
///
/// Pure and deterministic: events and time in, effects out. The shell calls `handle` for each event of a turn, then `endTurn`, takes
/// `effects`, submits the batch to the store, and returns `.committed` for every batch and `.loaded` for every query. Batches of one partition
/// are committed, and their outcomes reported, in the order in which they were ended, and none after a failed one before the partition has
/// its outcome (`BatchOrder`). A query may be answered before, between or after the outcomes of batches that were ended earlier.
///
/// The partition itself owns the turn, the batches and the clock. Everything else belongs to one of five owners, which do not
/// access each other: what concerns another owner is an event.
public struct Partition: ~Copyable {
    /// State that the owners share while a turn runs.
    var turn: Turn
    var devices: DeviceHub
    var senders: SenderHub
    var groups: GroupHub
    var topics: TopicHub
    var installations = InstallationHub()
    /// The search for expired messages.
    var expirySweep = ExpirySweep()
    /// The record of the time for the next process.
    var clockMark = ClockMark()
    /// Steps of failed removals that the next tick writes again.
    var retriedSteps = HistoryBatch()

    /// Creates a partition with nothing in memory; `seed` determines the salt, `hashKey` keys the tables. `failuresSeen` is the count of
    /// its `BatchOrder`.
    public init(
        partition: Int, of count: Int, seed: UInt64, hashKey: (UInt64, UInt64),
        settings: DeliverySettings = DeliverySettings(), failuresSeen: UInt64 = 0
    ) {
        precondition(count > 0 && partition >= 0 && partition < count, "invalid partition number")
        var random = SeededRandom(seed: seed)
        let salt = UInt32(truncatingIfNeeded: random.next())
        turn = Turn(
            partition: partition, of: count, salt: salt, settings: settings, failuresSeen: failuresSeen)
        let hash = SipHash(key: hashKey)
        // The search starts at a random device: a process that restarts often must not examine the same devices each time.
        devices = DeviceHub(hash: hash, searchFrom: DeviceID(random.next() >> 1), turn)
        senders = SenderHub(hash: hash)
        groups = GroupHub(salt: salt)
        topics = TopicHub(partitions: count)
    }

    /// The effects of the events so far, which the shell empties.
    public var effects: Effects {
        _read { yield turn.effects }
        _modify { yield &turn.effects }
    }

    /// Handles one event and appends the resulting effects to `effects`.
    public mutating func handle(_ event: consuming Event, now: Now) {
        turn.read(now)
        if let key = event.key {
            let isOurs = key.partition(of: turn.partitions) == turn.partition
            guard turn.demand(isOurs, "an event of another partition", owner: key) else {
                return refuse(event)
            }
        }
        switch consume event {
        case .device(let device, let event): devices.handle(event, of: device, &turn)
        case .sender(let sender, let event): senders.handle(event, of: sender, &turn)
        case .group(let sender, let event): groups.handle(event, of: sender, &turn)
        case .topic(let sender, let event): topics.handle(event, of: sender, &turn)
        case .topicLog(_, .copied(let partition, let last)):
            devices.copied(topics.copied(by: partition, through: last, &turn), &turn)
        case .topicLog(_, let event): devices.handle(event, &turn)
        case .installation(let id, let event): installations.handle(event, of: id, &turn)
        case .partition(let event): handle(event, machine: now)
        }
    }

    /// Refuses an event that was routed to the wrong partition, if its sender waits for an answer.
    private mutating func refuse(_ event: consuming Event) {
        switch consume event {
        case .device(let device, let event): devices.refuse(event, of: device, &turn)
        case .sender(_, let event): senders.refuse(event, &turn)
        case .group(_, let event): groups.refuse(event, &turn)
        case .topic(_, let event): topics.refuse(event, &turn)
        case .topicLog(let partition, .published(_, let source)):
            turn.forward(.topicLog(source, .copied(by: partition, through: nil)))
        case .installation(_, .requested(let request)): turn.refuseInstallation(request, .serviceNotAvailable)
        case .installation(_, .unused), .topicLog, .partition: break
        }
    }

    private mutating func handle(_ event: consuming PartitionEvent, machine: Now) {
        switch consume event {
        case .committed(let outcome): committed(outcome)
        case .loaded(let answer): loaded(answer)
        case .tick: tick()
        case .topicsTurn: devices.feedDevices(&turn)
        case .clockAccepted(let witness):
            if turn.clock.accept(machine, by: witness) { turn.read(machine) }
            tick()
        case .senders(let directory): replaceDirectory(directory)
        case .settingsChanged(let changed): change(to: changed)
        case .trace(let device, let watcher): turn.trace(device, watcher)
        case .untrace(let watcher): turn.untrace(watcher)
        }
    }

    /// Ends the turn: removes the mutations of this turn from `effects` and returns them as a batch; `nil` if nothing changes. The
    /// batch's number returns in `.committed`.
    ///
    /// If an invariant was broken, the batch is refused as if the store had failed; answering its waiters may create another batch.
    public mutating func endTurn() -> WriteBatch? {
        var batch = turn.closeBatch()
        var refused = 0
        while turn.refusesBatch {
            precondition(
                refused < Limits.Partition.batchesRefusedPerTurn,
                "too many batches refused in one turn for broken invariants")
            refused += 1
            turn.refusesBatch = false
            guard let batchNumber = batch?.batchNumber else { break }
            committed(.failed(batchNumber))
            batch = turn.closeBatch()
        }
        if !turn.broken.isEmpty { reloadBroken() }
        return batch
    }

    /// Has the in-memory state of owners with a broken invariant read again.
    private mutating func reloadBroken() {
        var broken = BrokenStates()
        swap(&broken, &turn.broken)
        for entry in broken.devices { devices.readAgain(entry, &turn) }
        for entry in broken.senders { senders.readAgain(entry) }
    }

    /// When `.tick` is due, if earlier than twice a second: the next search for expired messages.
    public var deadline: Instant {
        expirySweep.isAsking ? .distantFuture : expirySweep.next
    }

    /// The number of the batch that is being made, or of the next one.
    public var batchNumber: UInt64 { turn.ledger.nextBatchNumber }

    /// Whether connected devices wait for the turn of the partition to be sent topic messages (`PartitionEvent.topicsTurn`).
    public var isTopicDue: Bool { devices.feed.sending == .due }

    /// Whether a batch with topic messages to connected devices is on its way to the disk.
    public var isStoringTopics: Bool { devices.feed.sending == .storing }

    /// Returns up to `limit` live topic messages, the newest first, and the number of all.
    public func runningTopics(limit: Int) -> (messages: [LiveTopicMessage], count: Int) {
        (devices.feed.log.list(limit: limit), devices.feed.log.count)
    }
}
