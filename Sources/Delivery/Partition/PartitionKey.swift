public import Basics

/// What belongs to exactly one partition.
public enum PartitionKey: Hashable, Sendable {
    case device(DeviceID)
    /// A sender with its groups and topics.
    case sender(SenderID)
    /// A Firebase installation, by its ID.
    case installation([UInt8])

    /// The partition of up to `count` that owns it: the same on every run.
    public func partition(of count: Int) -> Int {
        let number: UInt64
        switch self {
        case .device(let device): number = device.number
        case .sender(let sender): number = ~sender.number
        case .installation(let id): number = id.reduce(0) { $0 &* 31 &+ UInt64($1) }
        }
        var mixed = number &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 32
        return Int(truncatingIfNeeded: mixed % UInt64(count))
    }
}
