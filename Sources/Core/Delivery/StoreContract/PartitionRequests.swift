/// A batch of one partition for the store.
public struct PartitionBatch: Sendable {
    public var partition: Int
    public var batch: WriteBatch

    /// Creates a batch of a partition.
    public init(partition: Int, _ batch: WriteBatch) {
        self.partition = partition
        self.batch = batch
    }
}

/// A query of one partition to the store.
public struct PartitionQuery: Sendable {
    public var partition: Int
    public var query: StoreQuery

    /// Creates a query of a partition.
    public init(partition: Int, _ query: StoreQuery) {
        self.partition = partition
        self.query = query
    }
}

/// A report of the store to one partition: the outcome of a batch, or the result of a query.
public struct StoreReport: Sendable {
    public var partition: Int
    /// `committed` or `loaded`.
    public var event: Event

    /// Creates a report to a partition.
    public init(partition: Int, _ event: Event) {
        self.partition = partition
        self.event = event
    }
}
