import Basics
import Delivery
import Store

/// The expected topic messages of a store with the usual number of partitions, implemented as simply as possible.
struct NaiveTopics {
    /// Something of a partition.
    struct Place<Item: Hashable>: Hashable {
        var partition: Int
        var item: Item
    }

    /// A subscription without its time.
    struct Listed: Hashable {
        var device: DeviceID
        var number: RegistrationNumber
        var sender: SenderID
        var topic: TopicName
    }

    /// Shared pairs and when they expire.
    struct Body {
        var shared: SharedBody
        var endsAt: UnixMilliseconds
    }

    var messages: [TopicMessageName: TopicMessage] = [:]
    var entries: [Place<SequenceNumber>: TopicEntry] = [:]
    var marks: [Place<Int>: SequenceNumber] = [:]
    var bodies: [Place<SharedBodyName>: Body] = [:]
    var positions: [DeviceID: SequenceNumber] = [:]
    var listed: Set<Listed> = []

    private static func partition(_ key: PartitionKey) -> Int { key.partition(of: Limits.Partition.count) }

    /// Applies a mutation and returns the event. Returns `nil` for a mutation of something else.
    mutating func apply(_ mutation: Mutation) -> StoreEvent? {
        switch mutation {
        case .putTopicMessage(let message):
            messages[message.name] = message
            put(message.shared, Self.partition(.sender(message.name.sender)), message.bodyEndsAt)
            return .topicMessagePut
        case .removeTopicMessage(let name):
            return messages.removeValue(forKey: name) == nil ? .rowMissing : .topicMessageRemoved
        case .putTopicEntry(let entry, let partition):
            entries[Place(partition: partition, item: entry.sequence)] = entry
            if entry.kind == .message { put(entry.message.shared, partition, entry.message.bodyEndsAt) }
            return .entryPut
        case .putTopicProgress(let sequence, let progress, let partition):
            let place = Place(partition: partition, item: sequence)
            guard entries[place] != nil else { return .progressMissing }
            entries[place]?.progress = progress
            return .progressPut
        case .removeTopicEntry(let sequence, let partition):
            let gone = entries.removeValue(forKey: Place(partition: partition, item: sequence))
            return gone == nil ? .rowMissing : .entryRemoved
        case .putTopicMark(let mark, let partition):
            marks[Place(partition: partition, item: mark.source)] = mark.through
            return .topicMarkPut
        case .putSharedBody(let shared, let partition, let end):
            put(shared, partition, end)
            return .bodyPut
        case .removeSharedBody(let name, let partition, _):
            let gone = bodies.removeValue(forKey: Place(partition: partition, item: name))
            return gone == nil ? .rowMissing : .bodyRemoved
        case .putTopicPosition(let device, let place):
            positions[device] = place
            return .positionPut
        case .listForGateway(let subscription):
            listed.insert(Listed(subscription))
            return .listed
        case .unlistForGateway(let subscription):
            return listed.remove(Listed(subscription)) == nil ? .rowMissing : .unlisted
        default: return nil
        }
    }

    private mutating func put(_ shared: SharedBody, _ partition: Int, _ end: UnixMilliseconds) {
        bodies[Place(partition: partition, item: shared.reference.name)] = Body(shared: shared, endsAt: end)
    }

    /// Returns a message as it is read.
    func joined(_ message: StoredMessage) -> StoredMessage {
        guard let name = message.shared?.name else { return message }
        let place = Place(partition: Self.partition(.device(message.device)), item: name)
        return bodies[place] == nil ? Self.bare(message) : message
    }

    /// Returns a message without the pairs that it shares.
    static func bare(_ message: StoredMessage) -> StoredMessage {
        guard let name = message.shared?.name else { return message }
        var bare = message
        bare.shared = SharedReference(withoutBodyOf: name)
        bare.body = []
        bare.apns = message.apns.map { _ in [] }
        return bare
    }

    /// Returns the pairs that expire by a time.
    func ends(by time: UnixMilliseconds) -> [ExpiredEntry] {
        bodies.filter { $0.value.endsAt <= time }.map {
            .sharedBody($0.key.item, partition: $0.key.partition, expiresAt: $0.value.endsAt)
        }
    }

    /// Returns the first difference from a store, with the devices that have iOS apps. Returns `nil` if there is none.
    func difference(from store: any Store, apps: Set<DeviceID>) throws -> String? {
        for partition in 0..<store.partitions {
            let own = messages.values.filter { Self.partition(.sender($0.name.sender)) == partition }
            if try store.topicMessages(of: partition) != own.sorted(by: { $0.name < $1.name }) {
                return "topic messages of \(partition)"
            }
            let log = entries.filter { $0.key.partition == partition }.values.map { entry in
                var read = entry
                read.message.body = []
                read.message.apns = entry.message.apns.map { _ in [] }
                return read
            }
            let through = marks.filter { $0.key.partition == partition }.map {
                TopicMark(source: $0.key.item, through: $0.value)
            }
            let found = try store.topicLog(of: partition)
            if found.entries != log.sorted(by: { $0.sequence < $1.sequence }) { return "log of \(partition)" }
            if found.marks != through.sorted(by: { $0.source < $1.source }) { return "marks of \(partition)" }
            for sender in Samples.topicSenders {
                for topic in Samples.topics {
                    let devices = listed.filter {
                        $0.sender == sender && $0.topic == topic
                            && Self.partition(.device($0.device)) == partition
                    }.map(\.device)
                    if try store.topicDevices(sender.number, topic, of: partition) != Set(devices).sorted() {
                        return "devices of \(topic)"
                    }
                }
            }
            let own42 = apps.filter { Self.partition(.device($0)) == partition }.sorted()
            if try store.topicDevices(42, nil, of: partition) != own42 { return "devices of \(partition)" }
        }
        return nil
    }
}

extension NaiveTopics.Listed {
    fileprivate init(_ subscription: Subscription) {
        self.init(
            device: subscription.name.device, number: subscription.name.number, sender: subscription.sender,
            topic: subscription.topic)
    }
}
