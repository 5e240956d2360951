extension Alert {
    /// Whether the nodes of a cluster work together.
    static let cluster = [
        Alert(
            "CcsdPartitionUnowned", .critical, "ccs_cluster_partitions_unowned > 0", for: "1m",
            "{{ $value }} partitions have no owner: messages for their devices and senders are refused.",
            action:
                "Run ccsctl cluster status on this node, and look at the log of NATS: a stream without a leader needs more than half of its servers. If only one node does not know the owners, it is cut off from NATS."
        ),
        Alert(
            "CcsdLogDisconnected", .critical, "ccs_cluster_log_disconnected == 1", for: "1m",
            "The node has no connection to the log of its cluster: it owns nothing, and is not ready.",
            action:
                "Check that the servers of NATS run and can be reached from this machine. cluster_log_unreachable in the log of ccsd names each server and its problem."
        ),
        Alert(
            "CcsdNodeGone", .warning, #"ccs_cluster_alarms{cause="node_silent"} > 0"#, for: "2m",
            "{{ $value }} nodes of the cluster are silent: others serve their partitions.",
            action:
                "ccsctl cluster status names them. Start ccsd there, or repair the machine. A node that will not return is removed with ccsctl cluster remove."
        ),
        Alert(
            "CcsdLogDegraded", .critical, #"ccs_cluster_alarms{cause="log_degraded"} > 0"#, for: "5m",
            "Streams of NATS have fewer copies than configured: the next failure of a server may stop them.",
            action:
                "ccsctl cluster status names the server and the commands. Start it again; if it will not return, follow Replace a nats-server in docs/cluster.md."
        ),
        Alert(
            "CcsdNodeBehind", .warning,
            "ccs_cluster_records_behind > 1000 and deriv(ccs_cluster_records_behind[10m]) > 0", for: "10m",
            "The node is {{ $value }} records behind the logs, and more are written than it applies.",
            action:
                "It cannot take partitions over in time. Look at its disk (ccs_store_commit_seconds) and processor; a node that has just started catches up by itself."
        ),
        Alert(
            "CcsdClusterAlarm", .warning, #"ccs_cluster_alarms{cause!~"node_silent|log_degraded"} > 0"#,
            for: "5m",
            "The cluster has {{ $value }} alarms: {{ $labels.cause }}.",
            action:
                "Run ccsctl cluster status: it shows what is wrong and what to do. ccsctl explain {{ $labels.cause }} gives the meaning; docs/cluster.md has the steps for streams that are not as they must be, wrong clocks and lost records."
        ),
        Alert(
            "CcsdSlowConfirmations", .warning,
            "histogram_quantile(0.99, sum by (instance, le) (rate(ccs_cluster_confirm_seconds_bucket[5m]))) > 0.5",
            for: "10m",
            "One frame in a hundred is confirmed only after half a second; each delays acknowledgements.",
            action:
                "Look at the disks of the NATS servers, which sync each frame (iostat -x 5), and at the network between them."
        ),
        Alert(
            "CcsdUnreachedOwners", .warning,
            "sum by (instance, reason) (rate(ccs_cluster_unreached_total[5m])) > 1", for: "10m",
            "{{ $value | humanize }} requests a second do not reach the owner of their partition ({{ $labels.reason }}).",
            action:
                "link_lost, no_answer: check the network between the nodes, and ccsctl cluster status on both. no_owner, too_many_held: see CcsdPartitionUnowned. not_sent: report it."
        ),
    ]
}
