/// What an operator should look at in a cluster, most urgent first.
///
/// The raw value is the word in metrics, `ccsctl` and the docs.
public enum ClusterAlarmCause: String, LabelWord, Sendable {
    // The log.
    case logDisconnected = "log_disconnected"
    case logStalled = "log_stalled"
    case recordsLost = "records_lost"
    case streamUnfit = "stream_unfit"
    case logDegraded = "log_degraded"
    case logUnsynced = "log_unsynced"
    // Partitions.
    case unowned = "unowned"
    case halted = "halted"
    case outdated = "outdated"
    case behind = "behind"
    // Nodes.
    case nodeSilent = "node_silent"
    case noFrameVersion = "no_frame_version"
    case duplicateNode = "duplicate_node"
    case foreignCluster = "foreign_cluster"
    case partitionCount = "partition_count"
    case tooManyNodes = "too_many_nodes"
    case removedNode = "removed_node"
    case clock = "clock"
    case unlinked = "unlinked"

    /// Whether the cluster works, and something is missing that the next failure may need.
    public var isDegradation: Bool { self == .logDegraded || self == .nodeSilent }
}

/// Whether a node of a cluster is there, as another one sees it.
///
/// The raw value is the word in metrics, `ccsctl` and the docs.
public enum MemberStatus: String, LabelWord, Sendable {
    /// The node that is asked.
    case this
    case alive
    case suspected
    case gone
    /// It is in the file of the cluster, and has sent nothing since this node started.
    case unseen
}

/// What a node is to a partition.
///
/// The raw value is the word in metrics, `ccsctl` and the docs.
public enum PartitionRole: String, LabelWord, Sendable {
    case absent
    case following
    case claiming
    case owning
    case releasing
    case halted
}
