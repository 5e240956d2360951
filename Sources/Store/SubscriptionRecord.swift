public import Basics
public import Delivery

/// How a subscription is kept under its device. Its key holds it all but the time; the name is repeated, so that a record
/// under another key is found.
public enum SubscriptionRecord {
    private static let version: UInt8 = 1

    /// Replaces a buffer's content by the record of a subscription.
    public static func write(_ subscription: Subscription, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(subscription.name))
        writer.signed(subscription.since)
        writer.number(subscription.sender.number)
        writer.bytes(subscription.topic.bytes)
        buffer = writer.finish()
    }

    /// The subscription in a record.
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

    private static func place(_ name: RegistrationName) -> RecordPlace {
        RecordPlace(.subscription, name.device.number, name.number.number)
    }
}
