public import Basics
public import ClusterLog

/// What can be removed from the logs.
extension Membership {
    /// Up to where the log of a partition may be purged.
    public func purge(of partition: Int) -> PurgePositions {
        var some = own[partition].role == .absent ? [] : [own[partition].durable]
        var all = [own[partition].durable]
        for peer in peers where peer.status != .gone {
            let report = peer.heartbeat.partitions[partition]
            all.append(report.durable)
            if peer.status == .alive, report.role != .absent { some.append(report.durable) }
        }
        guard some.count >= settings.copies else { return PurgePositions(bySome: .start, byAll: .start) }
        some.sort(by: >)
        let bySome = some[max(1, settings.copies) - 1]
        return PurgePositions(bySome: bySome, byAll: min(bySome, all.min() ?? .start))
    }

    /// What the owner of a partition has removed from its log, which begins at `first` and has this many bytes. The last record that all need no
    /// more stays: by it each node sees that the log has what it has applied. `listed` are nodes that belong to the cluster, also those
    /// that were never seen.
    public func purge(
        of partition: Int, first: LogPosition, bytes: Int, listed: [NodeNumber]
    ) -> LogPurge {
        guard case .owning = own[partition].role else { return .nothing }
        let others = Set(listed + roster.entries.map(\.node)).filter {
            $0 != settings.node && !roster.isRemoved($0)
        }
        let areAllHere = others.allSatisfy { member($0).map { $0.status != .gone } ?? false }
        let isFull = bytes > Limits.ClusterHost.logBytes
        // A node that is away needs the records to catch up, unless there are too many.
        guard areAllHere || isFull else { return .nothing }
        let positions = purge(of: partition)
        let position = isFull ? positions.bySome : positions.byAll
        guard position.number >= first.number + Limits.ClusterHost.purgedRecords else { return .nothing }
        let last = LogPosition(position.number - 1)
        return areAllHere ? .upTo(last) : .leavingBehind(upTo: last)
    }
}

/// What is to be removed from a log.
public enum LogPurge: Hashable, Sendable {
    /// Nothing.
    case nothing
    /// The records up to this position: no node needs them.
    case upTo(LogPosition)
    /// The records up to this position, although a node that is away needs them: it will copy the store of another one.
    case leavingBehind(upTo: LogPosition)
}

/// Up to where a log may be purged.
public struct PurgePositions: Hashable, Sendable {
    /// What enough nodes have durable. A node that is behind copies a checkpoint when it starts again.
    public var bySome: LogPosition
    /// What all nodes have durable that are not gone: none of them needs a checkpoint.
    public var byAll: LogPosition

    /// Creates positions.
    public init(bySome: LogPosition, byAll: LogPosition) {
        self.bySome = bySome
        self.byAll = byAll
    }
}
