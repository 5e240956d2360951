public import Basics
import Catalogue

extension Configuration {
    /// Least level that is logged.
    public var logLevel: Log.Level { Log.Level(word: word(.logLevel)) ?? .info }
    /// Shape of log lines.
    public var logFormat: Log.Format { Log.Format(rawValue: word(.logFormat)) ?? .text }
    /// Messages sent and not yet answered on one connection, in each direction.
    public var pendingWindow: Int { number(.pendingWindow) }
    /// Seconds of silence after which an app server is sent one space.
    public var keepaliveSeconds: Int { number(.keepaliveSeconds) }
    /// Seconds of silence after which a device is pinged.
    public var devicePingSeconds: Int { number(.devicePingSeconds) }
    /// Seconds without contact after which a device is forgotten; 0: never.
    public var deviceExpirySeconds: Int { number(.deviceExpirySeconds) }
    /// Seconds after which a device that was never used is forgotten; 0: never.
    public var unusedDeviceSeconds: Int { number(.unusedDeviceSeconds) }
    /// Seconds of running after which a clock in doubt is believed; 0: never.
    public var clockGraceSeconds: Int { number(.clockGraceSeconds) }
    /// Seconds after which devices are told to ping by themselves; 0: nothing is told.
    public var deviceHeartbeatSeconds: Int { number(.deviceHeartbeatSeconds) }
    /// Seconds from the TLS handshake to a finished login.
    public var loginDeadlineSeconds: Int { number(.loginDeadlineSeconds) }
    /// Seconds between the draining notice and the first close.
    public var drainGraceSeconds: Int { number(.drainGraceSeconds) }
    /// Seconds over which the closes of a drain are spread.
    public var drainSpreadSeconds: Int { number(.drainSpreadSeconds) }
    /// Seconds that a stop takes at most.
    public var shutdownSeconds: Int { number(.shutdownSeconds) }
    /// Answer an unknown ack with BAD_ACK.
    public var strictAcks: Bool { self[.strictAcks] == .truth(true) }
    /// Control messages carry a message_id.
    public var controlMessageID: Bool { self[.controlMessageID] == .truth(true) }
    /// `time_to_live` may be text.
    public var lenientTimeToLive: Bool { self[.lenientTimeToLive] == .truth(true) }
    /// Data keys that begin with `gcm` are reserved.
    public var reserveGCMPrefix: Bool { self[.reserveGCMPrefix] == .truth(true) }
    /// Name of this server for browsers; empty: they are told none.
    public var advertisedHost: String { word(.advertisedHost) }
    /// Port of check-in and registration as it is from outside.
    public var advertisedHTTPSPort: Int { number(.advertisedHTTPSPort) }
    /// Port of devices as it is from outside.
    public var advertisedDevicePort: Int { number(.advertisedDevicePort) }
    /// Offer XEP-0198.
    public var streamManagement: Bool { self[.streamManagement] == .truth(true) }
    /// Ask devices whether they are idle.
    public var idleNotifications: Bool { self[.idleNotifications] == .truth(true) }
    /// Offer SCRAM-SHA-256.
    public var scram: Bool { self[.scram] == .truth(true) }

    /// Messages that one device may be sent in a minute; 0: no bound, here and below.
    public var deviceMessagesPerMinute: Int { number(.deviceMessagesPerMinute) }
    /// Messages that one device may be sent in an hour.
    public var deviceMessagesPerHour: Int { number(.deviceMessagesPerHour) }
    /// Messages that one sender may send in a minute.
    public var senderMessagesPerMinute: Int { number(.senderMessagesPerMinute) }
    /// Messages with a collapse key that one app of one device gets at once.
    public var collapsibleBurst: Int { number(.collapsibleBurst) }
    /// Seconds in which one of them comes back.
    public var collapsibleRefillSeconds: Int { number(.collapsibleRefillSeconds) }
    /// Upstream messages of one device in a minute.
    public var deviceUpstreamPerMinute: Int { number(.deviceUpstreamPerMinute) }
    /// Upstream messages to one sender in a minute.
    public var senderUpstreamPerMinute: Int { number(.senderUpstreamPerMinute) }
    /// Subscriptions that app servers of one sender make or end in a second.
    public var topicChangesPerSecond: Int { number(.topicChangesPerSecond) }

    /// Refuse conditions with more than two operators, but in HTTP v1.
    public var strictConditions: Bool { self[.strictConditions] == .truth(true) }
    /// Bytes of keys and values of a message to a topic.
    public var topicPayloadBytes: Int { number(.topicPayloadBytes) }

    /// Addresses and networks of proxies that send a PROXY header.
    public var proxyProtocolFrom: [String] {
        if case .list(let items) = self[.proxyProtocolFrom] { items } else { [] }
    }
    /// Failed logins of one identity from one address in a minute; 0: no bound, here and below.
    public var failedLoginsPerMinute: Int { number(.failedLoginsPerMinute) }
    /// Failed logins from one address in a minute.
    public var failedLoginsPerAddress: Int { number(.failedLoginsPerAddress) }
    /// Connections of one address that have not logged in.
    public var anonymousPerAddress: Int { number(.anonymousPerAddress) }
    /// Check-ins and registrations of strangers from one address in a minute.
    public var strangerRequestsPerAddress: Int { number(.strangerRequestsPerAddress) }
    /// The same from all addresses together.
    public var strangerRequestsPerMinute: Int { number(.strangerRequestsPerMinute) }
    /// The number of partitions of a store that is created, and that one which is there must have; `nil`: it is not set.
    public var storePartitions: Int? { number(.storePartitions) == 0 ? nil : number(.storePartitions) }
    /// Bytes of the registry from which on nothing new is added.
    public var registryBytes: Int { number(.registryBytes) }

    private func number(_ key: ConfigKey) -> Int {
        if case .integer(let number) = self[key] { number } else { 0 }
    }

    private func word(_ key: ConfigKey) -> String {
        if case .text(let text) = self[key] { text } else { "" }
    }
}
