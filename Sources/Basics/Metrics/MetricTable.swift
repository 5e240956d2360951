extension Metric {
    /// One line of the table.
    struct Row: Sendable {
        var metric: Metric
        var name: String
        var kind: Kind
        var help: String
        var labels: [Label] = []
    }

    private static func label(_ name: String, _ values: [String]) -> Label {
        Label(name: name, values: values)
    }

    /// The table, in the order of the cases; a test compares them.
    static let rows: [Row] = traffic + messageRows + inside

    private static let traffic: [Row] = [
        Row(
            metric: .connectionsOpen, name: "ccs_connections_open", kind: .gauge,
            help: "Connections that are open now.", labels: [label("listener", listeners)]),
        Row(
            metric: .connectionsAccepted, name: "ccs_connections_accepted_total", kind: .counter,
            help: "Connections accepted.", labels: [label("listener", listeners)]),
        Row(
            metric: .connectionsClosed, name: "ccs_connections_closed_total", kind: .counter,
            help: "Connections that ended, by why.",
            labels: [label("reason", CloseReason.allCases.map(\.rawValue))]),
        Row(
            metric: .connectionsRefused, name: "ccs_connections_refused_total", kind: .counter,
            help: "Connections closed as soon as they were accepted; they are not among those accepted.",
            labels: [
                label("listener", listeners), label("reason", DoorRefusal.allCases.map(\.rawValue)),
            ]),
        Row(
            metric: .handshakes, name: "ccs_tls_handshakes_total", kind: .counter,
            help: "TLS handshakes, by how they ended.", labels: [label("result", results)]),
        Row(
            metric: .receivedBytes, name: "ccs_received_bytes_total", kind: .counter,
            help: "Bytes received, after decryption.", labels: [label("listener", listeners)]),
        Row(
            metric: .sentBytes, name: "ccs_sent_bytes_total", kind: .counter,
            help: "Bytes sent, before encryption.", labels: [label("listener", listeners)]),
        Row(
            metric: .sessionsOpen, name: "ccs_sessions_open", kind: .gauge,
            help: "Peers that are logged in now.", labels: [label("kind", sessionKinds)]),
        Row(
            metric: .logins, name: "ccs_logins_total", kind: .counter,
            help: "Logins, by how they ended.",
            labels: [label("kind", sessionKinds), label("result", results)]),
    ]

    private static let messageRows: [Row] = [
        Row(
            metric: .messages, name: "ccs_messages_total", kind: .counter,
            help: "Messages that passed a milestone.",
            labels: [label("direction", directions), label("milestone", milestones)]),
        Row(
            metric: .refusals, name: "ccs_refusals_total", kind: .counter,
            help: "Messages and requests of app servers refused, by interface and reason.",
            labels: [
                label("interface", RefusalInterface.allCases.map(\.rawValue)),
                label("reason", refusalReasons),
            ]),
        Row(
            metric: .upstreamDuplicates, name: "ccs_upstream_duplicates_total", kind: .counter,
            help: "Upstream messages dropped because their persistent id was known."),
        Row(
            metric: .unknownAcks, name: "ccs_unknown_acks_total", kind: .counter,
            help: "Acks of app servers for messages not sent over that connection."),
        Row(
            metric: .keepalives, name: "ccs_keepalives_total", kind: .counter,
            help: "Keepalives and pings sent to silent peers.", labels: [label("kind", sessionKinds)]),
        Row(
            metric: .oddLogins, name: "ccs_odd_logins_total", kind: .counter,
            help: "Logins of devices whose fields contradict each other; they are served all the same."),
        Row(
            metric: .invariantFailures, name: "ccs_invariant_failures_total", kind: .counter,
            help:
                "States found that cannot be, by what was ended for it; each is logged, and worth a report.",
            labels: [label("ended", ["session", "batch"])]),
        Row(
            metric: .httpRequests, name: "ccs_http_requests_total", kind: .counter,
            help: "HTTP requests answered."),
        Row(
            metric: .httpResponses, name: "ccs_http_responses_total", kind: .counter,
            help: "HTTP answers; without an endpoint are requests that cannot be read or lead nowhere.",
            labels: [label("endpoint", httpEndpoints), label("status", httpStatuses.map { "\($0)" })]),
        Row(
            metric: .devicesExpired, name: "ccs_devices_expired_total", kind: .counter,
            help: "Devices forgotten because they had not been in contact for too long."),
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
            help: "Messages to topics and conditions that are being sent out now."),
    ]

    private static let inside: [Row] = [
        Row(
            metric: .storeCommits, name: "ccs_store_commits_total", kind: .counter,
            help: "Commits of the store; each one is one sync for many writes."),
        Row(
            metric: .storeCommitMicroseconds, name: "ccs_store_commit_microseconds_total", kind: .counter,
            help: "Time spent in commits."),
        Row(
            metric: .storeWrites, name: "ccs_store_writes_total", kind: .counter,
            help: "Write batches committed."),
        Row(
            metric: .storeWaitingWrites, name: "ccs_store_waiting_writes", kind: .gauge,
            help: "Write batches that wait for the store."),
        Row(
            metric: .storeFailures, name: "ccs_store_failures_total", kind: .counter,
            help: "Commits or reads that failed."),
        Row(
            metric: .registryBytes, name: "ccs_registry_bytes", kind: .gauge,
            help: "Estimated bytes that devices, registrations, subscriptions, groups and senders take."),
        Row(
            metric: .registryBytesLimit, name: "ccs_registry_bytes_limit", kind: .gauge,
            help: "Bytes from which on nothing new is added to the registry; 0: no limit."),
        Row(
            metric: .reactorTurns, name: "ccs_reactor_turns_total", kind: .counter,
            help: "Turns of the reactors."),
        Row(
            metric: .reactorBusyMicroseconds, name: "ccs_reactor_busy_microseconds_total", kind: .counter,
            help: "Time that the reactors did not wait."),
        Row(
            metric: .logLinesSuppressed, name: "ccs_log_lines_suppressed_total", kind: .counter,
            help: "Log lines held back because their event repeated too fast."),
        Row(
            metric: .draining, name: "ccs_draining", kind: .gauge,
            help: "1 while connections are being drained, else 0."),
        Row(
            metric: .clockInDoubt, name: "ccs_clock_in_doubt", kind: .gauge,
            help: "1 while the wall clock is not believed and nothing ends by age, else 0."),
        Row(
            metric: .configReloads, name: "ccs_config_reloads_total", kind: .counter,
            help: "Reloads of configuration and certificates.", labels: [label("result", results)]),
        Row(
            metric: .configReloadSuccess, name: "ccs_config_reload_success", kind: .gauge,
            help: "1 if the last reload succeeded, 0 if the old settings stayed."),
        Row(
            metric: .certificateNotAfter, name: "ccs_certificate_not_after_seconds", kind: .gauge,
            help: "When the certificate in use expires, in seconds since 1970."),
        Row(
            metric: .startTime, name: "ccs_start_time_seconds", kind: .gauge,
            help: "When the process started, in seconds since 1970."),
    ]
}
