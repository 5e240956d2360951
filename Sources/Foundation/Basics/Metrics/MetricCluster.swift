extension Metric {
    /// The values of the label `kind` of frames: sent for the first time, or again after a doubt.
    public enum FrameKind: String, LabelWord {
        case first
        case repeated
    }

    /// The values of the label `origin` of frames that were applied.
    public enum FrameOrigin: String, LabelWord {
        case own
        case other
    }

    /// The values of the label `direction` of what nodes exchange.
    public enum LinkDirection: String, LabelWord {
        case sent
        case received
    }

    /// The values of the label `kind` of what nodes forward to each other.
    public enum ForwardedKind: String, LabelWord {
        case event
        case command
    }

    /// The values of the label `outcome` of copies of a store.
    public enum CopyOutcome: String, LabelWord {
        case completed
        case failed
    }

    /// The values of the label `reason`: why a request was answered without its owner.
    public enum UnreachedReason: String, LabelWord, Sendable {
        /// The partition had no owner in time.
        case noOwner = "no_owner"
        /// Too many events waited for an owner.
        case tooManyHeld = "too_many_held"
        /// It fits into no parcel, or too many requests are open.
        case notSent = "not_sent"
        /// The link to the owner was lost.
        case linkLost = "link_lost"
        /// The owner did not answer in time.
        case noAnswer = "no_answer"
    }

    /// The values of the label `action` of what the log refused.
    public enum LogAction: String, LabelWord {
        case append
        case read
        case follow
        case examine
        case purge
    }

    private static func label<Word: LabelWord & RawRepresentable>(
        _ name: String, _: Word.Type
    ) -> Label where Word.RawValue == String {
        Label(name: name, values: Word.allCases.map(\.rawValue))
    }

    static let cluster: [Row] = ownership + replication + links

    private static let ownership: [Row] = [
        Row(
            metric: .clusterMembers, name: "ccs_cluster_members", kind: .gauge,
            help: "Nodes of the cluster as this one sees them; all 0 without a cluster.",
            labels: [label("status", MemberStatus.self)]),
        Row(
            metric: .clusterPartitions, name: "ccs_cluster_partitions", kind: .gauge,
            help: "Partitions of the cluster by what this node is to them; `owning`: it serves them.",
            labels: [label("role", PartitionRole.self)]),
        Row(
            metric: .clusterUnowned, name: "ccs_cluster_partitions_unowned", kind: .gauge,
            help: "Partitions whose owner this node does not know."),
        Row(
            metric: .clusterTakeovers, name: "ccs_cluster_takeovers_total", kind: .counter,
            help: "Partitions that this node has taken."),
        Row(
            metric: .clusterLosses, name: "ccs_cluster_losses_total", kind: .counter,
            help: "Partitions that this node served and does not any more, handovers included."),
        Row(
            metric: .clusterAlarms, name: "ccs_cluster_alarms", kind: .gauge,
            help: "What an operator should look at, by cause; ccsctl cluster status has the words.",
            labels: [label("cause", ClusterAlarmCause.self)]),
    ]

    private static let replication: [Row] = [
        Row(
            metric: .clusterFrames, name: "ccs_cluster_frames_total", kind: .counter,
            help: "Frames appended to the log; `repeated` ones were in doubt.",
            labels: [label("kind", FrameKind.self)]),
        Row(
            metric: .clusterFrameBytes, name: "ccs_cluster_frame_bytes_total", kind: .counter,
            help: "Bytes of frames appended to the log.", labels: [label("kind", FrameKind.self)]),
        Row(
            metric: .clusterConfirmTimes, name: "ccs_cluster_confirm_seconds", kind: .histogram,
            help: "Time between the first append of a frame and its confirmation.", bounds: innerBounds),
        Row(
            metric: .clusterApplied, name: "ccs_cluster_applied_frames_total", kind: .counter,
            help: "Frames passed to the store, by who wrote them.",
            labels: [label("origin", FrameOrigin.self)]),
        Row(
            metric: .clusterVoids, name: "ccs_cluster_void_records_total", kind: .counter,
            help: "Records of the log that were skipped: late copies, and frames of deposed owners."),
        Row(
            metric: .clusterBehind, name: "ccs_cluster_records_behind", kind: .gauge,
            help: "Records of all logs that the store of this node does not have yet."),
        Row(
            metric: .clusterLogDisconnected, name: "ccs_cluster_log_disconnected", kind: .gauge,
            help: "1 while a node has no connection to the log, else 0."),
        Row(
            metric: .clusterLogDisconnects, name: "ccs_cluster_log_disconnects_total", kind: .counter,
            help: "Connections to the log that were lost."),
        Row(
            metric: .clusterLogFailures, name: "ccs_cluster_log_failures_total", kind: .counter,
            help: "Requests that the log refused or did not answer; they are repeated.",
            labels: [label("action", LogAction.self)]),
    ]

    private static let links: [Row] = [
        Row(
            metric: .clusterLinks, name: "ccs_cluster_links", kind: .gauge,
            help: "Links to other nodes that are up."),
        Row(
            metric: .clusterParcels, name: "ccs_cluster_parcels_total", kind: .counter,
            help: "Parcels exchanged with other nodes; one has all that a turn has for a node.",
            labels: [label("direction", LinkDirection.self)]),
        Row(
            metric: .clusterParcelBytes, name: "ccs_cluster_parcel_bytes_total", kind: .counter,
            help: "Bytes of such parcels, before encryption.",
            labels: [label("direction", LinkDirection.self)]
        ),
        Row(
            metric: .clusterForwarded, name: "ccs_cluster_forwarded_total", kind: .counter,
            help:
                "Events for partitions of other nodes, and commands for sessions on other nodes, in such parcels.",
            labels: [label("kind", ForwardedKind.self), label("direction", LinkDirection.self)]),
        Row(
            metric: .clusterCopies, name: "ccs_cluster_copies_total", kind: .counter,
            help: "Copies of a store from one node to another that was behind a purged log.",
            labels: [label("direction", LinkDirection.self), label("outcome", CopyOutcome.self)]),
        Row(
            metric: .clusterHeld, name: "ccs_cluster_held_events", kind: .gauge,
            help: "Events that wait for an owner of their partition."),
        Row(
            metric: .clusterUnreached, name: "ccs_cluster_unreached_total", kind: .counter,
            help: "Events that were answered without reaching their owner, by reason.",
            labels: [label("reason", UnreachedReason.self)]),
    ]
}
