import Basics
import Delivery

/// What the planted faults of topic messages have to remember.
struct TopicCanaries {
    /// The last message that was passed on, by the partition of its sender and that which gets it.
    fileprivate var passedOn: [[Int]: SequenceNumber] = [:]
    /// The newest entry that each partition is adding to its log, and those past which devices are taken.
    fileprivate var adding: [Int: (batch: UInt64, place: SequenceNumber)] = [:]
    fileprivate var passedOver: [Int: SequenceNumber] = [:]

    /// Records that a partition is adding entries to its log.
    mutating func submitted(_ batch: WriteBatch, _ partition: Int) {
        for case .putTopicEntry(let entry, _) in batch.mutations {
            adding[partition] = (batch.batchNumber, entry.sequence)
        }
    }

    /// Records that a batch is on disk, or has failed.
    mutating func committed(_ batch: UInt64, _ partition: Int) {
        guard adding[partition]?.batch == batch else { return }
        adding[partition] = nil
        passedOver[partition] = nil
    }
}

extension Canaries {
    /// Returns the event for a partition in place of one of another partition.
    mutating func alter(_ partition: Int, _ event: TopicLogEvent, _ world: World) -> TopicLogEvent? {
        switch (world.canary, event) {
        case (nil, _): return event
        case (.reversesTopics, .published(let messages, let source)):
            return .published(messages.reversed(), from: source)
        case (.countsLostCopies, .copied(let copier, nil)):
            return .copied(by: copier, through: topics.passedOn[[partition, copier]])
        case (.dropsTopicsNow, .nowOrNever): return nil
        case (.passesOverTopics, .nowOrNever):
            topics.passedOver[partition] = topics.adding[partition]?.place
            return event
        case (_, .nowOrNever(let message)): return .nowOrNever(altered(message, world))
        case (_, .published(let messages, let source)):
            topics.passedOn[[source, partition]] = messages.last?.name.sequence
            return .published(messages.map { altered($0, world) }, from: source)
        default: return event
        }
    }

    /// Returns after which time a now-or-never message reaches a partition once more.
    func repeatsAfter(_ world: World) -> Int64? {
        switch world.canary {
        case .repeatsTopicsNow where world.chance(1, in: 2): world.random(0...1_000_000_000)
        case .delaysTopicsNow where world.chance(2, in: 3): world.random(0...3_000_000_000)
        default: nil
        }
    }

    private func altered(_ given: TopicMessage, _ world: World) -> TopicMessage {
        var message = given
        switch world.canary {
        case .widensConditions where given.target.isCondition:
            message.target = TopicTarget(given.target.topics[0])
        case .invertsConditions where given.target.isCondition:
            message.target =
                TopicTarget(topics: given.target.topics, truth: ~given.target.truth) ?? given.target
        case .shortensTopics where given.isStored: message.expiresAt = given.acceptedAt + 1
        case .prolongsTopics where given.isStored: message.expiresAt += 86_400_000
        case .losesTopicKeys: message.collapseKey = nil
        default: break
        }
        return message
    }

    /// Returns the answer for the core in place of the store's.
    func alterTopics(_ loaded: StoreResult, _ world: World) -> StoreResult {
        switch (world.canary, loaded) {
        case (.forgetsTopicMessages, .topicMessages): return .topicMessages([], isLast: true)
        case (_, .topicEntries(let entries, let marks, let isLast)):
            return alterLog(entries, marks, isLast, world)
        case (.forgetsTopicPosition, .device(var state)):
            state.topicPosition = SequenceNumber(0)
            return .device(state)
        case (.passesOverTopics, .device(var state)):
            let partition = PartitionKey.device(state.device).partition(of: world.settings.partitions)
            if let place = topics.passedOver[partition] {
                state.topicPosition = max(state.topicPosition, place)
            }
            return .device(state)
        case (.leavesOutAppleApp, .topicDevices(let devices, let next)):
            return .topicDevices(devices.dropLast(), next: next)
        case (.endsAppleSearch, .topicDevices(let devices, _)): return .topicDevices(devices, next: nil)
        case (.losesBodies, .messages(let device, let page, let isLast)):
            return .messages(device, page.map(withoutBody), isLast: isLast)
        default: return loaded
        }
    }

    private func alterLog(
        _ entries: [TopicEntry], _ marks: [TopicMark], _ isLast: Bool, _ world: World
    ) -> StoreResult {
        switch world.canary {
        case .forgetsTopicLog: return .topicEntries([], marks: marks, isLast: true)
        case .forgetsTopicMarks: return .topicEntries(entries, marks: [], isLast: isLast)
        case .advancesTopicMarks:
            let advanced = marks.map {
                TopicMark(source: $0.source, through: SequenceNumber($0.through.number + 300_000_000))
            }
            return .topicEntries(entries, marks: advanced, isLast: isLast)
        case .reversesTopicLog:
            let reversed = zip(entries, entries.reversed()).map { place, entry in
                TopicEntry(sequence: place.sequence, kind: entry.kind, message: entry.message)
            }
            return .topicEntries(reversed, marks: marks, isLast: isLast)
        case .forgetsTopicDiscards:
            return .topicEntries(entries.filter { $0.kind == .message }, marks: marks, isLast: true)
        default: return .topicEntries(entries, marks: marks, isLast: isLast)
        }
    }

    private func withoutBody(_ given: StoredMessage) -> StoredMessage {
        guard let shared = given.shared else { return given }
        var message = given
        message.shared = SharedReference(withoutBodyOf: shared.name)
        message.body = []
        return message
    }
}
