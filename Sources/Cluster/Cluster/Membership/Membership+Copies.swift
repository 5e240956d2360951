public import Basics
public import ClusterLog

/// Where a node gets a copy of the store from that is behind a purged log.
extension Membership {
    /// What a copy must have of each partition so that this node can use it: everything that this node has reported as durable, since
    /// others rely on it, and everything that the log does not have any more. `begins` are the first records of the logs that this node
    /// cannot follow.
    public func least(begins: [LogPosition?]) -> [LogPosition] {
        partitions.indices.map { partition in
            let purged = begins[partition].map { LogPosition(max(1, $0.number) - 1) } ?? .start
            return max(own[partition].durable, purged)
        }
    }

    /// The highest position of a log that any other node which runs has read.
    public func reached(of partition: Int) -> LogPosition {
        peers.reduce(.start) { highest, peer in
            peer.status == .gone ? highest : max(highest, peer.heartbeat.partitions[partition].applied)
        }
    }

    /// Whether this node has read a mark of the last epoch that any node which runs has read.
    ///
    /// One that has not may have a new store, in front of a log that was made again and filled up to the old position: nothing in that log
    /// shows what came before it until the next owner's mark does.
    func hasLastEpoch(of partition: Int) -> Bool {
        peers.allSatisfy {
            $0.status == .gone || $0.heartbeat.partitions[partition].epoch <= own[partition].epoch
        }
    }

    /// Returns the best node to copy the store from: one that follows all logs, and has applied most. Returns `nil` if none has enough.
    public func copySource(_ least: [LogPosition], except: Set<NodeNumber>) -> NodeNumber? {
        var best: (node: NodeNumber, applied: UInt64)?
        for peer in peers where peer.isFit && !except.contains(peer.node) {
            let reports = peer.heartbeat.partitions
            let isUsable = reports.indices.allSatisfy {
                reports[$0].role.isCurrent && reports[$0].applied >= least[$0]
            }
            guard isUsable else { continue }
            let applied = reports.reduce(UInt64(0)) { $0 &+ $1.applied.number }
            if best.map({ $0.applied < applied }) ?? true { best = (peer.node, applied) }
        }
        return best?.node
    }
}

extension PartitionReport.Role {
    /// Whether the node applies what is written to the log.
    public var isCurrent: Bool {
        switch self {
        case .following, .claiming, .owning, .releasing: true
        case .absent, .halted: false
        }
    }
}
