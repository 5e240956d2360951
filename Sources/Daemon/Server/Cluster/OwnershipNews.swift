import Basics
import Transport

/// The partitions that a node has taken or lost in a moment, or can apply no more of: the log has one line for all of them.
struct OwnershipNews {
    /// Why it can apply no more.
    enum Trouble: CaseIterable {
        case outdated
        case recordsMissing
        case halted
    }

    /// The partitions of each trouble, with what the log has of the first one.
    private(set) var troubles: [Trouble: (partitions: [Int], first: LogValue)] = [:]
    private(set) var taken: [Int] = []
    private(set) var lost: [Int] = []
    private var since: Instant?

    /// Whether the partition is in what was not written yet: then that is to be written first.
    func contains(_ partition: Int) -> Bool { taken.contains(partition) || lost.contains(partition) }

    mutating func add(taken partition: Int, _ now: Instant) {
        taken.append(partition)
        since = since ?? now
    }

    mutating func add(_ trouble: Trouble, of partition: Int, _ first: LogValue, _ now: Instant) {
        troubles[trouble, default: ([], first)].partitions.append(partition)
        since = since ?? now
    }

    mutating func add(lost partition: Int, _ now: Instant) {
        lost.append(partition)
        since = since ?? now
    }

    /// Whether it is to be written.
    func isDue(_ now: Instant) -> Bool {
        since.map { now.milliseconds(since: $0) >= Limits.ClusterHost.newsMilliseconds } ?? false
    }
}

/// Numbers of partitions in words.
enum PartitionList {
    /// The numbers in order, those that follow each other as a range: `0-5, 8`.
    static func text(_ partitions: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for partition in partitions.sorted() {
            if let last = ranges.last, partition <= last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, partition)
            } else {
                ranges.append(partition...partition)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }

    /// The numbers with their noun.
    static func named(_ partitions: [Int]) -> String {
        "\(partitions.count == 1 ? "partition" : "partitions") \(text(partitions))"
    }
}

extension ClusterHost {
    /// This node serves a partition.
    func report(taken partition: Int) {
        if news.contains(partition) { reportOwnership(nil) }
        news.add(taken: partition, reactor.now.monotonic)
    }

    /// This node serves a partition no longer.
    func report(lost partition: Int) {
        if news.contains(partition) { reportOwnership(nil) }
        news.add(lost: partition, reactor.now.monotonic)
    }

    /// Writes what this node has taken and lost, if it is due; with `nil` in any case.
    func reportOwnership(_ now: Now?) {
        if let now, !news.isDue(now.monotonic) { return }
        if !news.lost.isEmpty {
            log.notice("cluster_partition_lost", ["partitions": .text(PartitionList.text(news.lost))])
        }
        if !news.taken.isEmpty {
            log.notice("cluster_partition_taken", ["partitions": .text(PartitionList.text(news.taken))])
        }
        for trouble in OwnershipNews.Trouble.allCases {
            guard let (partitions, first) = news.troubles[trouble] else { continue }
            let named = LogValue.text(PartitionList.text(partitions))
            switch trouble {
            case .outdated: log.warning("cluster_node_outdated", ["partitions": named, "first": first])
            case .recordsMissing:
                log.error("cluster_records_missing", ["partitions": named, "first": first])
            case .halted: log.error("cluster_partition_halted", ["partitions": named, "problem": first])
            }
        }
        news = OwnershipNews()
    }
}
