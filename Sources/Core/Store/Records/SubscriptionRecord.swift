public import Basics
public import Delivery

/// Encodes and decodes subscriptions under their devices. The key holds everything but the time. Sender and topic are repeated in
/// the record, so that a record under a wrong key is detected.
public enum SubscriptionRecord {
    private static let version: UInt8 = 1

    /// Replaces the content of a buffer with the record of a subscription.
    public static func write(_ subscription: Subscription, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(subscription.name))
        writer.signed(subscription.since)
        writer.number(subscription.sender.number)
        writer.bytes(subscription.topic.bytes)
        buffer = writer.finish()
    }

    /// Returns the subscription in a record. Throws `RecordFault` if it cannot be read.
    public static func subscription(
        _ bytes: borrowing RawSpan, _ name: RegistrationName, _ sender: SenderID, _ topic: TopicName
    ) throws(RecordFault) -> Subscription {
        var reader = try RecordReader(copy bytes, version: version, place: place(name))
        let since = try reader.signed()
        guard try reader.number() == sender.number, try reader.byteArray() == topic.bytes else {
            throw .value
        }
        try reader.finish()
        return Subscription(name: name, sender: sender, topic: topic, since: since)
    }

    private static func place(_ name: RegistrationName) -> RecordIdentity {
        RecordIdentity(.subscription, name.device.number, name.number.number)
    }
}
