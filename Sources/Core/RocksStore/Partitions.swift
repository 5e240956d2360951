import Basics
import Delivery
import Store

/// The keys of rows that a partition searches start with its number, two bytes, so that it reads its own rows only.
extension Key {
    /// Returns the start of all rows of a partition.
    static func partition(_ partition: Int) -> Key {
        var key = Key()
        key.append(UInt8(truncatingIfNeeded: partition >> 8))
        key.append(UInt8(truncatingIfNeeded: partition))
        return key
    }

    /// Returns the key of an entry in the expiry index of a partition. Times before 1970 come first.
    static func expiry(_ end: ExpiryKey, of partition: Int) -> Key {
        var key = expiries(of: partition, from: end.time)
        key.append(end.kind.rawValue)
        key.append(end.owner)
        key.append(end.sequence)
        return key
    }

    /// Returns the start of the entries of a partition that expire at a time or later.
    static func expiries(of partition: Int, from time: UnixMilliseconds) -> Key {
        var key = Key.partition(partition)
        key.append(UInt64(bitPattern: time) ^ (1 << 63))
        return key
    }
}

extension ExpiryKey {
    /// Length of the key: partition, time, kind, owner, sequence.
    private static let keyBytes = 27

    /// Reads a key of the column family `expiry`. Returns `nil` if it is invalid.
    init?(key: borrowing RawSpan) {
        guard key.byteCount == Self.keyBytes, let kind = Kind(rawValue: key.byte(at: 10)) else { return nil }
        self.init(
            time: Int64(bitPattern: key.bigEndian(at: 2) ^ (1 << 63)), kind: kind,
            owner: key.bigEndian(at: 11), sequence: key.bigEndian(at: 19))
    }
}

extension RawSpan {
    /// The partition at the start of a key. `nil` if the key is too short.
    var partition: Int? { byteCount < 2 ? nil : Int(byte(at: 0)) << 8 | Int(byte(at: 1)) }
}

/// The earliest expiry time of each partition.
struct EarliestExpiries: Sendable {
    /// The times by partition. `.max` if there is none.
    private var ends: [UnixMilliseconds]
    /// The partitions that have a time.
    private var partitions: [Int] = []

    /// Creates the times of `count` partitions, all unset.
    init(partitions count: Int) { ends = Array(repeating: .max, count: count) }

    /// The earliest time of a partition. `.max` if there is none.
    subscript(partition: Int) -> UnixMilliseconds { ends[partition] }

    /// Adds a time of a partition.
    mutating func add(_ end: UnixMilliseconds, of partition: Int) {
        if ends[partition] == .max { partitions.append(partition) }
        ends[partition] = min(ends[partition], end)
    }

    /// Adds the times of another value.
    mutating func add(_ other: EarliestExpiries) {
        for partition in other.partitions { add(other.ends[partition], of: partition) }
    }

    /// Removes the time of a partition.
    mutating func remove(_ partition: Int) {
        guard ends[partition] != .max else { return }
        ends[partition] = .max
        partitions.removeAll { $0 == partition }
    }

    /// Removes all times.
    mutating func removeAll() {
        for partition in partitions { ends[partition] = .max }
        partitions.removeAll(keepingCapacity: true)
    }

    /// Visits each partition that has a time.
    func forEach(_ body: (Int, UnixMilliseconds) -> Void) {
        for partition in partitions { body(partition, ends[partition]) }
    }
}

/// A set of partitions in the order in which they were added.
struct TouchedPartitions: Sendable {
    private(set) var list: [Int] = []
    private var isListed: [Bool] = []

    /// Adds a partition. Returns `false` if it is in the set.
    @discardableResult mutating func insert(_ partition: Int) -> Bool {
        while isListed.count <= partition { isListed.append(false) }
        guard !isListed[partition] else { return false }
        isListed[partition] = true
        list.append(partition)
        return true
    }

    /// Removes all partitions.
    mutating func removeAll() {
        for partition in list { isListed[partition] = false }
        list.removeAll(keepingCapacity: true)
    }
}
