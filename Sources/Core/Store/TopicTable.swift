import Basics
public import Delivery

/// The topic messages of one partition in memory: those of its senders, its log, and the subscriptions of its iOS apps.
struct TopicTable: Sendable {
    private struct Listed: Hashable {
        var sender: SenderID
        var topic: TopicName
        var name: RegistrationName

        init(_ subscription: Subscription) {
            sender = subscription.sender
            topic = subscription.topic
            name = subscription.name
        }
    }

    /// Messages that not all partitions have.
    var messages: [TopicMessageName: TopicMessage] = [:]
    private var entries: [SequenceNumber: TopicEntry] = [:]
    private var sources: [Int: SequenceNumber] = [:]
    private var listed: Set<Listed> = []
    private(set) var bodies: [SharedBodyName: SharedBody] = [:]

    /// The marks, by source.
    var marks: [TopicMark] {
        sources.sorted { $0.key < $1.key }.map { TopicMark(source: $0.key, through: $0.value) }
    }

    /// Puts an entry without its pairs.
    mutating func put(_ entry: TopicEntry) {
        var stored = entry
        stored.message.body = []
        stored.message.apns = entry.message.apns.map { _ in [] }
        entries[entry.sequence] = stored
    }

    mutating func put(_ progress: TopicProgress, at sequence: SequenceNumber) {
        entries[sequence]?.progress = progress
    }

    mutating func put(_ mark: TopicMark) { sources[mark.source] = mark.through }

    mutating func removeEntry(at sequence: SequenceNumber) { entries[sequence] = nil }

    /// Puts shared pairs. Returns whether they were not there.
    mutating func put(_ shared: SharedBody) -> Bool {
        bodies.updateValue(shared, forKey: shared.reference.name) == nil
    }

    mutating func removeBody(_ name: SharedBodyName) { bodies[name] = nil }

    mutating func list(_ subscription: Subscription) { listed.insert(Listed(subscription)) }

    mutating func unlist(_ subscription: Subscription) { listed.remove(Listed(subscription)) }

    /// Returns up to `limit` messages after one, by name, and whether no others follow.
    func messages(after: TopicMessageName?, limit: Int) -> ([TopicMessage], Bool) {
        let found = messages.values.filter { message in after.map { message.name > $0 } ?? true }
        return (Array(found.sorted { $0.name < $1.name }.prefix(limit)), found.count <= limit)
    }

    /// Returns up to `limit` entries after a place, and whether no others follow.
    func entries(after: SequenceNumber, limit: Int) -> ([TopicEntry], Bool) {
        let found = entries.values.filter { $0.sequence > after }
        return (Array(found.sorted { $0.sequence < $1.sequence }.prefix(limit)), found.count <= limit)
    }

    /// Returns the devices that are listed for a topic.
    func devices(_ sender: SenderID, _ topic: TopicName) -> Set<DeviceID> {
        Set(listed.lazy.filter { $0.sender == sender && $0.topic == topic }.map(\.name.device))
    }
}

extension MemoryState {
    /// The names of the shared pairs that a partition has.
    public func sharedBodies(_ partition: Int) -> Set<SharedBodyName> { Set(topics[partition].bodies.keys) }
}

extension StoredMessage {
    /// The message as its record has it: it names the pairs that it shares.
    var recorded: StoredMessage {
        guard let shared else { return self }
        var message = self
        message.shared = SharedReference(withoutBodyOf: shared.name)
        message.fields = MessageFields(
            messageID: messageID, collapseKey: collapseKey, body: [], apns: apns.map { _ in [] })
        return message
    }
}
