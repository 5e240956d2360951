public import Delivery

/// A batch of one partition, on its way to the store.
public struct PartitionBatch: Sendable {
    /// Whose it is.
    public var partition: Int
    /// The changes.
    public var batch: WriteBatch

    /// A batch of a partition.
    public init(partition: Int, _ batch: WriteBatch) {
        self.partition = partition
        self.batch = batch
    }
}

/// A question of one partition to the store.
public struct PartitionLoad: Sendable {
    /// Whose it is.
    public var partition: Int
    /// The question.
    public var load: Load

    /// A question of a partition.
    public init(partition: Int, _ load: Load) {
        self.partition = partition
        self.load = load
    }
}

/// What the store reports to one partition: the outcome of a batch, or the answer to a question.
public struct StoreReport: Sendable {
    /// For whom it is.
    public var partition: Int
    /// `committed` or `loaded`.
    public var event: Event

    /// A report to a partition.
    public init(partition: Int, _ event: Event) {
        self.partition = partition
        self.event = event
    }
}

/// Takes the store's reports to the reactors: each gets those of its partitions in one parcel.
struct StoreReports: Sendable {
    let map: PartitionMap
    let mailboxes: [ReactorMailbox]

    /// Hands them over, in order for each partition.
    func post(_ reports: [StoreReport]) {
        guard mailboxes.count > 1 else {
            mailboxes.first?.post(Parcel(reports: reports))
            return
        }
        var parcels = [Parcel](repeating: Parcel(), count: mailboxes.count)
        for report in reports { parcels[map.reactor(of: report.partition)].reports.append(report) }
        for (mailbox, parcel) in zip(mailboxes, parcels) where !parcel.isEmpty { mailbox.post(parcel) }
    }
}
