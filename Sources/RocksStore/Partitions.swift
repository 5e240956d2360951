import Basics
import Delivery
import Store

/// Rows that belong to a partition as a whole start with its number, two bytes, so that each partition reads its own rows only.
extension Key {
    /// The start of all rows of a partition.
    static func partition(_ partition: Int) -> Key {
        var key = Key()
        key.append(UInt8(truncatingIfNeeded: partition >> 8))
        key.append(UInt8(truncatingIfNeeded: partition))
        return key
    }

    /// A place in the order of ends of its partition, in a store with so many; times before 1970 come first.
    static func expiry(_ end: ExpiryKey, among partitions: Int) -> Key {
        var key = expiries(of: end.key.partition(of: partitions), from: end.time)
        key.append(end.kind.rawValue)
        key.append(end.owner)
        key.append(end.sequence)
        return key
    }

    /// The start of a partition's ends at a time or later.
    static func expiries(of partition: Int, from time: UnixMilliseconds) -> Key {
        var key = Key.partition(partition)
        key.append(UInt64(bitPattern: time) ^ (1 << 63))
        return key
    }
}

extension ExpiryKey {
    /// The bytes of its row's key: partition, time, kind, owner, sequence.
    private static let keyBytes = 27

    /// Reads a key of the family `expiry`; `nil` if it is none.
    init?(key: borrowing RawSpan) {
        guard key.byteCount == Self.keyBytes, let kind = Kind(rawValue: key.byte(at: 10)) else { return nil }
        self.init(
            time: Int64(bitPattern: key.bigEndian(at: 2) ^ (1 << 63)), kind: kind,
            owner: key.bigEndian(at: 11), sequence: key.bigEndian(at: 19))
    }
}

extension RawSpan {
    /// The partition that a row belongs to; `nil` if the key is too short for one.
    var partition: Int? { byteCount < 2 ? nil : Int(byte(at: 0)) << 8 | Int(byte(at: 1)) }
}

/// For each partition the earliest of some ends.
struct EarliestEnds: Sendable {
    /// By partition; `.max` for those without any.
    private var ends: [UnixMilliseconds]
    /// The partitions that have one.
    private var partitions: [Int] = []

    /// None.
    init(partitions count: Int) { ends = Array(repeating: .max, count: count) }

    /// The earliest one of a partition; `.max` if there is none.
    subscript(partition: Int) -> UnixMilliseconds { ends[partition] }

    /// Adds an end of a partition.
    mutating func add(_ end: UnixMilliseconds, of partition: Int) {
        if ends[partition] == .max { partitions.append(partition) }
        ends[partition] = min(ends[partition], end)
    }

    /// Adds others.
    mutating func add(_ other: EarliestEnds) {
        for partition in other.partitions { add(other.ends[partition], of: partition) }
    }

    /// Forgets those of a partition.
    mutating func remove(_ partition: Int) {
        guard ends[partition] != .max else { return }
        ends[partition] = .max
        partitions.removeAll { $0 == partition }
    }

    /// Forgets all.
    mutating func removeAll() {
        for partition in partitions { ends[partition] = .max }
        partitions.removeAll(keepingCapacity: true)
    }

    /// Visits each partition that has one.
    func forEach(_ body: (Int, UnixMilliseconds) -> Void) {
        for partition in partitions { body(partition, ends[partition]) }
    }
}

/// Some partitions, each once.
struct TouchedPartitions: Sendable {
    private(set) var list: [Int] = []
    private var isListed: [Bool] = []

    /// Adds one, unless it is there. Returns whether it was added.
    @discardableResult mutating func insert(_ partition: Int) -> Bool {
        while isListed.count <= partition { isListed.append(false) }
        guard !isListed[partition] else { return false }
        isListed[partition] = true
        list.append(partition)
        return true
    }

    /// Forgets all.
    mutating func removeAll() {
        for partition in list { isListed[partition] = false }
        list.removeAll(keepingCapacity: true)
    }
}
