/// An alert rule for Prometheus, with what to do about it.
public struct Alert: Sendable {
    /// How urgent an alert is.
    public enum Severity: String, Sendable {
        /// Messages are refused or lost soon: someone has to act now.
        case critical
        /// Someone has to act within a day.
        case warning
    }

    /// The name, in the style of Prometheus.
    public var name: String
    public var severity: Severity
    /// The PromQL expression; it is true while something is wrong.
    public var expression: String
    /// How long the expression must be true, such as `5m`.
    public var duration: String
    /// What is wrong, in one sentence; may contain templates of Prometheus.
    public var summary: String
    /// What to do, in the order of the steps.
    public var action: String

    init(
        _ name: String, _ severity: Severity, _ expression: String, for duration: String, _ summary: String,
        action: String
    ) {
        self.name = name
        self.severity = severity
        self.expression = expression
        self.duration = duration
        self.summary = summary
        self.action = action
    }

    /// What is wrong and what to do, with the names of labels, and N for values, in place of templates.
    public var meaning: String {
        "\(summary) \(action)".replacing(/{{ *(?:\$labels\.(\w+)|\$value)[^}]*}}/) { match in
            match.1.map { $0.uppercased() } ?? "N"
        }
    }

    /// All alerts, the most urgent first.
    public static let all = service + cluster + storage + traffic + webhooks + limits
}

extension Alert {
    /// Whether the server works at all.
    private static let service = [
        Alert(
            "CcsdDown", .critical, #"up{job="ccsd"} == 0"#, for: "2m",
            "Prometheus cannot read the metrics of ccsd.",
            action:
                "Run systemctl status ccsd and journalctl -u ccsd -n 50: the exit code and its meaning are in the last lines (ccsctl explain CODE). If ccsd runs, check admin_port, admin_address and the firewall between it and Prometheus."
        ),
        Alert(
            "CcsdNotReady", .critical, "ccs_ready == 0", for: "2m",
            "ccsd accepts no messages: /readyz answers with 503.",
            action:
                "Run ccsctl health: it names the cause. If ccsd is draining or stopping, wait until it has stopped, and check that it starts again; if it is drained, run ccsctl drain --release."
        ),
        Alert(
            "CcsdRestarting", .critical, "changes(process_start_time_seconds{job=\"ccsd\"}[1h]) > 3",
            for: "0m", "ccsd has started {{ $value }} times within an hour.",
            action:
                "Run journalctl -u ccsd -p warning: the lines before each start give the reason. A stop by the watchdog means that a reactor did not answer; a kill for memory shows in journalctl -k."
        ),
        Alert(
            "CcsdInvariantBroken", .warning, "increase(ccs_invariant_failures_total[1h]) > 0", for: "0m",
            "An invariant of ccsd was broken, and a {{ $labels.ended }} was ended for it.",
            action:
                "No acknowledged message is lost. Look for invariant_broken in the log, run ccsctl audit, and report the lines as a bug."
        ),
        Alert(
            "CcsdClockInDoubt", .warning, "ccs_clock_in_doubt == 1", for: "5m",
            "The clock of the machine is implausible, or has jumped: devices do not expire, after a start nothing does.",
            action:
                "Run ccsctl clock show. Set the clock (chronyc tracking, timedatectl). If it is already correct, run ccsctl clock accept."
        ),
        Alert(
            "CcsdReloadFailed", .warning, "ccs_config_reload_success == 0", for: "10m",
            "The last reload failed: the old settings and certificates stay in use.",
            action: "Run ccsctl check: it names each mistake with its line. Mend it, then run ccsctl reload."
        ),
    ]

    /// Whether messages can be stored.
    private static let storage = [
        Alert(
            "CcsdStoreFailing", .critical, "ccs_store_healthy == 0", for: "1m",
            "The store accepts no writes: messages with a lifetime are refused.",
            action:
                "Look for store_failed in the log: its kind is the reason. full: free space. input_output: check the disk (dmesg, smartctl). damaged or corrupt: copy the folder and restore a backup. ccsd recovers by itself once writes succeed."
        ),
        Alert(
            "CcsdStoreDamaged", .critical, "ccs_store_damaged_tables > 0", for: "0m",
            "{{ $value }} tables of the store cannot be read: messages of some devices or senders are refused.",
            action:
                "Run ccsctl health: it names the first table, its column family, its partition and what is concerned. Copy the data directory, check the disk (dmesg, smartctl) and restore a backup. The state survives restarts; ccsd check --store ends it once everything can be read."
        ),
        Alert(
            "CcsdDiskLow", .critical, "ccs_disk_free_bytes / ccs_disk_size_bytes < 0.1", for: "5m",
            "Less than a tenth of the disk of data_directory is free.",
            action:
                "Free space or enlarge the file system: at 0 messages are refused. ccs_store_bytes shows the part of ccsd; if ccs_messages_waiting grows, recipients do not take their messages."
        ),
        Alert(
            "CcsdDiskFilling", .warning,
            "predict_linear(ccs_disk_free_bytes[1h], 4 * 3600) < 0 and deriv(ccs_store_bytes[1h]) > 0",
            for: "15m", "At the present rate the disk of data_directory is full within four hours.",
            action:
                "Find the sender in ccsctl top or the panel of the busiest senders, and the direction in ccs_messages_waiting. Limit the sender, or enlarge the file system."
        ),
        Alert(
            "CcsdSlowSync", .warning,
            "histogram_quantile(0.99, sum by (instance, le) (rate(ccs_store_sync_seconds_bucket[5m]))) > 0.5",
            for: "10m", "One sync in a hundred takes more than half a second; each delays acknowledgements.",
            action:
                "Look at the disk: iostat -x 5, other writers, snapshots or backups, a degraded array. Move data_directory to a disk of its own with a write cache that survives power loss."
        ),
        Alert(
            "CcsdRegistryNearlyFull", .warning,
            "ccs_registry_bytes / (ccs_registry_bytes_limit > 0) > 0.9", for: "15m",
            "The registry has reached nine tenths of registry_bytes; at the limit no device is added.",
            action:
                "Raise registry_bytes and run ccsctl reload, or lower device_expiry_seconds. If ccs_devices grows fast, look at ccs_refusals_total for too_many_unauthenticated: a client may be creating devices."
        ),
        Alert(
            "CcsdBackupOld", .warning, "time() - ccs_last_backup_seconds > 2 * 86400", for: "1h",
            "The last backup was made more than two days ago, or none was ever made.",
            action:
                "Look for backup_failed in the log and at the timer that runs ccsctl backup. A restored server counts from the backup before the one it was restored from: make a new one. If the machine is backed up in another way, silence this alert."
        ),
    ]

    /// Whether messages pass in time.
    private static let traffic = [
        Alert(
            "CcsdSlowAcks", .warning,
            "histogram_quantile(0.99, sum by (instance, direction, le) (rate(ccs_ack_seconds_bucket[5m]))) > 1",
            for: "10m",
            "One {{ $labels.direction }} message in a hundred is acknowledged only after a second.",
            action:
                "Compare ccs_store_sync_seconds (the disk) with ccs_reactor_turn_seconds (the processor). If both are low, app servers send more than their window: ccsctl top shows the busiest."
        ),
        Alert(
            "CcsdSlowDelivery", .warning,
            "histogram_quantile(0.5, sum by (instance, le) (rate(ccs_delivery_seconds_bucket[10m]))) > 5",
            for: "15m", "Half of the messages to connected devices take more than five seconds.",
            action:
                "Devices acknowledge late: check the network between them and ccsd (proxy, NAT, mobile operator), and ccs_connections_closed_total for dead_peer. ccsctl devices trace TOKEN shows the steps of one device."
        ),
        Alert(
            "CcsdSlowTurns", .warning,
            "histogram_quantile(0.99, sum by (instance, le) (rate(ccs_reactor_turn_seconds_bucket[5m]))) > 0.1",
            for: "10m",
            "One turn of the reactors in a hundred takes more than 0.1 s: everything on them waits.",
            action:
                "ccsctl top shows the rates. Add processors (reactors follows their number), or spread the senders over several servers."
        ),
        Alert(
            "CcsdUpstreamPilingUp", .warning,
            #"ccs_messages_waiting{direction="upstream"} > 10000 and deriv(ccs_messages_waiting{direction="upstream"}[30m]) > 0"#,
            for: "30m",
            "{{ $value }} messages from devices wait for app servers, and more arrive than leave.",
            action:
                "Run ccsctl sessions list: is an app server of each sender connected? If it is, it does not acknowledge (ccs_unknown_acks_total) or is too slow. Messages expire after their lifetime, at most a day."
        ),
        Alert(
            "CcsdManyRefusals", .warning,
            #"sum by (instance) (rate(ccs_messages_total{direction="downstream",milestone="refused"}[10m])) / sum by (instance) (rate(ccs_messages_total{direction="downstream",milestone=~"accepted|refused"}[10m])) > 0.1"#,
            for: "15m", "More than a tenth of the messages to devices are refused.",
            action:
                "The reasons are in ccs_refusals_total, the senders in ccs_sender_messages_total and ccsctl top. not_registered: the app server keeps old tokens. sender_rate_exceeded, device_rate_exceeded: it sends too much. ccsctl explain WORD explains each."
        ),
        Alert(
            "CcsdHTTPErrors", .warning,
            #"sum by (instance) (rate(ccs_http_request_seconds_count{class="5xx",endpoint!="GET /readyz"}[5m])) / sum by (instance) (rate(ccs_http_request_seconds_count[5m])) > 0.05"#,
            for: "10m", "More than one HTTP request in twenty is answered with a 5xx status.",
            action:
                "ccs_http_responses_total names the endpoints and statuses. 503: the store or the registry refuses (ccsctl health). 500: look for errors in the log and report them as a bug."
        ),
    ]

    /// What is used up or expires.
    private static let limits = [
        Alert(
            "CcsdCertificateExpiring", .warning,
            "ccs_certificate_not_after_seconds - time() < 14 * 86400", for: "1h",
            "The TLS certificate expires in {{ $value | humanizeDuration }}.",
            action:
                "Renew it, then run ccsctl reload. A certificate of ccsd's own CA is renewed by ccsd: then look for certificate in the log."
        ),
        Alert(
            "CcsdAPNsCertificateExpiring", .warning,
            "(ccs_apns_certificate_not_after_seconds > 0) - time() < 14 * 86400", for: "1h",
            "A certificate for APNs expires in {{ $value | humanizeDuration }}.",
            action:
                "ccsctl apns list shows which one. Create a new certificate, or better a key, at Apple, add it with ccsctl apns add, and test it with ccsctl apns test."
        ),
        Alert(
            "CcsdAPNsUnreachable", .warning,
            #"rate(ccs_apns_connects_total{result="failed"}[10m]) > 0 and on (instance) sum by (instance) (ccs_apns_connections) == 0 and on (instance) ccs_apns_queue > 0"#,
            for: "10m", "ccsd cannot connect to Apple, and messages to iOS apps wait.",
            action:
                "Look for apns_connect_failed in the log. Port 443 of api.push.apple.com must be reachable from this machine; a proxy that replaces certificates is refused."
        ),
        Alert(
            "CcsdDescriptorsLow", .warning, "process_open_fds{job=\"ccsd\"} / process_max_fds > 0.8",
            for: "5m",
            "{{ $value | humanizePercentage }} of the file descriptors are in use.",
            action:
                "Raise LimitNOFILE in the unit (systemctl edit ccsd) and restart. If ccs_sessions_open is far below ccs_connections_open, peers connect without logging in: lower anonymous_per_address."
        ),
        Alert(
            "CcsdFailedLogins", .warning,
            #"sum by (instance, kind) (rate(ccs_logins_total{result="failed"}[5m])) > 5"#, for: "10m",
            "{{ $value | humanize }} logins a second fail ({{ $labels.kind }}).",
            action:
                "Look for login_refused in the log: it has the addresses and reasons. After a key rotation an app server may still use the old key. Guessing peers are limited by failed_logins_per_minute and failed_logins_per_address."
        ),
        Alert(
            "CcsdConnectionsRefused", .warning,
            "sum by (instance, reason) (rate(ccs_connections_refused_total[5m])) > 1", for: "10m",
            "{{ $value | humanize }} connections a second are refused ({{ $labels.reason }}).",
            action:
                "ccsctl explain {{ $labels.reason }} gives the meaning and the setting to change. descriptors: see CcsdDescriptorsLow."
        ),
    ]
}
