public import Basics

/// The unit of ownership: everything under a key belongs to exactly one partition.
public enum PartitionKey: Hashable, Sendable {
    case device(DeviceID)
    /// A sender with its groups and topics.
    case sender(SenderID)
    /// A Firebase installation, by its ID.
    case installation([UInt8])
    /// What a partition has as a whole, by its number: its log of topic messages, and those it copies to others.
    case partition(Int)

    /// The slot that the key hashes to, from 0 to 4,095.
    ///
    /// The function is part of the store format and never changes. A device or sender is hashed by its number, an installation by
    /// the 64-bit FNV-1a of its ID. The finalizer of SplitMix64 mixes that number; the slot is the highest 12 bits of the result.
    /// `nil` for a whole partition.
    public var slot: Int? {
        switch self {
        case .device(let device): Self.slot(of: device.number)
        case .sender(let sender): Self.slot(of: sender.number)
        case .installation(let id): Self.slot(of: Self.fnv1a(id))
        case .partition: nil
        }
    }

    /// Returns the partition, of `count` in the store, that owns the key. Each partition has a range of slots.
    public func partition(of count: Int) -> Int {
        if case .partition(let number) = self { return number }
        return (slot ?? 0) * count / Limits.Partition.slots
    }

    /// Returns the partition, of `count` in the store, that owns the device or the sender of a number.
    public static func partition(ofNumber number: UInt64, of count: Int) -> Int {
        slot(of: number) * count / Limits.Partition.slots
    }

    private static func slot(of number: UInt64) -> Int {
        let bits = UInt64(Limits.Partition.slots.trailingZeroBitCount)
        return Int(truncatingIfNeeded: mixed(number) >> (64 - bits))
    }

    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    private static func fnv1a(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
