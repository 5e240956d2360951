/// A key of the configuration: its name in `ccsd.yaml`; with dashes a flag, as `CCSD_…` an environment variable.
public enum ConfigKey: String, CaseIterable, Sendable {
    case format
    case dataDirectory = "data_directory"
    case listenAddress = "listen_address"
    case appServerPort = "app_server_port"
    case appServerPreproductionPort = "app_server_preproduction_port"
    case devicePort = "device_port"
    case httpsPort = "https_port"
    case adminPort = "admin_port"
    case adminAddress = "admin_address"
    case adminPlainHTTP = "admin_plain_http"
    case adminTLS = "admin_tls"
    case operatorAPI = "operator_api"
    case certificateFile = "certificate_file"
    case keyFile = "key_file"
    case hostNames = "host_names"
    case advertisedHost = "advertised_host"
    case advertisedHTTPSPort = "advertised_https_port"
    case advertisedDevicePort = "advertised_device_port"
    case tlsMinimum = "tls_minimum"
    case proxyProtocolFrom = "proxy_protocol_from"
    case reactors
    case controlSocket = "control_socket"
    case logLevel = "log_level"
    case logFormat = "log_format"
    case pendingWindow = "pending_window"
    case keepaliveSeconds = "keepalive_seconds"
    case devicePingSeconds = "device_ping_seconds"
    case deviceHeartbeatSeconds = "device_heartbeat_seconds"
    case loginDeadlineSeconds = "login_deadline_seconds"
    case drainGraceSeconds = "drain_grace_seconds"
    case drainSpreadSeconds = "drain_spread_seconds"
    case shutdownSeconds = "shutdown_seconds"
    case deviceExpirySeconds = "device_expiry_seconds"
    case clockGraceSeconds = "clock_grace_seconds"
    case deviceMessagesPerMinute = "device_messages_per_minute"
    case deviceMessagesPerHour = "device_messages_per_hour"
    case senderMessagesPerMinute = "sender_messages_per_minute"
    case collapsibleBurst = "collapsible_burst"
    case collapsibleRefillSeconds = "collapsible_refill_seconds"
    case deviceUpstreamPerMinute = "device_upstream_per_minute"
    case senderUpstreamPerMinute = "sender_upstream_per_minute"
    case failedLoginsPerMinute = "failed_logins_per_minute"
    case failedLoginsPerAddress = "failed_logins_per_address"
    case anonymousPerAddress = "anonymous_per_address"
    case beforeLoginBytes = "before_login_bytes"
    case unauthenticatedRequestsPerAddress = "unauthenticated_requests_per_address"
    case unauthenticatedRequestsPerMinute = "unauthenticated_requests_per_minute"
    case apnsProductionAddress = "apns_production_address"
    case apnsSandboxAddress = "apns_sandbox_address"
    case apnsCAFile = "apns_ca_file"
    case apnsConnections = "apns_connections"
    case iosDataOnly = "ios_data_only"
    case collapseKeyToAPNs = "collapse_key_to_apns"
    case gcm2015Priority = "gcm_2015_priority"
    case webhookCAFile = "webhook_ca_file"
    case webhookPrivateAddresses = "webhook_private_addresses"
    case storePartitions = "store_partitions"
    case clusterDirectory = "cluster_directory"
    case testBench = "test_bench"
    case testClock = "test_clock"
    case historyHours = "history_hours"
    case historyBytes = "history_bytes"
    case registryBytes = "registry_bytes"
    case unusedDeviceSeconds = "unused_device_seconds"
    case topicChangesPerSecond = "topic_changes_per_second"
    case strictAcks = "strict_acks"
    case controlMessageID = "control_message_id"
    case lenientTimeToLive = "lenient_time_to_live"
    case reserveGCMPrefix = "reserve_gcm_prefix"
    case strictConditions = "strict_conditions"
    case topicPayloadBytes = "topic_payload_bytes"
    case scram
    case streamManagement = "stream_management"
    case idleNotifications = "idle_notifications"
    case corsOrigins = "cors_origins"

    /// The type, default and documentation of a key.
    public struct Entry: Sendable {
        public var type: ConfigType
        /// The default.
        public var preset: ConfigValue
        /// The unit of a number; empty if it has none.
        public var unit = ""
        /// A one-line description.
        public var help: String
        /// Why the key exists, or why its default is what it is.
        public var reason: String
        /// The version that added the key.
        public var since = "0.1.0"
        /// Whether SIGHUP applies a change; otherwise it needs a restart.
        public var isReloadable = false
    }

    /// The key's type, default and documentation.
    public var entry: Entry { Self.table[self] ?? Self.missing }

    /// The flag of `ccsd` that sets the key, with its dashes.
    public var flag: String { "--" + rawValue.map { $0 == "_" ? "-" : "\($0)" }.joined() }

    /// The environment variable that sets the key.
    public var variable: String { "CCSD_" + rawValue.uppercased() }

    private static let missing = Entry(type: .boolean, preset: .boolean(false), help: "", reason: "")

    private static let table: [ConfigKey: Entry] =
        endpoints
        .merging(runtime) { first, _ in first }
        .merging(rates) { first, _ in first }
        .merging(unauthenticated) { first, _ in first }
        .merging(protocols) { first, _ in first }
        .merging(apns) { first, _ in first }
        .merging(webhooks) { first, _ in first }
        .merging(cluster) { first, _ in first }
        .merging(history) { first, _ in first }
        .merging(testing) { first, _ in first }
}
