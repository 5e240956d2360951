import Basics
import Delivery
import Store

/// Where a message is: of a device, or of a sender.
struct Place: Hashable, CustomStringConvertible {
    var kind: ExpiryKey.Kind
    var owner: UInt64
    var sequence: UInt64

    /// Sequences hardly ever meet, and no stranger chooses them: they alone tell places apart well enough, at a third of the cost.
    func hash(into hasher: inout Hasher) { hasher.combine(sequence) }

    /// What stands there.
    enum Presence {
        case absent
        case present(MessageRecord.Header)
        case unreadable
    }

    /// The name in errors and logs, such as `pending/17/1700000000000000`.
    var description: String { "\(family.name)/\(owner)/\(sequence)" }

    /// Whose it is.
    var key: PartitionKey { kind == .message ? .device(DeviceID(owner)) : .sender(SenderID(owner)) }

    /// The family of the engine that it belongs to.
    var family: Family { kind == .message ? .pending : .upstream }

    /// What a removal must know of the record that stands there.
    func header(_ record: borrowing RawSpan) throws(RecordFault) -> MessageRecord.Header {
        kind == .message
            ? try MessageRecord.header(record, device: DeviceID(owner), sequence: SequenceNumber(sequence))
            : try UpstreamRecord.header(record, sender: SenderID(owner), sequence: SequenceNumber(sequence))
    }
}

extension Place {
    /// The place of what ends.
    init(_ end: ExpiryKey) { self.init(kind: end.kind, owner: end.owner, sequence: end.sequence) }
}

extension ExpiryKey {
    /// The end of what stands at a place.
    init(_ place: Place, end: UnixMilliseconds) {
        self.init(time: end, kind: place.kind, owner: place.owner, sequence: place.sequence)
    }
}

/// An upstream message that may be repeated, by a hash that is wide enough that two never meet by chance.
struct SeenKey: Hashable {
    var device: UInt64
    var high: UInt64
    var low: UInt64

    /// The key of a message to which its device gave a persistent ID.
    ///
    /// Each field is hashed under the hash of those before, so that no two lists of fields run together. An app that makes the
    /// hashes of two of its own messages meet loses one of those; the device and the app keep it from all others.
    init(_ message: StoredUpstream) {
        var key = SipHash(key: (0x6363_7364, 0x7365_656e)).hash128(message.category.raw)
        key = SipHash(key: (key.0 ^ message.sender.number, key.1)).hash128(message.persistentID.raw)
        key = SipHash(key: key).hash128(message.messageID.raw)
        (high, low) = SipHash(key: key).hash128(message.body.raw)
        device = message.from.device.number
    }

    /// The half of a good hash is as good; devices cannot choose it without effort, and then meet only their own.
    func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// Its row in the engine.
    var key: Key {
        var key = Key(device, high)
        key.append(low)
        return key
    }
}
