extension Metric {
    /// One row of the table.
    struct Row: Sendable {
        var metric: Metric
        var name: String
        var kind: Kind
        var help: String
        var labels: [Label] = []
        /// The bounds of a histogram in microseconds.
        var bounds: [Int] = []
    }

    private static func label(_ name: String, _ values: [String]) -> Label {
        Label(name: name, values: values)
    }

    /// The table, in the order of the cases; a test compares them.
    static let rows: [Row] = traffic + messageRows + inside + gateway

    private static let traffic: [Row] = [
        Row(
            metric: .connectionsOpen, name: "ccs_connections_open", kind: .gauge,
            help: "Open connections.", labels: [label("listener", listeners)]),
        Row(
            metric: .connectionsAccepted, name: "ccs_connections_accepted_total", kind: .counter,
            help: "Connections accepted.", labels: [label("listener", listeners)]),
        Row(
            metric: .connectionsClosed, name: "ccs_connections_closed_total", kind: .counter,
            help: "Connections closed, by reason.",
            labels: [label("reason", CloseReason.allCases.map(\.rawValue))]),
        Row(
            metric: .connectionsRefused, name: "ccs_connections_refused_total", kind: .counter,
            help: "Connections closed at accept; they do not count as accepted.",
            labels: [
                label("listener", listeners), label("reason", ConnectionRefusal.allCases.map(\.rawValue)),
            ]),
        Row(
            metric: .handshakes, name: "ccs_tls_handshakes_total", kind: .counter,
            help: "TLS handshakes, by result.", labels: [label("result", results)]),
        Row(
            metric: .receivedBytes, name: "ccs_received_bytes_total", kind: .counter,
            help: "Bytes received, after decryption.", labels: [label("listener", listeners)]),
        Row(
            metric: .sentBytes, name: "ccs_sent_bytes_total", kind: .counter,
            help: "Bytes sent, before encryption.", labels: [label("listener", listeners)]),
        Row(
            metric: .sessionsOpen, name: "ccs_sessions_open", kind: .gauge,
            help: "Logged-in peers.", labels: [label("kind", sessionKinds)]),
        Row(
            metric: .logins, name: "ccs_logins_total", kind: .counter,
            help: "Logins, by result.",
            labels: [label("kind", sessionKinds), label("result", results)]),
    ]

    private static let messageRows: [Row] = [
        Row(
            metric: .messages, name: "ccs_messages_total", kind: .counter,
            help: "Messages that reached a milestone.",
            labels: [label("direction", directions), label("milestone", milestones)]),
        Row(
            metric: .refusals, name: "ccs_refusals_total", kind: .counter,
            help: "Refused messages and requests, by interface and reason.",
            labels: [
                label("interface", RefusalInterface.allCases.map(\.rawValue)),
                label("reason", refusalReasons),
            ]),
        Row(
            metric: .upstreamDuplicates, name: "ccs_upstream_duplicates_total", kind: .counter,
            help: "Upstream messages dropped as duplicates, by their persistent ID."),
        Row(
            metric: .unknownAcks, name: "ccs_unknown_acks_total", kind: .counter,
            help: "Acks of app servers for messages not sent over that connection."),
        Row(
            metric: .keepalives, name: "ccs_keepalives_total", kind: .counter,
            help: "Keepalives and pings sent to idle peers.", labels: [label("kind", sessionKinds)]),
        Row(
            metric: .inconsistentLogins, name: "ccs_inconsistent_logins_total", kind: .counter,
            help: "Logins of devices whose fields contradict each other; they are served nevertheless."),
        Row(
            metric: .invariantFailures, name: "ccs_invariant_failures_total", kind: .counter,
            help:
                "Invariants that failed, by what was ended; each is logged, and should be reported as a bug.",
            labels: [label("ended", ["session", "batch"])]),
        Row(
            metric: .httpRequests, name: "ccs_http_requests_total", kind: .counter,
            help: "HTTP requests responded to."),
        Row(
            metric: .httpResponses, name: "ccs_http_responses_total", kind: .counter,
            help: "HTTP responses; endpoint `none`: malformed requests and unknown paths.",
            labels: [label("endpoint", httpEndpoints), label("status", httpStatuses.map { "\($0)" })]),
        Row(
            metric: .devicesExpired, name: "ccs_devices_expired_total", kind: .counter,
            help: "Devices forgotten because their last contact was too long ago."),
        Row(
            metric: .devicesUnused, name: "ccs_devices_unused_total", kind: .counter,
            help: "Devices forgotten because they neither logged in nor registered after their check-in."),
        Row(
            metric: .topicMessages, name: "ccs_topic_messages_total", kind: .counter,
            help: "Messages to topics and conditions accepted."),
        Row(
            metric: .topicRecipients, name: "ccs_topic_recipients_total", kind: .counter,
            help: "Registrations that messages to topics and conditions were sent to."),
        Row(
            metric: .topicMessagesOpen, name: "ccs_topic_messages_open", kind: .gauge,
            help: "Messages to topics and conditions in progress."),
    ]

    private static let inside: [Row] = [
        Row(
            metric: .storeCommits, name: "ccs_store_commits_total", kind: .counter,
            help: "Commits of the store; each one syncs many writes at once."),
        Row(
            metric: .storeCommitMicroseconds, name: "ccs_store_commit_microseconds_total", kind: .counter,
            help: "Time spent in commits."),
        Row(
            metric: .storeWrites, name: "ccs_store_writes_total", kind: .counter,
            help: "Write batches committed."),
        Row(
            metric: .storeWaitingWrites, name: "ccs_store_waiting_writes", kind: .gauge,
            help: "Write batches waiting for the store."),
        Row(
            metric: .storeFailures, name: "ccs_store_failures_total", kind: .counter,
            help: "Commits or reads that failed."),
        Row(
            metric: .registryBytes, name: "ccs_registry_bytes", kind: .gauge,
            help: "Estimated bytes of devices, registrations, subscriptions, groups and senders."),
        Row(
            metric: .registryBytesLimit, name: "ccs_registry_bytes_limit", kind: .gauge,
            help: "Bytes at which the registry accepts nothing new; 0 if there is no limit."),
        Row(
            metric: .reactorTurns, name: "ccs_reactor_turns_total", kind: .counter,
            help: "Turns of the reactors."),
        Row(
            metric: .reactorBusyMicroseconds, name: "ccs_reactor_busy_microseconds_total", kind: .counter,
            help: "Time in which the reactors were busy."),
        Row(
            metric: .logLinesSuppressed, name: "ccs_log_lines_suppressed_total", kind: .counter,
            help: "Log lines suppressed because their event repeated too fast."),
        Row(
            metric: .draining, name: "ccs_draining", kind: .gauge,
            help: "1 while connections are being drained, else 0."),
        Row(
            metric: .clockInDoubt, name: "ccs_clock_in_doubt", kind: .gauge,
            help: "1 while the wall clock is in doubt and nothing expires, else 0."),
        Row(
            metric: .configReloads, name: "ccs_config_reloads_total", kind: .counter,
            help: "Reloads of configuration and certificates.", labels: [label("result", results)]),
        Row(
            metric: .configReloadSuccess, name: "ccs_config_reload_success", kind: .gauge,
            help: "1 if the last reload succeeded, 0 if the old settings stay in effect."),
        Row(
            metric: .certificateNotAfter, name: "ccs_certificate_not_after_seconds", kind: .gauge,
            help: "When the certificate in use expires, in seconds since 1970."),
        Row(
            metric: .apnsCredentialDaysLeft, name: "ccs_apns_credential_days_left", kind: .gauge,
            help:
                "Days until the first certificate for APNs expires, less than 0 afterwards; 36500 if there is none."
        ),
        Row(
            metric: .startTime, name: "ccs_start_time_seconds", kind: .gauge,
            help: "When the process started, in seconds since 1970."),
    ]
}
