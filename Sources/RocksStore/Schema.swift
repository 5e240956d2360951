import Basics
import Delivery
import Store

/// The column families, by lifetime: what dies young is not kept with what lives for years.
enum Family: Int, CaseIterable {
    /// Format, tally and settings; the engine demands a family of this name.
    case meta
    /// device, sequence → message or marker.
    case pending
    /// sender, sequence → upstream message or receipt.
    case upstream
    /// device, kind, number → device or registration; device, kind, number, sender, topic → subscription.
    case registry
    /// sender → account.
    case senders
    /// device, hash of category and persistent id → when it was put.
    case seen
    /// partition, end, kind, owner, sequence → nothing.
    case expiry
    /// sender, kind, number or label → device group or its number.
    case groups
    /// sender, topic, NUL, device, number → nothing: who subscribes to what, in the order in which a topic is gone through.
    case topics
    /// installation → its record; installation, device, number → nothing.
    case installations
    /// partition, kind, sender, sequence → message to topics, how far it has come, the body of its messages; with device and number
    /// a mark.
    case fanouts
    /// partition, kind, device or installation → when it was last used.
    case contacts

    /// Whether it holds what stays until somebody removes it, so that it has a bound on its size: the registry.
    var isRegistry: Bool {
        switch self {
        case .registry, .topics, .installations, .groups, .senders, .contacts: true
        case .meta, .pending, .upstream, .seen, .expiry, .fanouts: false
        }
    }

    /// Its name on disk, part of the format.
    var name: StaticString {
        switch self {
        case .meta: "default"
        case .pending: "pending"
        case .upstream: "upstream"
        case .registry: "registry"
        case .senders: "senders"
        case .seen: "seen"
        case .expiry: "expiry"
        case .groups: "groups"
        case .topics: "topics"
        case .installations: "installations"
        case .fanouts: "fanouts"
        case .contacts: "contacts"
        }
    }
}

/// A key: big-endian numbers, so that the order of bytes is the order of numbers.
struct Key {
    /// The longest one is that of `installations`; what holds a topic's name is no `Key`.
    private var storage = InlineArray<40, UInt8>(repeating: 0)
    private(set) var count = 0

    /// An empty key: before all others.
    init() {}

    mutating func append(_ number: UInt64) {
        for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func append(_ byte: UInt8) {
        storage[count] = byte
        count += 1
    }

    /// Its bytes.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        get { unsafe storage.span.bytes.extracting(0..<count) }
    }
}

extension Key {
    /// One or two numbers: device or sender, and sequence.
    init(_ owner: UInt64, _ sequence: UInt64? = nil) {
        append(owner)
        if let sequence { append(sequence) }
    }

    /// A device's record.
    static func device(_ device: DeviceID) -> Key {
        var key = Key(device.number)
        key.append(RegistryKind.device.rawValue)
        return key
    }

    /// A registration.
    static func registration(_ name: RegistrationName) -> Key {
        var key = Key(name.device.number)
        key.append(RegistryKind.registration.rawValue)
        key.append(name.number.number)
        return key
    }

    /// A registration of an installation, whose id has 22 bytes; without a name what comes before all of them.
    static func installation(_ installation: [UInt8], _ name: RegistrationName?) -> Key {
        var key = Key()
        for byte in installation.prefix(InstallationToken.idLength) { key.append(byte) }
        if let name {
            key.append(name.device.number)
            key.append(name.number.number)
        }
        return key
    }
}

/// What stands in the registry under a device.
enum RegistryKind: UInt8 {
    case device = 0
    case registration = 1
    case subscription = 2
}

/// Keys that hold the name of a topic. No topic has a NUL in it, so none is the begin of another one with its NUL.
enum TopicKey {
    /// A subscription under its device.
    static func subscription(_ subscription: Subscription) -> [UInt8] {
        var key = bigEndian(subscription.name.device.number) + [RegistryKind.subscription.rawValue]
        key += bigEndian(subscription.name.number.number) + bigEndian(subscription.sender.number)
        return key + subscription.topic.bytes
    }

    /// The begin of all subscribers of a topic.
    static func topic(_ sender: SenderID, _ topic: TopicName) -> [UInt8] {
        bigEndian(sender.number) + topic.bytes + [0]
    }

    /// What a subscriber's key says of the topic; nil for what is none.
    static func topic(of key: borrowing RawSpan) -> (SenderID, TopicName)? {
        let end = key.byteCount - 17
        guard end > 8, key.byte(at: end) == 0,
            let topic = TopicName([UInt8](copying: key.extracting(8..<end)))
        else { return nil }
        return (SenderID(key.bigEndian(at: 0)), topic)
    }

    /// Behind all keys: no name of a topic begins with this byte.
    static let end = [UInt8](repeating: 0xFF, count: 9)

    /// The first key that may stand at a place.
    static func start(_ place: TopicPlace) -> [UInt8] {
        guard let topic = place.topic else { return bigEndian(place.sender.number) }
        guard let after = place.after else { return self.topic(place.sender, topic) }
        return subscriber(place.sender, topic, after) + [0]
    }

    /// One of them.
    static func subscriber(
        _ sender: SenderID, _ topic: TopicName, _ name: RegistrationName
    ) -> [UInt8] {
        self.topic(sender, topic) + bigEndian(name.device.number) + bigEndian(name.number.number)
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        stride(from: 56 as UInt64, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// Keys of the family `meta`.
enum MetaKey {
    static let format = [UInt8]("format".utf8)
    /// The number of partitions.
    static let partitions = [UInt8]("partitions".utf8)
    /// What a partition has counted.
    static func tally(_ partition: Int) -> [UInt8] { [UInt8]("tally/\(partition)".utf8) }
    /// The partition whose tally stands under a key; `nil` if none does.
    static func partition(ofTally key: [UInt8]) -> Int? {
        let head = [UInt8]("tally/".utf8)
        guard key.starts(with: head) else { return nil }
        return UInt16(String(decoding: key.dropFirst(head.count), as: UTF8.self)).map { Int($0) }
    }
    /// The last commit that the engine has, with all before it: the journal goes on from there.
    static let settled = [UInt8]("settled".utf8)
    /// The highest sequence that was ever put into the engine: at places behind it nothing stands there.
    static let highest = [UInt8]("highest".utf8)
    static func setting(_ name: String) -> [UInt8] { [UInt8]("setting/\(name)".utf8) }
    /// The format that this version writes, and the only one that it reads.
    static let formatNow = 3

    /// The number in `settled` or `highest`.
    static func number(in value: borrowing RawSpan) throws(StoreError) -> UInt64 {
        guard value.byteCount == 8 else { throw StoreError(.corrupt, "meta: a number of the wrong length") }
        return value.bigEndian(at: 0)
    }
}

extension RawSpan {
    /// A big-endian number at an offset; traps where fewer than eight bytes are left.
    func bigEndian(at offset: Int) -> UInt64 { word(at: offset).byteSwapped }
}
