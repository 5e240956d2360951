import Basics
import Cluster
import ClusterLog

/// A trivial log of each partition: the first claim of the next epoch owns it.
struct SimulatedLogs {
    struct Partition {
        var epoch: UInt64 = 0
        /// The node whose claim began the epoch, and its process.
        var owner: Int?
        var process = 0
        var end: UInt64 = 0
        /// What the end has been, and since when in microseconds.
        var history: [(since: Int64, end: UInt64)] = []

        /// Where the log ended at a time, in microseconds.
        func end(at time: Int64) -> UInt64 { history.last { $0.since <= time }?.end ?? 0 }
    }

    var partitions: [Partition]
    /// Until when nothing is stored, in microseconds.
    var electionUntil: Int64 = 0

    init(_ count: Int) { partitions = Array(repeating: Partition(), count: count) }

    /// Notes where the logs end at a time.
    mutating func note(_ time: Int64) {
        for partition in partitions.indices
        where partitions[partition].end != partitions[partition].history.last?.end {
            partitions[partition].history.append((time, partitions[partition].end))
        }
    }

    /// A node claims a partition in the epoch after the one that it has read. Returns whether it owns it.
    mutating func claim(_ partition: Int, after epoch: UInt64, by node: Int, process: Int) -> Bool {
        partitions[partition].end += 1
        guard epoch + 1 > partitions[partition].epoch else { return false }
        partitions[partition].epoch = epoch + 1
        partitions[partition].owner = node
        partitions[partition].process = process
        return true
    }
}

/// A replica of a node.
struct SimulatedReplica {
    var role = PartitionReport.Role.following
    /// Whether the owner accepts requests.
    var isServing = false
    var epoch: UInt64 = 0
    var applied: UInt64 = 0
    var durable: UInt64 = 0
    /// Counts the claims and releases: an earlier one that ends later is ignored.
    var attempt = 0

    var report: PartitionReport {
        PartitionReport(
            role: role, epoch: Epoch(epoch), applied: LogPosition(applied), durable: LogPosition(durable))
    }
}
