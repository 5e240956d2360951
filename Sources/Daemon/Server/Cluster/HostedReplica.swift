import Basics
import Cluster
import ClusterLog
import Delivery
import NATSClient

/// A replica with the batches that have no outcome yet.
final class HostedReplica {
    /// Who gets the outcome of a batch.
    enum Listener {
        /// The partition of the replica.
        case partition
        /// Who has asked for a change of the control plane.
        case change(ChangeOrigin)
    }

    /// A batch that was submitted.
    struct Submission {
        var batch: WriteBatch
        var listener: Listener
    }

    let partition: Int
    var replica: Replica
    /// The lease by which the reactors serve it.
    var lease: PartitionLease?
    /// The order of the partition's batches, also beyond an ownership: what the partition of an earlier one has submitted late is refused.
    var order = BatchOrder()
    /// The submissions without an outcome, from `firstNumber` on.
    private var submissions: [Submission] = []
    private var firstNumber: UInt64 = 0
    /// What the store has completely.
    private(set) var progress: LogProgress
    /// When this node appended its frames.
    var appends = AppendTimes()
    /// What is wrong with the stream, by the last looks at it.
    var streamProblems: [StreamProblem] = []
    var replicaWatch = ReplicaWatch()
    /// Whether the stream has lost records.
    var loss = LogLoss()

    init(partition: Int, log: LogKey, _ progress: LogProgress?, now: Instant) {
        self.partition = partition
        let start = progress ?? LogProgress(epoch: 0, claim: 0, number: 0, position: 0)
        self.progress = start
        let position = LogPosition(start.position)
        let reader =
            start.epoch == 0
            ? LogReader()
            : LogReader(
                term: Term(Epoch(start.epoch), Claim(start.claim)), number: start.number, position: position)
        replica = Replica(log: log, at: reader, batches: start.batches, now: now)
        self.progress.batches = 0
    }

    /// Adds a submission with the next number.
    func add(_ submission: Submission) { submissions.append(submission) }

    /// Removes and returns the submissions of a range, which are the oldest.
    func take(_ range: Range<UInt64>) -> [Submission] {
        precondition(range.lowerBound == firstNumber, "batches of a log are completed out of order")
        firstNumber = range.upperBound
        defer { submissions.removeFirst(range.count) }
        return Array(submissions.prefix(range.count))
    }

    /// Returns the batches of a frame with the progress that each makes, for the store.
    func completed(
        _ batches: [WriteBatch], of frame: AppliedFrame, isOwn: Bool
    ) -> [(batch: WriteBatch, of: CommitQueue.LogBatch)] {
        // A renewal has no batch; the store notes its position with an empty one.
        let isNoted = batches.isEmpty
        let batches = isNoted ? [WriteBatch(batchNumber: 0, mutations: [], isDurable: false)] : batches
        let isOwn = isOwn && !isNoted
        let whole = LogProgress(
            epoch: frame.term.epoch.number, claim: frame.term.claim.number, number: frame.number,
            position: frame.position.number)
        var result: [(batch: WriteBatch, of: CommitQueue.LogBatch)] = []
        result.reserveCapacity(batches.count)
        for (index, batch) in batches.enumerated() where UInt64(index) >= frame.skips {
            let isLast = index == batches.count - 1
            var reached = isLast ? whole : progress
            if !isLast { reached.batches = UInt64(index) + 1 }
            var batch = batch
            batch.mutations.append(.advanceLog(partition: partition, reached))
            batch.isDurable = false
            result.append(
                (
                    batch,
                    CommitQueue.LogBatch(
                        partition: partition, isOwn: isOwn, completes: isLast ? whole.position : nil)
                ))
        }
        progress = whole
        return result
    }
}
