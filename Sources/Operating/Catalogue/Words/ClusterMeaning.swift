public import Basics

extension ClusterAlarmCause {
    /// The meaning, with advice to the operator.
    public var meaning: String {
        switch self {
        case .logDisconnected:
            "The node has no connection to NATS: it owns nothing and is not ready; others serve its partitions."
        case .logStalled:
            "The logs of some partitions have not answered their owner for \(Limits.ClusterHost.stalledMilliseconds / 1_000) s: nothing is acknowledged there. Without a majority of its servers NATS writes nothing."
        case .recordsLost:
            "The log of a partition ends before what the node has applied: NATS has lost records, which are appended again if a node has them in memory. See docs/cluster.md."
        case .streamUnfit:
            "A stream of NATS is not as it must be; the alarm names what."
        case .logDegraded:
            "Streams have a replica that is silent, behind or missing: they work, and the next failure of a server may stop them. The alarm names the server and the commands; docs/cluster.md has the steps."
        case .nodeSilent:
            "A node of the cluster has been silent for \(Limits.Cluster.silentMilliseconds / 1_000) s: others serve its partitions. Start it, or remove it with ccsctl cluster remove if it will not return."
        case .logUnsynced:
            "A server of NATS confirms records before they are on its disk: a power cut can lose what was acknowledged. Set sync_interval: always."
        case .unowned:
            "Partitions have had no owner for \(Limits.Cluster.unownedMilliseconds / 1_000) s, or none has one: messages for them are refused."
        case .halted:
            "The node can apply no more of the log of a partition: a newer version wrote it, or a node wrote what none should."
        case .outdated:
            "The node needs records of a partition that were purged: it copies the store of another node, and restarts."
        case .behind:
            "The node has more than \(Limits.ClusterHost.recordsBehind) records of a partition still to apply: it has just started, or is too slow."
        case .noFrameVersion:
            "The nodes have no version of frames in common: upgrade the oldest, which cannot read what others write."
        case .duplicateNode: "Two processes run with one node number: stop one of them."
        case .foreignCluster: "Another cluster uses the same account and log prefix of NATS."
        case .partitionCount: "A node was set up for another number of partitions, and is ignored."
        case .tooManyNodes: "There are more than \(Limits.Cluster.nodes) nodes; further ones are ignored."
        case .removedNode:
            "A node that was removed runs, and is refused: stop it, or take it back with ccsctl cluster admit."
        case .clock:
            "The clocks of two nodes differ by more than \(Limits.Cluster.clockMilliseconds / 1_000) s: times to live are wrong by that."
        case .unlinked:
            "A node sends heartbeats, but has no link: its partitions cannot be reached from this node."
        }
    }
}

extension MemberStatus {
    /// The meaning.
    public var meaning: String {
        switch self {
        case .this: "The node that was asked."
        case .alive: "Its heartbeats arrive."
        case .suspected:
            "No heartbeat for \(Limits.Cluster.suspicionMilliseconds) ms: its partitions are taken over."
        case .gone: "No heartbeat for \(Limits.Cluster.goneMilliseconds / 1_000) s."
        case .unseen: "It is in cluster.json, but has sent nothing since the asked node started."
        }
    }
}

extension PartitionRole {
    /// The meaning.
    public var meaning: String {
        switch self {
        case .absent: "It needs records that were purged, and copies the store of another node."
        case .following: "It applies what the owner writes, and can take over."
        case .claiming: "It is taking the partition over."
        case .owning: "It serves the partition."
        case .releasing: "It hands the partition over to another node."
        case .halted: "It can apply no more until an operator acts; the alarm names the reason."
        }
    }
}

extension Metric.UnreachedReason {
    /// The meaning, with advice to the operator where there is any.
    public var meaning: String {
        switch self {
        case .noOwner:
            "The partition had no owner within \(Limits.ClusterHost.heldMilliseconds / 1_000) s: see ccsctl cluster status."
        case .tooManyHeld:
            "\(Limits.ClusterHost.heldEvents) events waited for owners of their partitions already."
        case .notSent:
            "The request was too large for the link, or \(Limits.NodeProtocol.openRequests) others were open."
        case .linkLost: "The link to the owner was lost before its answer."
        case .noAnswer:
            "The owner did not answer within \(Limits.NodeProtocol.answerMilliseconds / 1_000) s."
        }
    }
}
