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
        /// Whether its cells hold microseconds; those of a histogram always do.
        var isMicroseconds = false
    }

    private static func label(_ name: String, _ values: [String]) -> Label {
        Label(name: name, values: values)
    }

    /// The table, in the order of the cases; a test compares them.
    static let rows: [Row] = traffic + messageRows + inside + gateway + webhooks + cluster + process

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
            help:
                "Connections closed at accept, which do not count as accepted, or before their login for newer ones.",
            labels: [
                label("listener", listeners), label("reason", ConnectionRefusal.allCases.map(\.rawValue)),
            ]),
        Row(
            metric: .beforeLoginBytes, name: "ccs_before_login_bytes", kind: .gauge,
            help: "Memory of the connections that have not logged in, at what one of them costs at most."),
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
            metric: .senderMessages, name: "ccs_sender_messages_total", kind: .counter,
            help:
                "Messages by sender, for the busiest senders; `other` has the messages of a sender while it is not one of them. `refused` has all refused requests, also those that never became a message.",
            labels: [label("sender", []), label("direction", []), label("milestone", [])]),
        Row(
            metric: .messagesWaiting, name: "ccs_messages_waiting", kind: .gauge,
            help: "Stored messages that have not reached their recipient and are not at an end.",
            labels: [label("direction", directions)]),
        Row(
            metric: .ackTimes, name: "ccs_ack_seconds", kind: .histogram,
            help:
                "Time between the arrival of a message over XMPP or MCS and its acknowledgement: downstream to an app server, upstream to a device.",
            labels: [label("direction", directions)], bounds: innerBounds),
        Row(
            metric: .deliveryTimes, name: "ccs_delivery_seconds", kind: .histogram,
            help:
                "Time between the acceptance of a stored message and the acknowledgement of its device, which was connected all the time.",
            bounds: innerBounds),
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
            metric: .httpTimes, name: "ccs_http_request_seconds", kind: .histogram,
            help: "Time between the arrival of a complete HTTP request and its response.",
            labels: [label("endpoint", httpEndpoints), label("class", statusClasses)],
            bounds: latencyBounds),
        Row(
            metric: .devices, name: "ccs_devices", kind: .gauge,
            help: "Stored devices, by a count that takes minutes if there are millions."),
        Row(
            metric: .registrations, name: "ccs_registrations", kind: .gauge,
            help: "Stored registrations of apps, counted together with the devices."),
        Row(
            metric: .senders, name: "ccs_senders", kind: .gauge, help: "Senders."),
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
            help: "App instances whose mailboxes messages to topics and conditions have entered."),
        Row(
            metric: .topicMessagesOpen, name: "ccs_topic_messages_open", kind: .gauge,
            help:
                "Messages to topics and conditions that not all partitions have, and batches of connected devices that are being sent them."
        ),
    ]

    private static let inside: [Row] = [
        Row(
            metric: .storeCommitTimes, name: "ccs_store_commit_seconds", kind: .histogram,
            help: "Time of commits of the store; each one syncs many writes at once.", bounds: innerBounds),
        Row(
            metric: .storeSyncTimes, name: "ccs_store_sync_seconds", kind: .histogram,
            help: "Time of syncs of the journal to the disk.", bounds: innerBounds),
        Row(
            metric: .storeQueryTimes, name: "ccs_store_query_seconds", kind: .histogram,
            help: "Time between a query to the store and its answer.",
            labels: [label("query", storeQueries)], bounds: innerBounds),
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
            metric: .storeHealthy, name: "ccs_store_healthy", kind: .gauge,
            help: "1 if the last commit succeeded, 0 while the store accepts no writes."),
        Row(
            metric: .storeDamagedTables, name: "ccs_store_damaged_tables", kind: .gauge,
            help:
                "Tables of the store with blocks that cannot be read; 0 if none is known. A restart keeps it."
        ),
        Row(
            metric: .storeScrubbedBytes, name: "ccs_store_scrubbed_bytes_total", kind: .counter,
            help: "Bytes of tables whose checksums were read in the background."),
        Row(
            metric: .storeScrubRemainingBytes, name: "ccs_store_scrub_remaining_bytes", kind: .gauge,
            help:
                "Bytes of tables that the present round of the scrub has still to read; 0 between two rounds."
        ),
        Row(
            metric: .storeBytes, name: "ccs_store_bytes", kind: .gauge,
            help: "Size of all files of the store, with the journal."),
        Row(
            metric: .journalBytes, name: "ccs_journal_bytes", kind: .gauge,
            help: "Size of the journal's files."),
        Row(
            metric: .storeSkippedRecords, name: "ccs_store_skipped_records_total", kind: .counter,
            help: "Times that a damaged record was skipped; ccsctl audit names these records."),
        Row(
            metric: .lastBackup, name: "ccs_last_backup_seconds", kind: .gauge,
            help: "When the last backup was made, in seconds since 1970; 0 if none was."),
        Row(
            metric: .diskFreeBytes, name: "ccs_disk_free_bytes", kind: .gauge,
            help: "Free bytes of the file system of data_directory."),
        Row(
            metric: .diskSizeBytes, name: "ccs_disk_size_bytes", kind: .gauge,
            help: "Size of the file system of data_directory."),
        Row(
            metric: .registryBytes, name: "ccs_registry_bytes", kind: .gauge,
            help: "Estimated bytes of devices, registrations, subscriptions, groups and senders."),
        Row(
            metric: .registryBytesLimit, name: "ccs_registry_bytes_limit", kind: .gauge,
            help: "Bytes at which the registry accepts nothing new; 0 if there is no limit."),
        Row(
            metric: .historySteps, name: "ccs_history_steps_total", kind: .counter,
            help: "Steps of messages that the message history has recorded."),
        Row(
            metric: .historyLeftOut, name: "ccs_history_left_out_total", kind: .counter,
            help:
                "Steps of messages that are missing in the message history: its disk failed, or was too slow."
        ),
        Row(
            metric: .historyFailures, name: "ccs_history_failures_total", kind: .counter,
            help: "Failures to write the message history; messages do not depend on it."),
        Row(
            metric: .historyBytes, name: "ccs_history_bytes", kind: .gauge,
            help: "Bytes of the message history on disk."),
        Row(
            metric: .reactorTurnTimes, name: "ccs_reactor_turn_seconds", kind: .histogram,
            help: "Time of the turns of the reactors; their sum is the time in which they were busy.",
            bounds: innerBounds),
        Row(
            metric: .logLinesSuppressed, name: "ccs_log_lines_suppressed_total", kind: .counter,
            help:
                "Log lines suppressed because their event repeated too fast, or lost because the log was not read."
        ),
        Row(
            metric: .ready, name: "ccs_ready", kind: .gauge,
            help: "1 while the server accepts messages, as /readyz reports, else 0."),
        Row(
            metric: .draining, name: "ccs_draining", kind: .gauge,
            help: "1 while connections are being drained, else 0."),
        Row(
            metric: .drained, name: "ccs_drained", kind: .gauge,
            help: "1 while the ports of clients are closed by ccsctl drain --hold, else 0."),
        Row(
            metric: .clockInDoubt, name: "ccs_clock_in_doubt", kind: .gauge,
            help: "1 while the wall clock is in doubt, else 0."),
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
            metric: .apnsCertificateNotAfter, name: "ccs_apns_certificate_not_after_seconds", kind: .gauge,
            help:
                "When the first certificate for APNs expires, in seconds since 1970; 0 if there is none."),
        Row(
            metric: .buildInfo, name: "ccs_build_info", kind: .gauge,
            help: "1, with the version of ccsd as a label.", labels: [label("version", [])]),
    ]

    /// The metrics of the process, with the names that all programs use for them.
    private static let process: [Row] = [
        Row(
            metric: .processCPU, name: "process_cpu_seconds_total", kind: .counter,
            help: "Processor time in user and kernel mode.", isMicroseconds: true),
        Row(
            metric: .processResidentMemory, name: "process_resident_memory_bytes", kind: .gauge,
            help: "Resident memory."),
        Row(
            metric: .processVirtualMemory, name: "process_virtual_memory_bytes", kind: .gauge,
            help: "Virtual memory."),
        Row(
            metric: .processStartTime, name: "process_start_time_seconds", kind: .gauge,
            help: "When the process started, in seconds since 1970."),
        Row(
            metric: .processOpenDescriptors, name: "process_open_fds", kind: .gauge,
            help: "Open file descriptors."),
        Row(
            metric: .processMaxDescriptors, name: "process_max_fds", kind: .gauge,
            help: "The limit of open file descriptors."),
    ]
}
