import Basics
import Store

/// The column families, by lifetime: what dies young is not kept with what lives for years.
enum Family: Int, CaseIterable {
    /// Format, tally and settings; the engine demands a family of this name.
    case meta
    /// device, sequence → message or marker.
    case pending
    /// sender, sequence → upstream message or receipt.
    case upstream
    /// device, kind, number → device or registration.
    case registry
    /// sender → account.
    case senders
    /// device, hash of category and persistent id → when it was put.
    case seen
    /// end, kind, owner, sequence → nothing.
    case expiry
    /// sender, kind, number or label → device group or its number.
    case groups

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
        }
    }
}

/// A key: big-endian numbers, so that the order of bytes is the order of numbers.
struct Key {
    /// The longest one is that of `expiry`.
    private var octets = InlineArray<32, UInt8>(repeating: 0)
    private(set) var count = 0

    /// An empty key: before all others.
    init() {}

    mutating func append(_ number: UInt64) {
        for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func append(_ octet: UInt8) {
        octets[count] = octet
        count += 1
    }

    /// Its octets.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        get { unsafe octets.span.bytes.extracting(0..<count) }
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

    /// A place in the order of ends; times before 1970 come first.
    static func expiry(_ end: ExpiryKey) -> Key {
        var key = Key(UInt64(bitPattern: end.time) ^ (1 << 63))
        key.append(end.kind.rawValue)
        key.append(end.owner)
        key.append(end.sequence)
        return key
    }

    /// An upstream message that may be repeated; the hash is wide enough that two never meet by chance.
    static func seen(_ device: DeviceID, _ category: [UInt8], _ persistentID: [UInt8]) -> Key {
        let inner = SipHash(key: (0x6363_7364, 0x7365_656e)).hash(category.raw)
        let hash = SipHash(key: (inner, UInt64(category.count))).hash128(persistentID.raw)
        var key = Key(device.number)
        key.append(hash.0)
        key.append(hash.1)
        return key
    }
}

/// What stands in the registry under a device.
enum RegistryKind: UInt8 {
    case device = 0
    case registration = 1
}

/// Keys of the family `meta`.
enum MetaKey {
    static let format = [UInt8]("format".utf8)
    static let tally = [UInt8]("tally".utf8)
    static func setting(_ name: String) -> [UInt8] { [UInt8]("setting/\(name)".utf8) }
    /// The format that this version writes, and the newest that it reads.
    static let formatNow = 1
}

extension RawSpan {
    /// A big-endian number at an offset; traps where fewer than eight bytes are left.
    func bigEndian(at offset: Int) -> UInt64 { word(at: offset).byteSwapped }
}

extension ExpiryKey {
    /// Reads a key of the family `expiry`; nil if it is none.
    init?(key: borrowing RawSpan) {
        guard key.byteCount == 25, let kind = Kind(rawValue: key.byte(at: 8)) else { return nil }
        self.init(
            time: Int64(bitPattern: key.bigEndian(at: 0) ^ (1 << 63)), kind: kind,
            owner: key.bigEndian(at: 9), sequence: key.bigEndian(at: 17))
    }
}
