public import Basics
public import Delivery

/// Encodes and decodes topic messages without their pairs: the message, its entry in the log of a partition, and what has become of that.
///
/// They are records of their own because message and entry are removed early, the progress changes often, and the pairs stay long.
public enum TopicRecord {
    private static let version: UInt8 = 1

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let collapses = Flags(rawValue: 1)
        static let high = Flags(rawValue: 2)
        static let wantsReceipt = Flags(rawValue: 4)
        static let delays = Flags(rawValue: 8)
        static let restricted = Flags(rawValue: 16)
        static let condition = Flags(rawValue: 32)
        /// The pairs have a part for APNs alone.
        static let apns = Flags(rawValue: 64)
        static let all: Flags = [
            .collapses, .high, .wantsReceipt, .delays, .restricted, .condition, .apns,
        ]
    }

    /// Replaces the content of a buffer with the record of a message, without its pairs.
    public static func write(_ message: TopicMessage, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(.topicMessage, message.name))
        write(message, &writer)
        buffer = writer.finish()
    }

    /// Returns the message in a record, without its pairs. Throws `RecordFault` if it cannot be read.
    public static func message(
        _ bytes: borrowing RawSpan, _ name: TopicMessageName
    ) throws(RecordFault) -> TopicMessage {
        var reader = try RecordReader(copy bytes, version: version, place: place(.topicMessage, name))
        let message = try message(&reader, name)
        try reader.finish()
        return message
    }

    /// Replaces the content of a buffer with the record of an entry, without pairs and progress.
    public static func write(_ entry: TopicEntry, of partition: Int, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(
            buffer, version: version, place: place(.topicEntry, entry.sequence, partition))
        switch entry.kind {
        case .message: writer.byte(0)
        case .discarded(let count, let last):
            writer.byte(1)
            writer.number(UInt64(count))
            writer.number(last.number)
        }
        writer.number(entry.message.name.sender.number)
        writer.number(entry.message.name.sequence.number)
        write(entry.message, &writer)
        buffer = writer.finish()
    }

    /// Returns the entry in a record, without pairs and progress. Throws `RecordFault` if it cannot be read.
    public static func entry(
        _ bytes: borrowing RawSpan, _ sequence: SequenceNumber, of partition: Int
    ) throws(RecordFault) -> TopicEntry {
        var reader = try RecordReader(
            copy bytes, version: version, place: place(.topicEntry, sequence, partition))
        let isDiscarded = try RegistryRecord.flag(&reader)
        let kind: TopicEntry.Kind =
            isDiscarded
            ? .discarded(count: try reader.count(), through: SequenceNumber(try reader.number())) : .message
        let sender = SenderID(try reader.number())
        let name = TopicMessageName(sender: sender, sequence: SequenceNumber(try reader.number()))
        let message = try message(&reader, name)
        try reader.finish()
        return TopicEntry(sequence: sequence, kind: kind, message: message)
    }

    /// Replaces the content of a buffer with the record of what has become of an entry.
    public static func write(
        _ progress: TopicProgress, at sequence: SequenceNumber, of partition: Int, to buffer: inout ByteBuffer
    ) {
        var writer = RecordWriter(
            buffer, version: version, place: place(.topicProgress, sequence, partition))
        writer.number(progress.reached)
        writer.byte(progress.isOffered ? 1 : 0)
        buffer = writer.finish()
    }

    /// Returns what has become of an entry. Throws `RecordFault` if it cannot be read.
    public static func progress(
        _ bytes: borrowing RawSpan, _ sequence: SequenceNumber, of partition: Int
    ) throws(RecordFault) -> TopicProgress {
        var reader = try RecordReader(
            copy bytes, version: version, place: place(.topicProgress, sequence, partition))
        let progress = TopicProgress(
            reached: try reader.number(), isOffered: try RegistryRecord.flag(&reader))
        try reader.finish()
        return progress
    }

    private static func write(_ message: TopicMessage, _ writer: inout RecordWriter) {
        var flags: Flags = []
        if message.collapseKey != nil { flags.insert(.collapses) }
        if message.priority == .high { flags.insert(.high) }
        if message.wantsReceipt { flags.insert(.wantsReceipt) }
        if message.delaysWhileIdle { flags.insert(.delays) }
        if message.restrictedPackage != nil { flags.insert(.restricted) }
        if message.target.isCondition { flags.insert(.condition) }
        if message.apns != nil { flags.insert(.apns) }
        writer.byte(flags.rawValue)
        writer.number(UInt64(message.salt))
        writer.signed(message.acceptedAt)
        writer.signed(message.expiresAt)
        writer.bytes(message.messageID)
        if let key = message.collapseKey { writer.bytes(key) }
        if let package = message.restrictedPackage { writer.bytes(package) }
        if message.target.isCondition { writer.number(UInt64(message.target.truth)) }
        writer.number(UInt64(message.target.topics.count))
        for topic in message.target.topics { writer.bytes(topic.bytes) }
    }

    private static func message(
        _ reader: inout RecordReader, _ name: TopicMessageName
    ) throws(RecordFault) -> TopicMessage {
        let flags = Flags(rawValue: try reader.byte())
        guard Flags.all.isSuperset(of: flags) else { throw .value }
        guard let salt = UInt32(exactly: try reader.number()) else { throw .value }
        let acceptedAt = try reader.signed()
        let expiresAt = try reader.signed()
        let messageID = try reader.byteArray()
        let collapseKey = flags.contains(.collapses) ? try reader.byteArray() : nil
        let restricted = flags.contains(.restricted) ? try reader.byteArray() : nil
        let truth = flags.contains(.condition) ? UInt32(exactly: try reader.number()) : 0
        let count = try reader.count()
        guard let truth, (1...Limits.Topic.conditionTests).contains(count) else { throw .value }
        var topics: [TopicName] = []
        for _ in 0..<count {
            guard let topic = TopicName(try reader.byteArray()) else { throw .value }
            topics.append(topic)
        }
        let target: TopicTarget?
        if flags.contains(.condition) {
            target = TopicTarget(topics: topics, truth: truth)
        } else {
            target = topics.count == 1 ? TopicTarget(topics[0]) : nil
        }
        guard let target else { throw .value }
        return TopicMessage(
            name: name, salt: salt, target: target, messageID: messageID, collapseKey: collapseKey,
            priority: flags.contains(.high) ? .high : .normal,
            wantsReceipt: flags.contains(.wantsReceipt), delaysWhileIdle: flags.contains(.delays),
            restrictedPackage: restricted, acceptedAt: acceptedAt, expiresAt: expiresAt, body: [],
            apns: flags.contains(.apns) ? [] : nil)
    }

    private static func place(_ kind: RecordIdentity.Kind, _ name: TopicMessageName) -> RecordIdentity {
        RecordIdentity(kind, name.sender.number, name.sequence.number)
    }

    private static func place(
        _ kind: RecordIdentity.Kind, _ sequence: SequenceNumber, _ partition: Int
    ) -> RecordIdentity {
        RecordIdentity(kind, UInt64(partition), sequence.number)
    }
}
