import Basics
import Delivery
import Store

/// Where a message is: of a device, or of a sender.
struct Place: Hashable {
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

    /// The family of the engine that it belongs to.
    var family: Family { kind == .message ? .pending : .upstream }

    /// What a removal must know of the record that stands there.
    func header(_ record: borrowing RawSpan) throws(RecordFault) -> MessageRecord.Header {
        kind == .message
            ? try MessageRecord.header(record, device: DeviceID(owner), sequence: Sequence(sequence))
            : try UpstreamRecord.header(record, sender: SenderID(owner), sequence: Sequence(sequence))
    }
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

    init(_ device: DeviceID, _ category: [UInt8], _ persistentID: [UInt8]) {
        let inner = SipHash(key: (0x6363_7364, 0x7365_656e)).hash(category.raw)
        (high, low) = SipHash(key: (inner, UInt64(category.count))).hash128(persistentID.raw)
        self.device = device.number
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
