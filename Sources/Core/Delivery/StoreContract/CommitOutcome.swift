public import Basics

/// The place of a message in the mailbox of a device or sender.
public struct MailboxPlace: Hashable, Sendable {
    public var owner: PartitionKey
    public var sequence: SequenceNumber

    public init(_ owner: PartitionKey, _ sequence: SequenceNumber) {
        self.owner = owner
        self.sequence = sequence
    }
}

/// The outcome of a batch.
public struct CommitOutcome: Sendable, Equatable {
    /// The batch number.
    public var batchNumber: UInt64
    /// Sequence numbers of upstream messages that were not put as duplicates.
    public var duplicates: [(SenderID, SequenceNumber)]
    /// The removed messages that the store did not have: they had ended before, as when a search that found them was answered late.
    public var absent: [MailboxPlace] = []
    /// Whether the batch failed: its effect on the store is then unknown, and none of it may be acknowledged.
    public var hasFailed: Bool
    /// The failures of the partition's batches up to this one: all later batches fail, too, but for those that are made with this count.
    /// `nil` if it is on disk, or if it fails alone: it was refused because of an earlier one, or is in the log of a cluster, and no node
    /// can write it.
    public var failures: UInt64?
    /// The downstream messages that the batch added and ended, as the store has counted them for its audit: one that it already had,
    /// or no longer has, is not counted.
    public var downstream = MilestoneCounts()
    /// The same for upstream messages.
    public var upstream = MilestoneCounts()

    public init(
        batchNumber: UInt64, duplicates: [(SenderID, SequenceNumber)] = [], hasFailed: Bool = false,
        failures: UInt64? = nil
    ) {
        self.batchNumber = batchNumber
        self.duplicates = duplicates
        self.hasFailed = hasFailed
        self.failures = failures
    }

    /// The outcome of a batch that is not written, since it was made before its partition had seen a failure, or has no partition.
    public static func failed(_ batchNumber: UInt64) -> CommitOutcome {
        CommitOutcome(batchNumber: batchNumber, hasFailed: true)
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.batchNumber == b.batchNumber && a.hasFailed == b.hasFailed && a.failures == b.failures
            && a.downstream == b.downstream && a.upstream == b.upstream && a.absent == b.absent
            && a.duplicates.elementsEqual(b.duplicates) { $0.0 == $1.0 && $0.1 == $1.1 }
    }
}
