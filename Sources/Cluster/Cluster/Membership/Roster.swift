public import Basics

/// The nodes that have been seen in a cluster, and those that operators have removed. It outlives the process: a node that is away
/// when this one starts still counts, and one that was removed stays so.
public struct Roster: Hashable, Sendable {
    /// A node.
    public struct Entry: Hashable, Sendable {
        /// Its number.
        public let node: NodeNumber
        /// How often it was removed or admitted again: an odd number if it is removed. Of two numbers the higher one is the newer.
        public internal(set) var changes: UInt64 = 0
        /// The versions of frames that it reads, by its last heartbeat. `nil` if it has sent none.
        public internal(set) var frameVersions: ClosedRange<UInt8>?

        /// Whether it is removed.
        public var isRemoved: Bool { changes % 2 == 1 }
    }

    /// The nodes by number.
    public private(set) var entries: [Entry] = []
    /// More changes than operators make.
    static let mostChanges: UInt64 = 1 << 32

    /// Creates a roster without nodes.
    public init() {}

    /// Whether a node is removed.
    public func isRemoved(_ node: NodeNumber) -> Bool { index(node).map { entries[$0].isRemoved } ?? false }

    /// Whether a node has been seen or removed.
    public func contains(_ node: NodeNumber) -> Bool { index(node) != nil }

    /// What operators have decided, for other nodes.
    var changes: [RosterChange] {
        entries.filter { $0.changes > 0 }.map { RosterChange(node: $0.node, count: $0.changes) }
    }

    /// Removes a node, or admits it again. Returns whether that is a change.
    mutating func set(_ node: NodeNumber, isRemoved: Bool) -> Bool {
        guard self.isRemoved(node) != isRemoved, let index = add(node) else { return false }
        entries[index].changes += 1
        return true
    }

    /// Takes over what operators have decided on another node. Returns whether that is newer.
    mutating func learn(_ change: RosterChange) -> Bool {
        guard change.count > (index(change.node).map { entries[$0].changes } ?? 0),
            let index = add(change.node)
        else { return false }
        entries[index].changes = change.count
        return true
    }

    /// Notes the versions of frames that a node reads. Returns whether that is a change.
    mutating func note(_ versions: ClosedRange<UInt8>, of node: NodeNumber) -> Bool {
        guard let index = add(node), entries[index].frameVersions != versions else { return false }
        entries[index].frameVersions = versions
        return true
    }

    private func index(_ node: NodeNumber) -> Int? { entries.firstIndex { $0.node == node } }

    /// Returns the index of a node, which is added if there is room.
    private mutating func add(_ node: NodeNumber) -> Int? {
        if let index = index(node) { return index }
        guard entries.count < Limits.Cluster.rosterNodes else { return nil }
        let index = entries.firstIndex { $0.node > node } ?? entries.count
        entries.insert(Entry(node: node), at: index)
        return index
    }
}

/// How often operators have removed a node or admitted it again: an odd number if it is removed.
public struct RosterChange: Hashable, Sendable {
    /// The node.
    public var node: NodeNumber
    /// The number of changes, at least 1.
    public var count: UInt64

    /// Creates a change.
    public init(node: NodeNumber, count: UInt64) {
        self.node = node
        self.count = count
    }
}

/// The roster in the store: a version, and for each node its number (2 bytes), changes (8), lowest and highest frame version (1 each,
/// 0 if it was never seen), little-endian.
extension Roster {
    private static let format: UInt8 = 1
    private static let entryBytes = 12

    /// The bytes for the store.
    public var encoded: [UInt8] {
        var bytes = [Self.format]
        for entry in entries {
            bytes += [UInt8(truncatingIfNeeded: entry.node.number), UInt8(entry.node.number >> 8)]
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: entry.changes >> UInt64(shift)))
            }
            bytes += [entry.frameVersions?.lowerBound ?? 0, entry.frameVersions?.upperBound ?? 0]
        }
        return bytes
    }

    /// Reads the bytes of a store. Returns `nil` if they are damaged.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.first == Self.format, (bytes.count - 1) % Self.entryBytes == 0,
            (bytes.count - 1) / Self.entryBytes <= Limits.Cluster.rosterNodes
        else { return nil }
        for at in stride(from: 1, to: bytes.count, by: Self.entryBytes) {
            var entry = Entry(node: NodeNumber(UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8))
            entry.changes = bytes.raw.word(at: at + 2)
            let (lowest, highest) = (bytes[at + 10], bytes[at + 11])
            guard entry.node.number > 0, entry.node > entries.last?.node ?? NodeNumber(0),
                entry.changes <= Self.mostChanges, lowest <= highest, lowest > 0 || highest == 0
            else { return nil }
            if lowest > 0 { entry.frameVersions = lowest...highest }
            entries.append(entry)
        }
    }
}
