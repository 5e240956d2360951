import Catalogue

/// Series with which one alert must fire, and others with which it must not.
struct AlertSample {
    /// The name of the alert.
    var alert: String
    /// Series without the labels `job` and `instance`, and their values, one a minute.
    var firing: [(String, String)]
    var quiet: [(String, String)]
    /// Labels of the alert beside its severity.
    var labels: [String: String]
    /// The values of the templates in its texts.
    var templates: [String: String] = [:]
    /// When the rules are evaluated, in minutes.
    var minutes = 120

    private static let own = ["job": "ccsd", "instance": "a"]

    private init(
        _ alert: String, _ firing: [(String, String)], not quiet: [(String, String)],
        labels: [String: String] = own, templates: [String: String] = [:], minutes: Int = 120
    ) {
        self.alert = alert
        self.firing = firing
        self.quiet = quiet
        self.labels = labels
        self.templates = templates
        self.minutes = minutes
    }

    /// A gauge that is 0 while something is wrong, or 1.
    private static func flag(_ alert: String, _ metric: String, firesAt value: Int) -> AlertSample {
        AlertSample(alert, [(metric, "\(value)x130")], not: [(metric, "\(1 - value)x130")])
    }

    /// A histogram whose durations are all between two bounds.
    private static func slow(
        _ alert: String, _ metric: String, _ fast: String, _ slow: String, direction: String? = nil
    ) -> AlertSample {
        func series(_ first: Int) -> [(String, String)] {
            [(fast, first), (slow, 60), ("+Inf", 60)].map { bound, count in
                let more = direction.map { ",direction=\"\($0)\"" } ?? ""
                return ("\(metric)_bucket{le=\"\(bound)\"\(more)}", "0+\(count)x130")
            }
        }
        var labels = ["instance": "a"]
        labels["direction"] = direction
        return AlertSample(
            alert, series(0), not: series(60), labels: labels,
            templates: direction.map { ["{{ $labels.direction }}": $0] } ?? [:])
    }

    /// All samples; a test compares their names with the table.
    static let all = [
        flag("CcsdDown", "up", firesAt: 0), flag("CcsdNotReady", "ccs_ready", firesAt: 0),
        AlertSample(
            "CcsdRestarting", [("process_start_time_seconds", "1 2 3 4 5x130")],
            not: [("process_start_time_seconds", "1 2 3 4x130")], templates: ["{{ $value }}": "4"],
            minutes: 20),
        AlertSample(
            "CcsdInvariantBroken", [("ccs_invariant_failures_total{ended=\"batch\"}", "0x60 1x70")],
            not: [("ccs_invariant_failures_total{ended=\"batch\"}", "1x130")],
            labels: own.merging(["ended": "batch"]) { $1 }, templates: ["{{ $labels.ended }}": "batch"],
            minutes: 90),
        flag("CcsdClockInDoubt", "ccs_clock_in_doubt", firesAt: 1),
        flag("CcsdReloadFailed", "ccs_config_reload_success", firesAt: 0),
        AlertSample(
            "CcsdPartitionUnowned", [("ccs_cluster_partitions_unowned", "2x130")],
            not: [("ccs_cluster_partitions_unowned", "0x130")], templates: ["{{ $value }}": "2"]),
        flag("CcsdLogDisconnected", "ccs_cluster_log_disconnected", firesAt: 1),
        AlertSample(
            "CcsdNodeGone", [("ccs_cluster_alarms{cause=\"node_silent\"}", "1x130")],
            not: [
                ("ccs_cluster_alarms{cause=\"node_silent\"}", "0x130"),
                ("ccs_cluster_alarms{cause=\"clock\"}", "2x130"),
            ], labels: own.merging(["cause": "node_silent"]) { $1 }, templates: ["{{ $value }}": "1"]),
        AlertSample(
            "CcsdLogDegraded", [("ccs_cluster_alarms{cause=\"log_degraded\"}", "1x130")],
            not: [
                ("ccs_cluster_alarms{cause=\"log_degraded\"}", "0x130"),
                ("ccs_cluster_alarms{cause=\"stream_unfit\"}", "2x130"),
            ], labels: own.merging(["cause": "log_degraded"]) { $1 }),
        AlertSample(
            "CcsdNodeBehind", [("ccs_cluster_records_behind", "900+100x130")],
            not: [("ccs_cluster_records_behind", "90000-100x130")], templates: ["{{ $value }}": "12900"]),
        AlertSample(
            "CcsdClusterAlarm", [("ccs_cluster_alarms{cause=\"clock\"}", "1x130")],
            not: [
                ("ccs_cluster_alarms{cause=\"clock\"}", "0x130"),
                ("ccs_cluster_alarms{cause=\"node_silent\"}", "1x130"),
            ], labels: own.merging(["cause": "clock"]) { $1 },
            templates: ["{{ $value }}": "1", "{{ $labels.cause }}": "clock"]),
        slow("CcsdSlowConfirmations", "ccs_cluster_confirm_seconds", "0.5", "1"),
        AlertSample(
            "CcsdUnreachedOwners", [("ccs_cluster_unreached_total{reason=\"no_owner\"}", "0+600x130")],
            not: [("ccs_cluster_unreached_total{reason=\"no_owner\"}", "0+30x130")],
            labels: ["instance": "a", "reason": "no_owner"],
            templates: ["{{ $value | humanize }}": "10", "{{ $labels.reason }}": "no_owner"]),
        flag("CcsdStoreFailing", "ccs_store_healthy", firesAt: 0),
        AlertSample(
            "CcsdStoreDamaged", [("ccs_store_damaged_tables", "1x130")],
            not: [("ccs_store_damaged_tables", "0x130")], templates: ["{{ $value }}": "1"]),
        AlertSample(
            "CcsdDiskLow", [("ccs_disk_free_bytes", "9x130"), ("ccs_disk_size_bytes", "100x130")],
            not: [("ccs_disk_free_bytes", "11x130"), ("ccs_disk_size_bytes", "100x130")]),
        AlertSample(
            "CcsdDiskFilling",
            [("ccs_disk_free_bytes", "1000000-5000x130"), ("ccs_store_bytes", "0+5000x130")],
            not: [("ccs_disk_free_bytes", "1000000-5000x130"), ("ccs_store_bytes", "7x130")]),
        slow("CcsdSlowSync", "ccs_store_sync_seconds", "0.5", "1"),
        AlertSample(
            "CcsdRegistryNearlyFull",
            [("ccs_registry_bytes", "95x130"), ("ccs_registry_bytes_limit", "100x130")],
            not: [("ccs_registry_bytes", "95x130"), ("ccs_registry_bytes_limit", "0x130")]),
        // The samples begin at the time 0, at which a backup of an hour ago has a negative time.
        AlertSample(
            "CcsdBackupOld", [("ccs_last_backup_seconds", "-172800x130")],
            not: [("ccs_last_backup_seconds", "-3600x130")]),
        slow("CcsdSlowAcks", "ccs_ack_seconds", "1", "2.5", direction: "downstream"),
        slow("CcsdSlowDelivery", "ccs_delivery_seconds", "5", "10"),
        slow("CcsdSlowTurns", "ccs_reactor_turn_seconds", "0.1", "0.25"),
        AlertSample(
            "CcsdUpstreamPilingUp",
            [("ccs_messages_waiting{direction=\"upstream\"}", "9000+100x130")],
            not: [("ccs_messages_waiting{direction=\"upstream\"}", "90000x130")],
            labels: own.merging(["direction": "upstream"]) { $1 }, templates: ["{{ $value }}": "21000"]),
        AlertSample(
            "CcsdManyRefusals", refusals(20), not: refusals(5), labels: ["instance": "a"]),
        AlertSample(
            "CcsdHTTPErrors", responses("POST /fcm/send"), not: responses("GET /readyz"),
            labels: ["instance": "a"]),
        webhooks("CcsdWebhookGone", "gone"), webhooks("CcsdWebhookFailing", "paused"),
        AlertSample(
            "CcsdCertificateExpiring", [("ccs_certificate_not_after_seconds", "93600x130")],
            not: [("ccs_certificate_not_after_seconds", "2000000x130")],
            templates: ["{{ $value | humanizeDuration }}": "1d 0h 0m 0s"]),
        AlertSample(
            "CcsdAPNsCertificateExpiring", [("ccs_apns_certificate_not_after_seconds", "93600x130")],
            not: [("ccs_apns_certificate_not_after_seconds", "0x130")],
            templates: ["{{ $value | humanizeDuration }}": "1d 0h 0m 0s"]),
        AlertSample(
            "CcsdAPNsUnreachable", gateway(connections: 0), not: gateway(connections: 1),
            labels: own.merging(["result": "failed"]) { $1 }),
        AlertSample(
            "CcsdDescriptorsLow", [("process_open_fds", "90x130"), ("process_max_fds", "100x130")],
            not: [("process_open_fds", "80x130"), ("process_max_fds", "100x130")],
            templates: ["{{ $value | humanizePercentage }}": "90%"]),
        AlertSample(
            "CcsdFailedLogins", [("ccs_logins_total{kind=\"device\",result=\"failed\"}", "0+600x130")],
            not: [
                ("ccs_logins_total{kind=\"device\",result=\"failed\"}", "0+60x130"),
                ("ccs_logins_total{kind=\"device\",result=\"ok\"}", "0+600x130"),
            ], labels: ["instance": "a", "kind": "device"],
            templates: ["{{ $value | humanize }}": "10", "{{ $labels.kind }}": "device"]),
        AlertSample(
            "CcsdConnectionsRefused",
            [("ccs_connections_refused_total{reason=\"descriptors\"}", "0+600x130")],
            not: [("ccs_connections_refused_total{reason=\"descriptors\"}", "0+30x130")],
            labels: ["instance": "a", "reason": "descriptors"],
            templates: ["{{ $value | humanize }}": "10", "{{ $labels.reason }}": "descriptors"]),
    ]

    private static func refusals(_ refused: Int) -> [(String, String)] {
        [("accepted", 80), ("refused", refused)].map {
            ("ccs_messages_total{direction=\"downstream\",milestone=\"\($0)\"}", "0+\($1)x130")
        }
    }

    private static func responses(_ endpoint: String) -> [(String, String)] {
        [("2xx", 90), ("5xx", 10)].map {
            ("ccs_http_request_seconds_count{class=\"\($0)\",endpoint=\"\(endpoint)\"}", "0+\($1)x130")
        }
    }

    private static func gateway(connections: Int) -> [(String, String)] {
        [
            ("ccs_apns_connects_total{result=\"failed\"}", "0+1x130"),
            ("ccs_apns_connections{environment=\"production\"}", "\(connections)x130"),
            ("ccs_apns_queue", "5x130"),
        ]
    }

    private static func webhooks(_ alert: String, _ state: String) -> AlertSample {
        AlertSample(
            alert, [("ccs_webhook_endpoints{state=\"\(state)\"}", "3x130")],
            not: [
                ("ccs_webhook_endpoints{state=\"\(state)\"}", "0x130"),
                ("ccs_webhook_endpoints{state=\"open\"}", "3x130"),
            ], labels: own.merging(["state": state]) { $1 }, templates: ["{{ $value }}": "3"])
    }

    // MARK: The test file of promtool

    /// Returns the unit tests for a rule file.
    static func unitTests(of rules: String, _ samples: [AlertSample]) -> String {
        "rule_files: [\"\(rules)\"]\nevaluation_interval: 1m\ntests:\n"
            + samples.map { $0.test($0.firing, fires: true) + $0.test($0.quiet, fires: false) }.joined()
    }

    private func test(_ series: [(String, String)], fires: Bool) -> String {
        let rule = Alert.all.first { $0.name == alert }
        var text = "  - interval: 1m\n    input_series:\n"
        for (name, values) in series {
            let own = "job=\"ccsd\",instance=\"a\""
            let full = name.hasSuffix("}") ? name.dropLast() + ",\(own)}" : "\(name){\(own)}"
            text += "      - series: '\(full)'\n        values: '\(values)'\n"
        }
        text += "    alert_rule_test:\n      - eval_time: \(minutes)m\n        alertname: \(alert)\n"
        guard fires, let rule else { return text + "        exp_alerts: []\n" }
        text += "        exp_alerts:\n          - exp_labels:\n"
        for (label, value) in labels.sorted(by: { $0.key < $1.key }) {
            text += "              \(label): \"\(value)\"\n"
        }
        text += "              severity: \(rule.severity.rawValue)\n            exp_annotations:\n"
        text += "              summary: \(quoted(rule.summary))\n"
        return text + "              description: \(quoted(rule.action))\n"
    }

    private func quoted(_ text: String) -> String {
        let filled = templates.reduce(text) { $0.replacing($1.key, with: $1.value) }
        return "'\(filled.replacing("'", with: "''"))'"
    }
}
