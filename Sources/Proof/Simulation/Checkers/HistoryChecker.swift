import Basics
import Delivery
import Store

/// The history has no step that did not happen, and no end twice: its steps are compared with what is on disk, and with what the clients said.
///
/// It may lack steps: what a failed commit leaves on disk was never reported as stored.
struct HistoryChecker {
    /// A message in the mailbox of its device or sender.
    private struct Key: Hashable {
        var isOfDevice: Bool
        var owner: UInt64
        var sequence: UInt64

        init(_ device: DeviceID, _ sequence: SequenceNumber) {
            (isOfDevice, owner, self.sequence) = (true, device.number, sequence.number)
        }

        init(_ sender: SenderID, _ sequence: SequenceNumber) {
            (isOfDevice, owner, self.sequence) = (false, sender.number, sequence.number)
        }

        init(_ step: HistoryStep) {
            (isOfDevice, owner, sequence) = (step.kind.isOfDevice, step.owner, step.sequence)
        }
    }

    private struct Batch: Hashable {
        var partition: Int
        var number: UInt64
    }

    /// What a batch ends.
    private struct Ends {
        var messages: [Key: Milestone] = [:]
        var topics: Set<TopicLogChecker.Copy> = []
    }

    /// The messages that were ever put, and those that are on disk.
    private var put: Set<Key> = []
    private var stored: Set<Key> = []
    /// The ends of the batches without an outcome.
    private var ends: [Batch: Ends] = [:]
    /// The topic message at each place of a log, and all that were ever put there: a now-or-never message is in memory alone.
    private var topics: [TopicLogChecker.Place: TopicLogChecker.Copy] = [:]
    private var putTopics: Set<TopicLogChecker.Copy> = []
    private var acknowledged: Set<Key> = []
    /// What has ended in the history.
    private var ended: [Key: TraceRecord.Step] = [:]
    private var delivered: Set<Key> = []
    private var endedTopics: Set<TopicLogChecker.Copy> = []

    // MARK: Clients

    /// Records what a device reports in an event of its session.
    mutating func heard(_ event: Event) {
        switch event {
        case .device(let device, .acknowledged(_, let sequences)):
            for sequence in sequences { acknowledged.insert(Key(device, sequence)) }
        case .device(let device, .login(let login)):
            for name in login.received { acknowledged.insert(Key(device, name.sequence)) }
        default: break
        }
    }

    // MARK: Disk

    mutating func submitted(_ batch: WriteBatch, _ partition: Int) {
        var ends = Ends()
        for mutation in batch.mutations {
            switch mutation {
            case .removeMessage(let device, let sequence, _, let reason):
                ends.messages[Key(device, sequence)] = reason
            case .removeUpstream(let sender, let sequence, _, let reason):
                ends.messages[Key(sender, sequence)] = reason
            case .putTopicEntry(let entry, _) where entry.kind == .message:
                let place = TopicLogChecker.Place(partition: partition, sequence: entry.sequence)
                let topic = TopicLogChecker.Copy(message: entry.message.name, partition: partition)
                topics[place] = topic
                putTopics.insert(topic)
            case .removeTopicEntry(let sequence, _):
                let place = TopicLogChecker.Place(partition: partition, sequence: sequence)
                if let topic = topics[place] { ends.topics.insert(topic) }
            default: break
            }
        }
        self.ends[Batch(partition: partition, number: batch.batchNumber)] = ends
    }

    mutating func didApply(_ batch: WriteBatch) {
        for mutation in batch.mutations {
            switch mutation {
            case .putMessage(let message): add(Key(message.device, message.sequence))
            case .putUpstream(let message, _): add(Key(message.sender, message.sequence))
            case .removeMessage(let device, let sequence, _, _): remove(Key(device, sequence), by: batch)
            case .removeUpstream(let sender, let sequence, _, _): remove(Key(sender, sequence), by: batch)
            default: break
            }
        }
    }

    /// Removes a message that is on disk. What has ended before is no end of this batch.
    private mutating func remove(_ key: Key, by batch: WriteBatch) {
        guard stored.remove(key) == nil, let partition = batch.partition else { return }
        ends[Batch(partition: partition, number: batch.batchNumber)]?.messages[key] = nil
    }

    private mutating func add(_ key: Key) {
        put.insert(key)
        stored.insert(key)
    }

    /// After a loss of power a message may be there again whose removal was not awaited. No such end was one that was asked for.
    mutating func rolledBack(to state: MemoryState, _ world: World) {
        ends = [:]
        endedTopics = []
        stored = []
        state.forEachMessage { stored.insert(Key($0.device, $0.sequence)) }
        state.forEachUpstream { stored.insert(Key($0.sender, $0.sequence)) }
        delivered.subtract(stored)
        for (key, step) in ended where stored.contains(key) {
            if step == .cancelled { fail("is there again", step, key, world) }
            ended[key] = nil
        }
    }

    // MARK: Steps

    /// Checks the steps that an event has recorded.
    mutating func check(_ step: CoreStep, _ world: World) {
        var committed: Ends?
        if case .partition(.committed(let outcome)) = step.event {
            committed = finish(outcome, step.partition)
        }
        var left = committed?.messages.filter { $1.endsByStore && put.contains($0) } ?? [:]
        for record in step.steps {
            if record.kind == .topic {
                check(topic: record, committed, step.partition, world)
            } else if record.sequence > 0 {
                left[Key(record)] = nil
                check(record, committed, step, world)
            }
        }
        let missing = left.filter { ended[$0.key] == nil }
        for (key, reason) in missing.sorted(by: { $0.key.sequence < $1.key.sequence }) {
            fail("is not recorded", TraceRecord.Step(reason), key, world)
        }
    }

    /// Returns what a batch has ended. `nil` if it has failed: what was acknowledged of it may be delivered again.
    private mutating func finish(_ outcome: CommitOutcome, _ partition: Int) -> Ends? {
        let found = ends.removeValue(forKey: Batch(partition: partition, number: outcome.batchNumber))
        guard outcome.hasFailed else { return found }
        delivered.subtract(stored)
        return nil
    }

    private mutating func check(
        _ record: HistoryStep, _ committed: Ends?, _ step: CoreStep, _ world: World
    ) {
        let key = Key(record)
        if let end = ended[key] { fail("follows \(end.rawValue)", record.step, key, world) }
        switch record.step {
        case .stored:
            if !put.contains(key) { fail("was not put", record.step, key, world) }
        case .sent:
            if !step.sends(record) { fail("was not sent", record.step, key, world) }
        case .delivered, .forwarded:
            if key.isOfDevice, record.step == .delivered, !acknowledged.contains(key) {
                fail("was not acknowledged", record.step, key, world)
            }
            if !delivered.insert(key).inserted { fail("is recorded twice", record.step, key, world) }
            world.reached(.deliveryRecorded)
        case .replaced, .expired, .discarded, .removed, .cancelled:
            // A now-or-never message is never on disk; the end of one of a device does not say so.
            guard record.detail != .nowOrNever, key.isOfDevice || put.contains(key) else { return }
            if stored.contains(key) { fail("is still there", record.step, key, world) }
            let reason: Milestone? = record.step == .cancelled ? .removed : Milestone(record.step)
            if committed?.messages[key] != reason { fail("is not on disk", record.step, key, world) }
            ended[key] = record.step
            world.reached(.endRecorded)
        default: break
        }
    }

    private mutating func check(
        topic record: HistoryStep, _ committed: Ends?, _ partition: Int, _ world: World
    ) {
        switch record.step {
        case .replaced, .expired, .discarded:
            let topic = TopicLogChecker.Copy(
                message: TopicMessageName(
                    sender: SenderID(record.sender), sequence: SequenceNumber(record.sequence)),
                partition: partition)
            let isOnDisk = committed?.topics.contains(topic) ?? false
            if putTopics.contains(topic), !isOnDisk {
                fail("is not on disk", record.step, Key(record), world)
            }
            if !endedTopics.insert(topic).inserted { fail("is there twice", record.step, Key(record), world) }
            world.reached(.topicEndRecorded)
        default: break
        }
    }

    private func fail(_ what: String, _ step: TraceRecord.Step, _ key: Key, _ world: World) {
        // What other planted faults do to the store, the checkers of the store must find.
        guard world.canary?.isOfHistory ?? true else { return }
        let place = "\(key.owner)/\(key.sequence)\(key.isOfDevice ? "" : " upstream")"
        world.fail("history", "\(step.rawValue) of \(place) \(what)")
    }
}

extension CoreStep {
    /// Whether a message was sent, to a connection or to the APNs gateway.
    fileprivate func sends(_ record: HistoryStep) -> Bool {
        func isMeant(_ owner: UInt64, _ sequence: SequenceNumber) -> Bool {
            owner == record.owner && sequence.number == record.sequence
        }
        return commands.contains { _, command in
            switch command {
            case .device(.deliver(let delivery)) where record.kind.isOfDevice:
                isMeant(delivery.message.device.number, delivery.message.sequence)
            case .appServer(.deliver(let message)) where !record.kind.isOfDevice:
                isMeant(message.sender.number, message.sequence)
            default: false
            }
        } || deliveries.contains { isMeant($0.message.device.number, $0.message.sequence) }
    }
}

extension WorldSettings.Canary {
    /// Whether the fault is in the history alone.
    fileprivate var isOfHistory: Bool { self == .recordsDecisions || self == .recordsUnacknowledged }
}

extension Milestone {
    /// Whether the store decides that a message has ended: its recipient does not have it.
    fileprivate var endsByStore: Bool {
        switch self {
        case .replaced, .expired, .discarded, .removed: true
        case .accepted, .stored, .sent, .delivered, .refused, .forwarded: false
        }
    }

    /// The milestone of a step. `nil` if it has none.
    fileprivate init?(_ step: TraceRecord.Step) {
        guard let found = Self.allCases.first(where: { TraceRecord.Step($0) == step }) else { return nil }
        self = found
    }
}
