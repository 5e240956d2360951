import Basics
import Delivery
import Store

/// The column families. Rows with short and long lifetimes are in different ones.
enum Family: Int, CaseIterable {
    /// Format, tallies and settings. The engine requires a column family of this name.
    case meta
    /// device, sequence → message or marker.
    case pending
    /// sender, sequence → upstream message or receipt.
    case upstream
    /// device, kind, number → device or registration; device, kind, number, sender, topic → subscription; device, kind → place in
    /// the log of topic messages.
    case registry
    /// sender → account.
    case senders
    /// device, hash of category and persistent ID → time of the put.
    case seen
    /// partition, expiry time, kind, owner, sequence → empty.
    case expiry
    /// sender, kind, number or label → device group, or its number.
    case groups
    /// sender, topic, NUL, device, number → empty: the subscribers of each topic.
    case topics
    /// installation → its record; installation, device, number → empty.
    case installations
    /// partition, kind, … → what a partition has of topic messages (`TopicRow`).
    case fanouts
    /// partition, kind, device or installation → time of the last use.
    case contacts

    /// Whether it belongs to the registry, whose rows stay until they are removed, and whose size is limited.
    var isRegistry: Bool {
        switch self {
        case .registry, .topics, .installations, .groups, .senders, .contacts: true
        case .meta, .pending, .upstream, .seen, .expiry, .fanouts: false
        }
    }

    /// The name on disk, part of the format.
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

/// A key of big-endian numbers, so that the order of the bytes is the order of the numbers.
struct Key {
    /// The longest key is that of `installations`. Keys with the name of a topic are in `TopicKey`.
    private var storage = InlineArray<40, UInt8>(repeating: 0)
    private(set) var count = 0

    /// Creates an empty key, which is before all others.
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

    /// The bytes of the key.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        get { unsafe storage.span.bytes.extracting(0..<count) }
    }
}

extension Key {
    /// Creates a key from an owner, and a sequence.
    init(_ owner: UInt64, _ sequence: UInt64? = nil) {
        append(owner)
        if let sequence { append(sequence) }
    }

    /// Returns the key of a device's record.
    static func device(_ device: DeviceID) -> Key {
        var key = Key(device.number)
        key.append(RegistryKind.device.rawValue)
        return key
    }

    /// Returns the key of a registration.
    static func registration(_ name: RegistrationName) -> Key {
        var key = Key(name.device.number)
        key.append(RegistryKind.registration.rawValue)
        key.append(name.number.number)
        return key
    }

    /// Returns the key of the place of a device in the log of topic messages.
    static func position(_ device: DeviceID) -> Key {
        var key = Key(device.number)
        key.append(RegistryKind.position.rawValue)
        return key
    }

    /// Returns the key of a registration of an installation. Without a name it is the key of the installation, before all of them.
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

/// The rows of a device in the registry.
enum RegistryKind: UInt8 {
    case device = 0
    case registration = 1
    case subscription = 2
    case position = 3
}

/// Keys with the name of a topic. Names contain no NUL, so that no name with its NUL is a prefix of another one.
enum TopicKey {
    /// Returns the key of a subscription under its device.
    static func subscription(_ subscription: Subscription) -> [UInt8] {
        var key = bigEndian(subscription.name.device.number) + [RegistryKind.subscription.rawValue]
        key += bigEndian(subscription.name.number.number) + bigEndian(subscription.sender.number)
        return key + subscription.topic.bytes
    }

    /// Returns the start of all subscribers of a topic.
    static func topic(_ sender: SenderID, _ topic: TopicName) -> [UInt8] {
        bigEndian(sender.number) + topic.bytes + [0]
    }

    /// Returns sender and topic in the key of a subscriber. Returns `nil` if the key is invalid.
    static func topic(of key: borrowing RawSpan) -> (SenderID, TopicName)? {
        let end = key.byteCount - 17
        guard end > 8, key.byte(at: end) == 0,
            let topic = TopicName([UInt8](copying: key.extracting(8..<end)))
        else { return nil }
        return (SenderID(key.bigEndian(at: 0)), topic)
    }

    /// The end of all keys: no name of a topic starts with this byte.
    static let end = [UInt8](repeating: 0xFF, count: 9)

    /// Returns the first possible key at a position.
    static func start(_ position: SubscriberPosition) -> [UInt8] {
        guard let topic = position.topic else { return bigEndian(position.sender.number) }
        guard let after = position.after else { return self.topic(position.sender, topic) }
        return subscriber(position.sender, topic, after) + [0]
    }

    /// Returns the key of a subscriber of a topic.
    static func subscriber(
        _ sender: SenderID, _ topic: TopicName, _ name: RegistrationName
    ) -> [UInt8] {
        self.topic(sender, topic) + bigEndian(name.device.number) + bigEndian(name.number.number)
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        stride(from: 56 as UInt64, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The keys of the column family `meta`.
enum MetaKey {
    static let format = [UInt8]("format".utf8)
    /// The key of the number of partitions.
    static let partitions = [UInt8]("partitions".utf8)
    /// Returns the key of the tally of a partition.
    static func tally(_ partition: Int) -> [UInt8] { [UInt8]("tally/\(partition)".utf8) }
    /// Returns the partition whose tally has a key. Returns `nil` for any other key.
    static func partition(ofTally key: [UInt8]) -> Int? {
        let head = [UInt8]("tally/".utf8)
        guard key.starts(with: head) else { return nil }
        return UInt16(String(decoding: key.dropFirst(head.count), as: UTF8.self)).map { Int($0) }
    }
    /// The applied commit: the engine has this one and all before it. The replay of the journal starts after it.
    static let applied = [UInt8]("settled".utf8)
    /// The highest sequence that was ever put into the engine.
    static let highest = [UInt8]("highest".utf8)
    static func setting(_ name: String) -> [UInt8] { [UInt8]("setting/\(name)".utf8) }
    /// The format that this version reads and writes.
    static let formatNow = 5

    /// The number in `applied` or `highest`.
    static func number(in value: borrowing RawSpan) throws(StoreError) -> UInt64 {
        guard value.byteCount == 8 else {
            throw StoreError(.corrupt, "invalid number in meta: \(value.byteCount) bytes, expected 8")
        }
        return value.bigEndian(at: 0)
    }
}

extension RawSpan {
    /// Returns the big-endian number at an offset. Traps if fewer than eight bytes are left.
    func bigEndian(at offset: Int) -> UInt64 { word(at: offset).byteSwapped }
}
