import Basics
import Delivery
import Store

/// The rows of the column family `fanouts`. The key starts with partition and kind, so that the rows of one kind of a partition are
/// adjacent.
enum TopicRow: UInt8 {
    /// sender, sequence → topic message of a sender of the partition, until all partitions have it.
    case message = 0
    /// sequence → entry of the log of the partition.
    case entry = 1
    /// sequence → what has become of the entry. Without this row nothing has.
    case progress = 2
    /// source → sequence of the newest message that the source has passed on.
    case mark = 3
    /// sender, sequence → pairs of a topic message.
    case body = 4
    /// sender, topic, NUL, device, number → empty: a subscription of an iOS app.
    case gateway = 5
    /// sender, sequence → pairs of a request to many.
    case requestBody = 6
}

extension Key {
    /// Returns the start of the rows of one kind in a partition.
    static func topics(_ row: TopicRow, of partition: Int) -> Key {
        var key = Key.partition(partition)
        key.append(row.rawValue)
        return key
    }

    /// Returns the first key after them.
    static func topicsEnd(_ row: TopicRow, of partition: Int) -> Key {
        var key = Key.partition(partition)
        key.append(row.rawValue + 1)
        return key
    }

    /// Returns the key of a row of a topic message in a partition.
    static func topic(_ row: TopicRow, _ name: TopicMessageName, of partition: Int) -> Key {
        var key = topics(row, of: partition)
        key.append(name.sender.number)
        key.append(name.sequence.number)
        return key
    }

    /// Returns the key of shared pairs in a partition.
    static func sharedBody(_ name: SharedBodyName, of partition: Int) -> Key {
        let row: TopicRow =
            switch name {
            case .topic: .body
            case .request: .requestBody
            }
        return topic(row, TopicMessageName(sender: name.sender, sequence: name.sequence), of: partition)
    }

    /// Returns the key of a row of an entry in the log of a partition.
    static func topic(_ row: TopicRow, _ sequence: SequenceNumber, of partition: Int) -> Key {
        var key = topics(row, of: partition)
        key.append(sequence.number)
        return key
    }

    /// Returns the key of the mark of a source in a partition.
    static func topicMark(of source: Int, in partition: Int) -> Key {
        var key = topics(.mark, of: partition)
        for byte in [source >> 8, source] { key.append(UInt8(truncatingIfNeeded: byte)) }
        return key
    }
}

extension TopicKey {
    /// Returns the start of all subscriptions of iOS apps to a topic in a partition.
    static func gateway(_ sender: SenderID, _ topic: TopicName, of partition: Int) -> [UInt8] {
        [UInt8](copying: Key.topics(.gateway, of: partition).bytes) + self.topic(sender, topic)
    }

    /// Returns the key of a subscription of an iOS app.
    static func gateway(_ subscription: Subscription, of partition: Int) -> [UInt8] {
        let subscriber = subscriber(subscription.sender, subscription.topic, subscription.name)
        return [UInt8](copying: Key.topics(.gateway, of: partition).bytes) + subscriber
    }
}

extension TopicMessageName {
    /// Reads the key of a message or of its pairs. Returns `nil` for any other key.
    init?(key: borrowing RawSpan) {
        guard key.byteCount == 19 else { return nil }
        self.init(sender: SenderID(key.bigEndian(at: 3)), sequence: SequenceNumber(key.bigEndian(at: 11)))
    }
}

extension SequenceNumber {
    /// Reads the key of an entry or of what has become of it. Returns `nil` for any other key.
    init?(key: borrowing RawSpan) {
        guard key.byteCount == 11 else { return nil }
        self.init(key.bigEndian(at: 3))
    }
}

extension TopicMark {
    /// Reads a row. Returns `nil` if it is not a mark.
    init?(_ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        guard key.byteCount == 5, value.byteCount == 8 else { return nil }
        self.init(
            source: Int(key.byte(at: 3)) << 8 | Int(key.byte(at: 4)),
            through: SequenceNumber(value.bigEndian(at: 0)))
    }
}

extension RegistrationName {
    /// Reads the two numbers at an offset of a key.
    init(key: borrowing RawSpan, at offset: Int) {
        self.init(
            device: DeviceID(key.bigEndian(at: offset)),
            number: RegistrationNumber(key.bigEndian(at: offset + 8)))
    }
}

extension Commit {
    /// Puts a message, its pairs, and the expiry entry of these.
    mutating func put(_ message: TopicMessage) throws(StoreError) {
        try message.demandStorable()
        let partition = partition(of: .sender(message.name.sender))
        TopicRecord.write(message, to: &buffer)
        putRecord(.fanouts, Key.topic(.message, message.name, of: partition).bytes)
        try put(message.shared, partition, message.bodyEndsAt)
    }

    /// Removes a message. Its pairs stay.
    mutating func remove(_ name: TopicMessageName) {
        delete(.fanouts, Key.topic(.message, name, of: partition(of: .sender(name.sender))).bytes)
    }

    /// Puts an entry of a log, its pairs, and the expiry entry of these.
    mutating func put(_ entry: TopicEntry, _ partition: Int) throws(StoreError) {
        try entry.demandStorable()
        TopicRecord.write(entry, of: partition, to: &buffer)
        putRecord(.fanouts, Key.topic(.entry, entry.sequence, of: partition).bytes)
        // What another entry at the same place has left.
        delete(.fanouts, Key.topic(.progress, entry.sequence, of: partition).bytes)
        if entry.kind == .message { try put(entry.message.shared, partition, entry.message.bodyEndsAt) }
    }

    /// Records what has become of an entry.
    mutating func put(_ progress: TopicProgress, at sequence: SequenceNumber, _ partition: Int) {
        TopicRecord.write(progress, at: sequence, of: partition, to: &buffer)
        putRecord(.fanouts, Key.topic(.progress, sequence, of: partition).bytes)
    }

    /// Removes an entry and what has become of it. Its pairs stay.
    mutating func removeEntry(at sequence: SequenceNumber, _ partition: Int) {
        delete(.fanouts, Key.topic(.entry, sequence, of: partition).bytes)
        delete(.fanouts, Key.topic(.progress, sequence, of: partition).bytes)
    }

    mutating func put(_ mark: TopicMark, _ partition: Int) {
        put(
            .fanouts, Key.topicMark(of: mark.source, in: partition).bytes, Key(mark.through.number).bytes)
    }

    /// Puts shared pairs and their expiry entry.
    mutating func put(_ shared: SharedBody, _ partition: Int, _ end: UnixMilliseconds) throws(StoreError) {
        try shared.demandStorable()
        SharedBodyRecord.write(shared, to: &buffer)
        putRecord(.fanouts, Key.sharedBody(shared.reference.name, of: partition).bytes)
        putExpiry(ExpiryKey(bodyOf: shared.reference.name, endsAt: end), of: partition)
    }

    /// Removes shared pairs and their expiry entry.
    mutating func removeBody(_ name: SharedBodyName, _ partition: Int, _ time: UnixMilliseconds) {
        delete(.fanouts, Key.sharedBody(name, of: partition).bytes)
        deleteExpiry(ExpiryKey(bodyOf: name, endsAt: time), of: partition)
    }

    /// Lists a subscription of an iOS app.
    mutating func list(_ subscription: Subscription) {
        put(.fanouts, gatewayKey(subscription).raw, Key().bytes)
    }

    /// Removes it from the list.
    mutating func unlist(_ subscription: Subscription) { delete(.fanouts, gatewayKey(subscription).raw) }

    private func gatewayKey(_ subscription: Subscription) -> [UInt8] {
        TopicKey.gateway(subscription, of: partition(of: .device(subscription.name.device)))
    }
}
