import Basics

/// The assignment of partitions to reactors: partition p belongs to reactor `p * reactors / partitions`, so that each reactor has a
/// range of them.
///
/// With more reactors than partitions some reactors own no partition and only serve connections.
public struct PartitionMap: Sendable {
    /// The number of partitions of the store.
    public let partitions: Int
    /// The number of reactors.
    public let reactors: Int
    private let owners: [Int]

    /// Assigns the partitions to the reactors.
    public init(partitions: Int, reactors: Int) {
        precondition(
            (1...Limits.Partition.maximumCount).contains(partitions) && reactors > 0,
            "invalid number of partitions or reactors")
        self.partitions = partitions
        self.reactors = reactors
        owners = (0..<partitions).map { $0 * reactors / partitions }
    }

    /// Returns the reactor that owns a partition.
    public func reactor(of partition: Int) -> Int { owners[partition] }

    /// Returns the partitions of a reactor; may be empty.
    public func partitions(of reactor: Int) -> Range<Int> {
        let first = owners.firstIndex { $0 >= reactor } ?? partitions
        return first..<(owners[first...].firstIndex { $0 > reactor } ?? partitions)
    }
}
