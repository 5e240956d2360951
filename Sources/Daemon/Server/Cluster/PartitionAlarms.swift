import Basics
import Cluster
import ClusterLog
import NATSClient
import Operator

/// What is wrong with a partition of this node.
enum PartitionFinding: Hashable {
    case halted(LogHalt)
    /// The stream ends at a position although more was applied.
    case shortened(after: LogPosition)
    /// This node needs records before a position that were lost, or purged.
    case lost(before: LogPosition)
    case purged(before: LogPosition)
    /// Confirmed records are not in the log where this node has read it.
    case missing
    /// This number of records is still to be applied.
    case behind(Int)

    /// Findings of one kind are one alarm.
    fileprivate enum Kind: Int {
        case newer, damaged, rival, inconsistent, shortened, lost, missing, purged, behind
    }

    fileprivate var kind: Kind {
        switch self {
        case .halted(.unreadable(.newer, _)): .newer
        case .halted(.unreadable(.damaged, _)): .damaged
        case .halted(.unreadable(.rival, _)): .rival
        case .halted(.inconsistent): .inconsistent
        case .shortened: .shortened
        case .lost: .lost
        case .missing: .missing
        case .purged: .purged
        case .behind: .behind
        }
    }
}

/// The alarms of partitions: one for each kind of problem, with all partitions that have it.
enum PartitionAlarms {
    typealias Found = (partition: Int, finding: PartitionFinding)
    private typealias Alarm = ShowCluster.Answer.Alarm

    /// Returns the alarms. `copy` is how far the copy of a store is, in words.
    static func of(_ found: [Found], copy: String, names: LogNames) -> [ShowCluster.Answer.Alarm] {
        let groups = Dictionary(grouping: found) { $0.finding.kind }
        return groups.sorted { $0.key.rawValue < $1.key.rawValue }.map { alarm($0.value, copy, names) }
    }

    private static func alarm(_ found: [Found], _ copy: String, _ names: LogNames) -> Alarm {
        let partitions = found.map { $0.partition }
        let named = PartitionList.named(partitions)
        // Each has its own position: that of the first one stands for all.
        let example = partitions.count == 1 ? "" : "in partition \(partitions[0]), "
        let causes = "find out why NATS has lost them"
        switch found[0].finding {
        case .halted(let reason): return halt(reason, named, has: partitions.count == 1, example)
        case .shortened(let last):
            return .init(
                cause: .recordsLost,
                problem:
                    "NATS has lost records of \(named) that this node has applied: \(example)stream \(names.stream(partitions[0])) ends at position \(last.number)",
                action: "nothing: the owner appends them again, which cluster_log_repaired reports; \(causes)"
            )
        case .lost(let first):
            return .init(
                cause: .recordsLost,
                problem:
                    "NATS has lost records of \(named), and this node does not have those that count: \(example)before position \(first.number)",
                action: "\(copy); \(causes)")
        case .purged(let first):
            return .init(
                cause: .outdated,
                problem:
                    "this node needs records of \(named) that were purged: \(example)the log begins at position \(first.number)",
                action: copy)
        case .missing:
            return .init(
                cause: .recordsLost,
                problem:
                    "NATS has lost records of \(named) that were confirmed and that this node has not read",
                action:
                    "nothing: a node that has them appends them again, or this one copies its store after \(Limits.ClusterLog.missingMilliseconds / 1_000) s; \(causes)"
            )
        case .behind:
            let most = found.map { if case .behind(let count) = $0.finding { count } else { 0 } }.max() ?? 0
            return .init(
                cause: .behind,
                problem:
                    "this node is \(partitions.count == 1 ? "" : "up to ")\(most) records behind the log of \(named)",
                action: "wait if it has just started; else look for a slow disk with ccsctl top")
        }
    }

    private static func halt(
        _ reason: LogHalt, _ named: String, has isOne: Bool, _ example: String
    ) -> Alarm {
        let problem = "\(named) \(isOne ? "has" : "have") halted on this node: \(example)\(reason.words)"
        let section = "docs/cluster.md, a partition that has halted"
        switch reason {
        case .unreadable(.newer, _):
            return .init(
                cause: .halted, problem: problem,
                action: "install the version of the other nodes, and restart: \(section)")
        case .unreadable(.damaged, _), .inconsistent:
            return .init(
                cause: .halted, problem: problem,
                action:
                    "keep the log and report it; while others go on, stop this node, remove its store and start it, and it copies theirs; if all have halted: \(section)"
            )
        case .unreadable(.rival, _):
            return .init(
                cause: .recordsLost, problem: problem,
                action:
                    "note what each node has applied (ccsctl cluster status); see docs/cluster.md, a log that has lost records"
            )
        }
    }
}

extension ClusterHost {
    /// What is wrong with the partitions of this node.
    var findings: [PartitionAlarms.Found] {
        replicas.flatMap { hosted in findings(of: hosted).map { (partition: hosted.partition, finding: $0) } }
    }

    private func findings(of hosted: HostedReplica) -> [PartitionFinding] {
        var found: [PartitionFinding] = []
        if let reason = hosted.replica.haltReason { found.append(.halted(reason)) }
        if let last = hosted.loss.lostAfter { found.append(.shortened(after: last)) }
        if let first = hosted.replica.begins, let absence = hosted.replica.absence {
            found.append(absence == .lost ? .lost(before: first) : .purged(before: first))
        } else if hosted.replica.isMissingRecords {
            found.append(.missing)
        }
        let behind = recordsBehind(hosted)
        if behind > Limits.ClusterHost.recordsBehind { found.append(.behind(behind)) }
        return found
    }
}
