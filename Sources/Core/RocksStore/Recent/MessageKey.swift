import Basics
import Delivery
import Store

/// The key of a stored message: direction, owner and sequence.
struct MessageKey: Hashable, CustomStringConvertible {
    var kind: ExpiryKey.Kind
    var owner: UInt64
    var sequence: UInt64

    /// Hashes sequence and owner as one number, at a third of the cost. Clients can choose neither.
    ///
    /// The owner spreads the sequences of different partitions, which all follow the clock and are often equal.
    func hash(into hasher: inout Hasher) { hasher.combine(sequence ^ (owner &* 0x9e37_79b9_7f4a_7c15)) }

    /// The result of a lookup.
    enum Presence {
        case absent
        case present(MessageRecord.Header)
        case unreadable
    }

    /// The name in errors and logs, such as `pending/17/1700000000000000`.
    var description: String { "\(family.name)/\(owner)/\(sequence)" }

    /// Returns the partition, of `count` in the store, that has the message.
    func partition(of count: Int) -> Int { PartitionKey.partition(ofNumber: owner, of: count) }

    /// The column family of the message.
    var family: Family { kind == .message ? .pending : .upstream }

    /// Returns the fields of a record that a removal needs.
    func header(_ record: borrowing RawSpan) throws(RecordFault) -> MessageRecord.Header {
        kind == .message
            ? try MessageRecord.header(record, device: DeviceID(owner), sequence: SequenceNumber(sequence))
            : try UpstreamRecord.header(record, sender: SenderID(owner), sequence: SequenceNumber(sequence))
    }
}

extension MessageKey {
    /// Creates the key of a downstream message.
    init(_ device: DeviceID, _ sequence: SequenceNumber) {
        self.init(kind: .message, owner: device.number, sequence: sequence.number)
    }

    /// Creates the key of an upstream message.
    init(_ sender: SenderID, _ sequence: SequenceNumber) {
        self.init(kind: .upstream, owner: sender.number, sequence: sequence.number)
    }

    /// Creates the key of the message in an expiry entry.
    init(_ end: ExpiryKey) { self.init(kind: end.kind, owner: end.owner, sequence: end.sequence) }
}

extension ExpiryKey {
    /// Creates the expiry entry of a message.
    init(_ messageKey: MessageKey, end: UnixMilliseconds) {
        self.init(time: end, kind: messageKey.kind, owner: messageKey.owner, sequence: messageKey.sequence)
    }
}

/// The identity of an upstream message whose repeats are suppressed: a device and a 128-bit hash against collisions.
struct SeenKey: Hashable {
    var device: UInt64
    var high: UInt64
    var low: UInt64

    /// Creates the identity of a message with a persistent ID.
    ///
    /// The hash of each field is keyed with the hash of the fields before it, so that different fields cannot concatenate to the
    /// same input. An app that makes two of its own messages collide loses one of them. Device and app keep others unaffected.
    init(_ message: StoredUpstream) {
        var key = SipHash(key: (0x6363_7364, 0x7365_656e)).hash128(message.category.raw)
        key = SipHash(key: (key.0 ^ message.sender.number, key.1)).hash128(message.persistentID.raw)
        key = SipHash(key: key).hash128(message.messageID.raw)
        (high, low) = SipHash(key: key).hash128(message.body.raw)
        device = message.from.device.number
    }

    /// Hashes half of the hash. A device can choose it with effort only, and then collides with its own messages only.
    func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// The key of its row in the engine.
    var key: Key {
        var key = Key(device, high)
        key.append(low)
        return key
    }
}
