import Basics
import Testing

@testable import Delivery

/// A partition in a class, so that tests can share it.
final class PartitionBox {
    var core: Partition
    var events: [Event] = []
    var batches: [WriteBatch] = []
    /// Number of batches that it has made; in a cluster each is a record in the log of the partition, or part of one.
    var batchesMade = 0
    /// Batches that are applied, but not reported yet.
    var outcomes: [CommitOutcome] = []
    var loads: [StoreQuery] = []
    /// Answers that are read, but not reported yet.
    var answers: [StoreResult] = []
    var order = BatchOrder()
    init(_ core: consuming Partition) { self.core = core }
}

/// Partitions, a store and a log of commands; each step happens only when a test calls for it. So it runs no `TurnLoop`, which handles all
/// that waits.
final class Harness {
    private(set) var partitions: [PartitionBox] = []
    private let settings: DeliverySettings
    /// Whether the logs of topic messages are read before anything else happens.
    private let readsLog: Bool
    var store = FakeStore()
    /// The state after a crash: everything up to the last durable batch.
    private var lastDurable = FakeStore()
    var now = Now(monotonic: Instant(nanoseconds: 0), wall: 1_700_000_000_000)
    var commands: [(ConnectionID, SessionCommand)] = []
    var down = MilestoneCounts()
    var up = MilestoneCounts()
    var senders: [SenderTally.Row] = []
    var refused: [SenderTally.Refused] = []
    /// When delivered messages were accepted, of devices that were connected all the time.
    var delivered = StartTimes()
    /// What was offered to the APNs gateway and not answered yet.
    var deliveries: [GatewayDelivery] = []
    /// What was ordered of the webhooks.
    var orders: [WebhookOrder] = []
    var durableBatches = 0
    var expiredDevices = 0
    var unusedDevices = 0
    /// The number of times that a device has confirmed the clock.
    var confirmations = 0
    var topicJobs = 0
    var topicJobsOpen = 0
    var topicMembers = 0
    /// The steps of messages, for the history.
    var history = HistoryBatch()
    /// Invariant failures.
    var failures: [InvariantFailure] = []
    /// Every query to the store.
    var asked: [StoreQuery] = []
    /// Called for each command of a partition.
    var observe: ((ConnectionID, SessionCommand) -> Void)?
    /// Called for each event before a partition handles it.
    var observeEvent: ((Event) -> Void)?

    init(
        partitions count: Int = 1, store: FakeStore = FakeStore(), seed: UInt64 = 7,
        settings: DeliverySettings = DeliverySettings(), readsLog: Bool = true
    ) {
        self.store = store
        self.settings = settings
        self.readsLog = readsLog
        lastDurable = store
        start(count, seed)
    }

    private func start(_ count: Int, _ seed: UInt64) {
        var settings = settings
        settings.clockMark = store.marksOfProcess[.clock].map { UnixMilliseconds($0) }
        store.partitions = count
        partitions = (0..<count).map {
            PartitionBox(
                Partition(
                    partition: $0, of: count, seed: seed &+ UInt64($0), hashKey: (1, 2),
                    settings: settings))
        }
        post(.senders(SenderDirectory(Self.senders)))
        runTurns()
        // No device is served before the log of topic messages has been read.
        if readsLog {
            for number in 0..<count { post(.topicLog(number, .published([], from: number))) }
            runTurns()
        }
        while readsLog, partitions.contains(where: { !$0.loads.isEmpty }) {
            for partition in partitions {
                read(partition)
                reportAnswer(partition)
            }
            runTurns()
        }
        asked = []
    }

    static let sender = SenderID(100)
    static let otherSender = SenderID(200)
    static let key = SecretDigest(bytes: [UInt8](repeating: 1, count: 32))
    static let senders = [sender, otherSender].map {
        SenderRecord(
            sender: $0, label: "", keys: [ServerKey(digest: key, createdAt: 0)], createdAt: 0)
    }

    func post(_ event: Event) {
        if let key = event.key ?? event.ended?.key {
            partitions[key.partition(of: partitions.count)].events.append(event)
        } else {
            for partition in partitions { partition.events.append(event) }
        }
    }

    /// Runs one turn of a partition with up to a number of its events.
    func turn(_ partition: PartitionBox, events: Int = .max) {
        for _ in 0..<min(events, partition.events.count) {
            let event = partition.events.removeFirst()
            observeEvent?(event)
            partition.core.handle(event, now: now)
            if settings.trapsAtFailedInvariants, let words = partition.core.violation(of: event.key) {
                Issue.record("\(words)")
            }
        }
        if partition.core.isTopicDue { partition.core.handle(.partition(.topicsTurn), now: now) }
        // Clock marks are written by time, so tests do not count them.
        let writes = partition.core.effects.mutations
        if writes.count == 1, case .putMark(let mark, let number) = writes[0] {
            store.marksOfProcess[mark] = number
            lastDurable.marksOfProcess[mark] = number
            partition.core.effects.mutations = []
        }
        if let batch = partition.core.endTurn() {
            if batch.isDurable { durableBatches += 1 }
            partition.batches.append(batch)
            partition.batchesMade += 1
        }
        var effects = Effects()
        swap(&effects, &partition.core.effects)
        partition.loads += effects.loads
        asked += effects.loads
        expiredDevices += effects.expiredDevices
        unusedDevices += effects.unusedDevices
        if effects.confirmsClock { confirmations += 1 }
        history.append(effects.history)
        topicJobs += effects.topicJobs
        topicJobsOpen += effects.topicJobsOpen
        topicMembers += effects.topicMembers
        failures += effects.invariantFailures
        deliveries += effects.deliveries
        orders += effects.webhooks
        down.add(effects.downstream)
        up.add(effects.upstream)
        senders += effects.senders.rows
        refused += effects.senders.refused
        delivered.move(from: &effects.delivered)
        for (connection, command) in effects.commands {
            commands.append((connection, command))
            observe?(connection, command)
        }
        for event in effects.forwards { post(event) }
    }

    /// Applies the oldest batch of a partition; the outcome is reported later. With it fail all that are not made afterwards.
    func apply(_ partition: PartitionBox, failing: Bool = false) {
        guard !partition.batches.isEmpty else { return }
        let batch = partition.batches.removeFirst()
        guard partition.order.allows(batch) else {
            return partition.outcomes.append(.failed(batch.batchNumber))
        }
        partition.outcomes.append(failing ? partition.order.fail(batch.batchNumber) : store.apply(batch))
        if batch.isDurable, !failing { lastDurable = store }
    }

    func reportOutcome(_ partition: PartitionBox) {
        guard !partition.outcomes.isEmpty else { return }
        partition.events.append(.committed(partition.outcomes.removeFirst()))
    }

    func read(_ partition: PartitionBox, failing: Bool = false, isDamage: Bool = false) {
        guard !partition.loads.isEmpty else { return }
        let load = partition.loads.removeFirst()
        partition.answers.append(failing ? .failed(load, isDamage: isDamage) : store.answer(load))
    }

    func reportAnswer(_ partition: PartitionBox) {
        guard !partition.answers.isEmpty else { return }
        partition.events.append(.loaded(partition.answers.removeFirst()))
    }

    /// Answers the queries of a partition, each before the turns that follow, until none is open.
    func answerQueries(of partition: PartitionBox) {
        while !partition.loads.isEmpty {
            read(partition)
            reportAnswer(partition)
            runTurns()
        }
    }

    /// Runs turns until no event waits; the store does nothing.
    func runTurns() {
        var count = 0
        while partitions.contains(where: { !$0.events.isEmpty }), count < 10_000 {
            for partition in partitions { turn(partition) }
            count += 1
        }
    }

    /// Runs everything until no work is left, or for a number of rounds of the store.
    func settle(rounds: Int = 10_000) {
        var count = 0
        repeat {
            runTurns()
            for partition in partitions {
                apply(partition)
                reportOutcome(partition)
                read(partition)
                reportAnswer(partition)
            }
            count += 1
        } while count < rounds && !isQuiet
    }

    var isQuiet: Bool {
        partitions.allSatisfy {
            $0.events.isEmpty && $0.batches.isEmpty && $0.outcomes.isEmpty && $0.loads.isEmpty
                && $0.answers.isEmpty
        }
    }

    /// Lets topic messages that are new to the devices of registrations enter their mailboxes, as a login does.
    func collectTopics(_ names: [RegistrationName]) {
        for name in names { post(.device(name.device, .topicsDue)) }
        settle()
    }

    func advance(milliseconds: Int64) {
        now.monotonic = now.monotonic.advanced(milliseconds: milliseconds)
        now.wall += milliseconds
    }

    /// Removes and returns the commands for a connection from the log.
    func take(_ connection: ConnectionID) -> [SessionCommand] {
        let found = commands.filter { $0.0 == connection }.map(\.1)
        commands.removeAll { $0.0 == connection }
        return found
    }

    /// The process is killed and started again; only what is durable remains.
    func crash(seed: UInt64) {
        store = lastDurable
        deliveries = []
        orders = []
        start(partitions.count, seed)
    }
}

extension Event {
    /// The store's answer that an entry has expired.
    static func expired(_ entry: ExpiredEntry) -> Event { .loaded(.expired([entry])) }

    /// The first entry of such an answer.
    fileprivate var ended: ExpiredEntry? {
        if case .partition(.loaded(.expired(let entries))) = self { entries.first } else { nil }
    }
}
