public import Basics
import Catalogue

extension Configuration {
    /// Lowest level that is logged.
    public var logLevel: Log.Level { Log.Level(word: word(.logLevel)) ?? .info }
    /// Format of log lines.
    public var logFormat: Log.Format { Log.Format(rawValue: word(.logFormat)) ?? .text }
    /// Messages sent but not yet acknowledged on one connection, in each direction.
    public var pendingWindow: Int { number(.pendingWindow) }
    /// Idle seconds after which an app server is sent a single space.
    public var keepaliveSeconds: Int { number(.keepaliveSeconds) }
    /// Idle seconds after which a device is pinged.
    public var devicePingSeconds: Int { number(.devicePingSeconds) }
    /// Seconds without contact after which a device expires; 0 disables expiry.
    public var deviceExpirySeconds: Int { number(.deviceExpirySeconds) }
    /// Seconds after which a device that was never used is removed; 0 disables the removal.
    public var unusedDeviceSeconds: Int { number(.unusedDeviceSeconds) }
    /// Seconds of uptime after which a doubtful clock is trusted; 0 disables this.
    public var clockGraceSeconds: Int { number(.clockGraceSeconds) }
    /// Heartbeat interval in seconds that devices are asked to use; 0 leaves them their own.
    public var deviceHeartbeatSeconds: Int { number(.deviceHeartbeatSeconds) }
    /// Seconds from the end of the TLS handshake to the end of the login.
    public var loginDeadlineSeconds: Int { number(.loginDeadlineSeconds) }
    /// Seconds between the draining notice and the first close.
    public var drainGraceSeconds: Int { number(.drainGraceSeconds) }
    /// Seconds over which the closes of a drain are spread.
    public var drainSpreadSeconds: Int { number(.drainSpreadSeconds) }
    /// Maximum seconds of a shutdown.
    public var shutdownSeconds: Int { number(.shutdownSeconds) }
    /// Whether an unknown ack is answered with BAD_ACK.
    public var strictAcks: Bool { self[.strictAcks] == .boolean(true) }
    /// Whether control messages have a message_id.
    public var controlMessageID: Bool { self[.controlMessageID] == .boolean(true) }
    /// Whether `time_to_live` may be text.
    public var lenientTimeToLive: Bool { self[.lenientTimeToLive] == .boolean(true) }
    /// Whether all data keys that begin with `gcm` are reserved.
    public var reserveGCMPrefix: Bool { self[.reserveGCMPrefix] == .boolean(true) }
    /// Host name of this server that check-in sends to browsers; empty sends none.
    public var advertisedHost: String { word(.advertisedHost) }
    /// Public port of check-in and registration.
    public var advertisedHTTPSPort: Int { number(.advertisedHTTPSPort) }
    /// Public port of devices.
    public var advertisedDevicePort: Int { number(.advertisedDevicePort) }
    /// Whether XEP-0198 is offered.
    public var streamManagement: Bool { self[.streamManagement] == .boolean(true) }
    /// Whether devices are asked for their idle state.
    public var idleNotifications: Bool { self[.idleNotifications] == .boolean(true) }
    /// Whether SCRAM-SHA-256 is offered.
    public var scram: Bool { self[.scram] == .boolean(true) }

    /// Messages to one device per minute; here and below 0 disables the limit.
    public var deviceMessagesPerMinute: Int { number(.deviceMessagesPerMinute) }
    /// Messages to one device per hour.
    public var deviceMessagesPerHour: Int { number(.deviceMessagesPerHour) }
    /// Messages of one sender per minute.
    public var senderMessagesPerMinute: Int { number(.senderMessagesPerMinute) }
    /// Messages with a collapse key that one app on one device gets at once.
    public var collapsibleBurst: Int { number(.collapsibleBurst) }
    /// Seconds after which one more of them is allowed.
    public var collapsibleRefillSeconds: Int { number(.collapsibleRefillSeconds) }
    /// Upstream messages of one device per minute.
    public var deviceUpstreamPerMinute: Int { number(.deviceUpstreamPerMinute) }
    /// Upstream messages to one sender per minute.
    public var senderUpstreamPerMinute: Int { number(.senderUpstreamPerMinute) }
    /// Topic subscriptions and unsubscriptions by app servers of one sender per second.
    public var topicChangesPerSecond: Int { number(.topicChangesPerSecond) }

    /// Whether conditions with more than two operators are refused, except in HTTP v1.
    public var strictConditions: Bool { self[.strictConditions] == .boolean(true) }
    /// Maximum bytes of keys and values of a message to a topic.
    public var topicPayloadBytes: Int { number(.topicPayloadBytes) }

    /// Origins of the web pages that may call the services for devices and web push; `*` stands for all.
    public var corsOrigins: [String] {
        if case .list(let items) = self[.corsOrigins] { items } else { [] }
    }
    /// Addresses and networks of proxies that send a PROXY header.
    public var proxyProtocolFrom: [String] {
        if case .list(let items) = self[.proxyProtocolFrom] { items } else { [] }
    }
    /// The address by which this process reaches a listener of its own, and from which it does: loopback if it listens on all.
    static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
    /// Failed logins of one identity from one address per minute; here and below 0 disables the limit.
    public var failedLoginsPerMinute: Int { number(.failedLoginsPerMinute) }
    /// Failed logins from one address per minute.
    public var failedLoginsPerAddress: Int { number(.failedLoginsPerAddress) }
    /// Connections without a login from one address.
    public var anonymousPerAddress: Int { number(.anonymousPerAddress) }
    /// Bytes of all connections without a login.
    public var beforeLoginBytes: Int { number(.beforeLoginBytes) }
    /// Check-ins and registrations of unauthenticated devices from one address per minute.
    public var unauthenticatedRequestsPerAddress: Int { number(.unauthenticatedRequestsPerAddress) }
    /// Check-ins and registrations of unauthenticated devices from all addresses per minute.
    public var unauthenticatedRequestsPerMinute: Int { number(.unauthenticatedRequestsPerMinute) }
    /// Host and port of Apple's production environment.
    public var apnsProductionAddress: String { word(.apnsProductionAddress) }
    /// Host and port of Apple's sandbox environment.
    public var apnsSandboxAddress: String { word(.apnsSandboxAddress) }
    /// File of the authorities for Apple's certificates; `nil` for those of the system.
    public var apnsCAFile: String? { word(.apnsCAFile).isEmpty ? nil : word(.apnsCAFile) }
    /// Maximum number of connections of one credential in one environment.
    public var apnsConnections: Int { number(.apnsConnections) }
    /// What happens to data-only messages to iOS apps: `store` or `silent`.
    public var iosDataOnly: String { word(.iosDataOnly) }
    /// Whether the collapse key is sent to Apple.
    public var collapseKeyToAPNs: Bool { self[.collapseKeyToAPNs] == .boolean(true) }
    /// Whether notifications without a priority have normal priority.
    public var gcm2015Priority: Bool { self[.gcm2015Priority] == .boolean(true) }
    /// File of the authorities for certificates of webhooks; `nil` for those of the system.
    public var webhookCAFile: String? { word(.webhookCAFile).isEmpty ? nil : word(.webhookCAFile) }
    /// Whether webhooks are sent to private addresses.
    public var webhookPrivateAddresses: Bool { self[.webhookPrivateAddresses] == .boolean(true) }
    /// The number of partitions that a new store gets and an existing one must have; `nil` if it is not configured.
    public var storePartitions: Int? { number(.storePartitions) == 0 ? nil : number(.storePartitions) }
    /// The folder that makes the daemon a node of a cluster; `nil` if it belongs to none.
    public var clusterDirectory: String? { word(.clusterDirectory).isEmpty ? nil : word(.clusterDirectory) }
    /// Whether operators can create virtual devices.
    public var testBench: Bool { self[.testBench] == .boolean(true) }
    /// Whether operators can move the server's time forward.
    public var testClock: Bool { self[.testClock] == .boolean(true) }
    /// The size of the registry in bytes at which nothing more is added.
    public var registryBytes: Int { number(.registryBytes) }

    /// Hours that the message history is kept; 0 switches it off.
    public var historyHours: Int { number(.historyHours) }
    /// Bytes of the message history; 0 switches it off.
    public var historyBytes: Int { number(.historyBytes) }

    private func number(_ key: ConfigKey) -> Int {
        if case .integer(let number) = self[key] { number } else { 0 }
    }

    private func word(_ key: ConfigKey) -> String {
        if case .text(let text) = self[key] { text } else { "" }
    }
}
