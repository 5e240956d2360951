/// A panel of the dashboard.
struct Panel: Sendable {
    /// A line in the panel.
    struct Query: Sendable {
        var expression: String
        var legend: String

        init(_ expression: String, _ legend: String) {
            self.expression = expression
            self.legend = legend
        }
    }

    /// The form of a panel.
    enum Form: String, Sendable {
        case lines = "timeseries"
        case number = "stat"
    }

    var title: String
    var form = Form.lines
    /// The unit by the name that Grafana has for it.
    var unit: String
    var queries: [Query]
    /// What the panel shows, and when to worry.
    var note: String

    init(_ title: String, _ form: Form = .lines, unit: String, _ queries: [Query], _ note: String = "") {
        self.title = title
        self.form = form
        self.unit = unit
        self.queries = queries
        self.note = note
    }

    /// The rows of the dashboard.
    static let rows: [(title: String, panels: [Panel])] = [
        ("State", state), ("Messages", messages), ("Latency", latency), ("Senders and refusals", senders),
        ("Connections and HTTP", connections), ("Store", store), ("Process", process), ("APNs", apns),
        ("Webhooks", webhooks),
        ("Cluster", cluster),
    ]
}

extension Panel {
    private static let own = #"{instance=~"$instance"}"#

    /// Returns the rate of a counter, added up by labels.
    private static func rate(_ metric: String, by labels: String, _ more: String = "") -> String {
        "sum by (\(labels)) (rate(\(metric){instance=~\"$instance\"\(more)}[$__rate_interval]))"
    }

    /// Returns a quantile of a histogram.
    private static func quantile(_ share: String, _ metric: String, by labels: String = "") -> String {
        "histogram_quantile(\(share), \(rate("\(metric)_bucket", by: labels.isEmpty ? "le" : "le, \(labels)")))"
    }

    private static let state = [
        Panel("Ready", .number, unit: "bool_yes_no", [Query("min(ccs_ready\(own))", "ready")]),
        Panel("Version", .number, unit: "string", [Query("ccs_build_info\(own)", "{{version}}")]),
        Panel(
            "Up for", .number, unit: "s", [Query("time() - process_start_time_seconds\(own)", "{{instance}}")]
        ),
        Panel(
            "Certificate expires in", .number, unit: "s",
            [Query("ccs_certificate_not_after_seconds\(own) - time()", "{{instance}}")]),
        Panel("Devices", .number, unit: "short", [Query("sum(ccs_devices\(own))", "devices")]),
        Panel(
            "Disk free", .number, unit: "percentunit",
            [Query("min(ccs_disk_free_bytes\(own) / ccs_disk_size_bytes\(own))", "free")]),
    ]

    private static let messages = [
        Panel(
            "Downstream", unit: "ops",
            [
                Query(
                    rate("ccs_messages_total", by: "milestone", #",direction="downstream""#), "{{milestone}}")
            ],
            "Accepted and delivered should be equal over time; the rest is replaced, expired or waiting."),
        Panel(
            "Upstream", unit: "ops",
            [Query(rate("ccs_messages_total", by: "milestone", #",direction="upstream""#), "{{milestone}}")]),
        Panel(
            "Waiting messages", unit: "short",
            [Query("sum by (direction) (ccs_messages_waiting\(own))", "{{direction}}")],
            "Upstream messages that pile up mean that an app server is missing or does not acknowledge."),
    ]

    private static let latency = [
        Panel(
            "Acknowledgement", unit: "s",
            [
                Query(quantile("0.5", "ccs_ack_seconds", by: "direction"), "{{direction}} p50"),
                Query(quantile("0.99", "ccs_ack_seconds", by: "direction"), "{{direction}} p99"),
            ], "From the arrival of a message until its acknowledgement: mostly the disk."),
        Panel(
            "Delivery to connected devices", unit: "s",
            [
                Query(quantile("0.5", "ccs_delivery_seconds"), "p50"),
                Query(quantile("0.99", "ccs_delivery_seconds"), "p99"),
            ], "Includes the network and the device."),
        Panel(
            "Turns of the reactors", unit: "s",
            [
                Query(quantile("0.5", "ccs_reactor_turn_seconds"), "p50"),
                Query(quantile("0.99", "ccs_reactor_turn_seconds"), "p99"),
            ]),
    ]

    private static let senders = [
        Panel(
            "Busiest senders, accepted", unit: "ops",
            [
                Query(
                    "topk(10, \(rate("ccs_sender_messages_total", by: "sender", #",direction="downstream",milestone="accepted""#)))",
                    "{{sender}}")
            ]),
        Panel(
            "Busiest senders, refused", unit: "ops",
            [
                Query(
                    "topk(10, \(rate("ccs_sender_messages_total", by: "sender", #",milestone="refused""#)))",
                    "{{sender}}")
            ]),
        Panel(
            "Refusals by reason", unit: "ops", [Query(rate("ccs_refusals_total", by: "reason"), "{{reason}}")]
        ),
    ]

    private static let connections = [
        Panel(
            "Open connections", unit: "short",
            [
                Query("sum by (listener) (ccs_connections_open\(own))", "{{listener}}"),
                Query("sum by (kind) (ccs_sessions_open\(own))", "logged in: {{kind}}"),
            ]),
        Panel(
            "Closed and refused connections", unit: "ops",
            [
                Query("\(rate("ccs_connections_closed_total", by: "reason")) > 0", "{{reason}}"),
                Query("\(rate("ccs_connections_refused_total", by: "reason")) > 0", "refused: {{reason}}"),
            ]),
        Panel(
            "Logins", unit: "ops",
            [Query(rate("ccs_logins_total", by: "kind, result"), "{{kind}} {{result}}")]),
        Panel(
            "HTTP requests", unit: "ops",
            [Query(rate("ccs_http_request_seconds_count", by: "class"), "{{class}}")]),
        Panel(
            "HTTP latency, p99", unit: "s",
            [Query(quantile("0.99", "ccs_http_request_seconds", by: "endpoint"), "{{endpoint}}")]),
        Panel(
            "Traffic", unit: "Bps",
            [
                Query(rate("ccs_received_bytes_total", by: "listener"), "in: {{listener}}"),
                Query(rate("ccs_sent_bytes_total", by: "listener"), "out: {{listener}}"),
            ]),
    ]

    private static let store = [
        Panel(
            "Commits and syncs, p99", unit: "s",
            [
                Query(quantile("0.99", "ccs_store_commit_seconds"), "commit"),
                Query(quantile("0.99", "ccs_store_sync_seconds"), "sync"),
                Query(quantile("0.99", "ccs_store_query_seconds", by: "query"), "query: {{query}}"),
            ]),
        Panel(
            "Size", unit: "bytes",
            [
                Query("sum(ccs_store_bytes\(own))", "store"),
                Query("sum(ccs_journal_bytes\(own))", "journal"),
                Query("sum(ccs_registry_bytes\(own))", "registry"),
                Query("sum(ccs_disk_free_bytes\(own))", "free disk"),
            ]),
        Panel(
            "Devices and registrations", unit: "short",
            [
                Query("sum(ccs_devices\(own))", "devices"),
                Query("sum(ccs_registrations\(own))", "registrations"),
            ]),
    ]

    private static let process = [
        Panel(
            "Processors", unit: "short",
            [Query(rate("process_cpu_seconds_total", by: "instance"), "{{instance}}")]
        ),
        Panel(
            "Memory", unit: "bytes", [Query("process_resident_memory_bytes\(own)", "{{instance}}")]),
        Panel(
            "Descriptors", unit: "short",
            [
                Query("process_open_fds\(own)", "open {{instance}}"),
                Query("process_max_fds\(own)", "limit {{instance}}"),
            ]),
    ]

    private static let apns = [
        Panel(
            "Answers of Apple", unit: "ops",
            [Query("\(rate("ccs_apns_answers_total", by: "reason")) > 0", "{{reason}}")]),
        Panel(
            "Latency of Apple", unit: "s",
            [
                Query(quantile("0.5", "ccs_apns_answer_seconds"), "p50"),
                Query(quantile("0.99", "ccs_apns_answer_seconds"), "p99"),
            ]),
        Panel(
            "Queue and connections", unit: "short",
            [
                Query("sum(ccs_apns_queue\(own))", "queue"),
                Query("sum(ccs_apns_connections\(own))", "connections"),
            ]),
    ]

    private static let webhooks = [
        Panel(
            "Requests to webhooks", unit: "ops",
            [Query(rate("ccs_webhook_requests_total", by: "outcome"), "{{outcome}}")]),
        Panel(
            "Latency of webhooks", unit: "s",
            [
                Query(quantile("0.5", "ccs_webhook_answer_seconds"), "p50"),
                Query(quantile("0.99", "ccs_webhook_answer_seconds"), "p99"),
            ]),
        Panel(
            "Endpoints and requests in flight", unit: "short",
            [
                Query("sum by (state) (ccs_webhook_endpoints\(own))", "{{state}}"),
                Query("sum(ccs_webhook_requests_open\(own))", "in flight"),
            ]),
    ]

    private static let cluster = [
        Panel(
            "Partitions by owner", unit: "short",
            [Query(#"ccs_cluster_partitions{instance=~"$instance",role="owning"}"#, "{{instance}}")],
            "Without a cluster all panels of this row are 0. A partition is never owned twice."),
        Panel(
            "Records behind the log", unit: "short",
            [Query("ccs_cluster_records_behind\(own)", "{{instance}}")],
            "A node that is behind takes longer to take over."),
        Panel(
            "Confirmation of frames", unit: "s",
            [
                Query(quantile("0.5", "ccs_cluster_confirm_seconds"), "p50"),
                Query(quantile("0.99", "ccs_cluster_confirm_seconds"), "p99"),
            ], "Each acknowledgement waits for one."),
        Panel(
            "Alarms and nodes that are gone", unit: "short",
            [
                Query("sum by (cause) (ccs_cluster_alarms\(own)) > 0", "{{cause}}"),
                Query(
                    #"max by (status) (ccs_cluster_members{instance=~"$instance",status=~"suspected|gone"}) > 0"#,
                    "{{status}}"),
            ]),
        Panel(
            "Traffic between nodes", unit: "Bps",
            [
                Query(rate("ccs_cluster_parcel_bytes_total", by: "direction"), "{{direction}}"),
                Query(rate("ccs_cluster_frame_bytes_total", by: "kind"), "frames {{kind}}"),
            ]),
        Panel(
            "Requests that reached no owner", unit: "ops",
            [Query("\(rate("ccs_cluster_unreached_total", by: "reason")) > 0", "{{reason}}")]),
    ]
}
