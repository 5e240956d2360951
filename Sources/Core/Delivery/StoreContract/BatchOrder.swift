/// Which batches of a partition are written. What a partition writes relies on its earlier batches, so after one has failed, only those
/// count that it has made since it has seen that: those before were made as if it were on disk.
///
/// So the batches on disk are, at any moment, those that the partition has decided, in order, up to the first failure that it has not
/// seen; of the failed one it is unknown. Whatever writes the batches of partitions has one value for each of them, which begins with
/// the partition, compares each batch with it, and asks it for the outcome of each that fails.
public struct BatchOrder: Sendable {
    /// How many batches have failed by themselves.
    public private(set) var failures: UInt64 = 0

    /// Creates the order of a partition that has submitted nothing.
    public init() {}

    /// Returns whether a batch may be written. Otherwise its outcome is `CommitOutcome.failed`.
    public func allows(_ batch: borrowing WriteBatch) -> Bool { batch.failuresSeen == failures }

    /// Has a batch fail that may be written, and all later ones that do not follow its outcome, which this returns. What is between them
    /// and the disk is to be removed.
    public mutating func fail(_ batchNumber: UInt64) -> CommitOutcome {
        failures += 1
        return CommitOutcome(batchNumber: batchNumber, hasFailed: true, failures: failures)
    }
}
