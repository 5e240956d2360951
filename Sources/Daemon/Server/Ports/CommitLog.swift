public import Delivery

/// Where the batches of partitions are written down before anyone is notified: the journal of the store, or the replicated logs of
/// a cluster.
///
/// - Batches of one partition are made durable in the order of submission, several at a time; each gets one outcome, and those that
///   are written get it in that order.
/// - When the outcome is reported, the batch is durable if it asked for that, and queries see it.
/// - A batch that cannot be written has the outcome `hasFailed`, which may come before those of earlier batches: it may or may not
///   count. All later ones of its partition fail as well, up to the first that the partition has made after this outcome (`BatchOrder`).
/// - A log that is closed reports what it has taken, and fails further batches at once.
public protocol CommitLog: Sendable {
    /// Submits batches of this node's partitions; each outcome is reported to its partition. If too many writes are waiting, the
    /// batches fail at once.
    func submit(_ batches: [PartitionBatch])
    /// Submits a batch of the control plane, whose mutations belong to one partition; `completed` is called on another thread.
    func submit(_ batch: WriteBatch, completed: @escaping @Sendable (CommitOutcome) -> Void)
}

extension CommitLog {
    /// Writes changes durably and waits for the outcome. Returns `nil` after the deadline. For the control plane only.
    func commitAndWait(_ mutations: [Mutation]) -> CommitOutcome? {
        let latch = Latch<CommitOutcome>()
        submit(WriteBatch(batchNumber: 0, mutations: mutations, isDurable: true)) { latch.fulfil($0) }
        return latch.wait()
    }
}
