extension LogEventMeaning {
    /// The events of a node of a cluster.
    static let cluster = [
        ("cluster_alarm", "The cluster has an alarm: ccsctl cluster status shows what to do."),
        ("cluster_alarm_over", "An alarm of the cluster is over."),
        ("cluster_certificate", "A warning about the certificate with which nodes identify themselves."),
        ("cluster_member", "The status of another node has changed."),
        ("cluster_node_admitted", "An operator has taken a removed node back."),
        ("cluster_node_removed", "An operator has removed a node."),
        (
            "cluster_node_outdated",
            "The node needs records that were purged, and copies the store of another node."
        ),
        ("cluster_heartbeat_invalid", "A heartbeat cannot be read: another version, or another program."),
        (
            "cluster_heartbeats_failed",
            "The node may not subscribe to the heartbeats: check its permissions in NATS."
        ),
        ("cluster_frame_version", "The version of the records that the node writes has changed."),
        ("cluster_link_up", "The link to another node is open."),
        ("cluster_link_down", "The link to another node has ended, for the problem in the line."),
        (
            "cluster_link_failed",
            "Another node cannot be reached: check its address, its certificate and the firewall."
        ),
        ("cluster_link_refused", "A peer that is no node of the cluster was refused."),
        ("cluster_parcel_invalid", "Another node has sent what cannot be read; the link is closed."),
        ("cluster_log_connected", "The node is connected to a NATS server."),
        ("cluster_log_disconnected", "The connection to a NATS server has ended; another one follows."),
        ("cluster_log_unreachable", "A NATS server cannot be reached, or refuses the node."),
        ("cluster_log_warning", "A NATS server has sent a warning."),
        ("cluster_log_failed", "An action on the log of a partition failed, and is tried again."),
        ("cluster_log_purged", "Records that all nodes have applied were removed from the log."),
        ("cluster_log_repaired", "Records that NATS had lost were appended again."),
        ("cluster_monitor_failed", "The monitoring port of a NATS server cannot be read."),
        ("cluster_stream_unfit", "A stream of NATS is not as it must be; the line names what."),
        ("cluster_records_lost", "NATS has lost records of a partition. See docs/cluster.md."),
        ("cluster_records_missing", "Records that the node needs are neither in NATS nor on another node."),
        ("cluster_partition_taken", "The node serves a partition."),
        ("cluster_partition_lost", "The node no longer serves a partition."),
        (
            "cluster_partition_halted",
            "The node can apply no more of the log of a partition, until an operator acts."
        ),
        ("cluster_copy_asked", "The node has asked another one for a copy of its store."),
        ("cluster_copy_begun", "A copy of the store of another node arrives."),
        (
            "cluster_copy_received",
            "A copy of the store of another node is complete; the node restarts with it."
        ),
        ("cluster_copy_giving", "Another node gets a copy of the store."),
        ("cluster_copy_given", "Another node has got a copy of the store."),
        ("cluster_copy_failed", "A copy of a store failed, and is tried again."),
        ("cluster_store_installed", "The node has started with a copied store."),
        (
            "store_behind_log",
            "The store has lost commits that the log has: the node starts again and reads its log."
        ),
    ]
}
