package import Basics
import Catalogue

extension Configuration {
    /// Least level that is logged.
    package var logLevel: Log.Level { Log.Level(word: word(.logLevel)) ?? .info }
    /// Shape of log lines.
    package var logFormat: Log.Format { Log.Format(rawValue: word(.logFormat)) ?? .text }
    /// Messages sent and not yet answered on one connection, in each direction.
    package var pendingWindow: Int { number(.pendingWindow) }
    /// Seconds of silence after which an app server is sent one space.
    package var keepaliveSeconds: Int { number(.keepaliveSeconds) }
    /// Seconds of silence after which a device is pinged.
    package var devicePingSeconds: Int { number(.devicePingSeconds) }
    /// Seconds without contact after which a device is forgotten; 0: never.
    package var deviceExpirySeconds: Int { number(.deviceExpirySeconds) }
    /// Seconds after which devices are told to ping by themselves; 0: nothing is told.
    package var deviceHeartbeatSeconds: Int { number(.deviceHeartbeatSeconds) }
    /// Seconds from the TLS handshake to a finished login.
    package var loginDeadlineSeconds: Int { number(.loginDeadlineSeconds) }
    /// Seconds between the draining notice and the first close.
    package var drainGraceSeconds: Int { number(.drainGraceSeconds) }
    /// Seconds over which the closes of a drain are spread.
    package var drainSpreadSeconds: Int { number(.drainSpreadSeconds) }
    /// Seconds that a stop takes at most.
    package var shutdownSeconds: Int { number(.shutdownSeconds) }
    /// Answer an unknown ack with BAD_ACK.
    package var strictAcks: Bool { self[.strictAcks] == .truth(true) }
    /// Control messages carry a message_id.
    package var controlMessageID: Bool { self[.controlMessageID] == .truth(true) }
    /// `time_to_live` may be text.
    package var lenientTimeToLive: Bool { self[.lenientTimeToLive] == .truth(true) }
    /// Data keys that begin with `gcm` are reserved.
    package var reserveGCMPrefix: Bool { self[.reserveGCMPrefix] == .truth(true) }
    /// Name of this server for browsers; empty: they are told none.
    package var advertisedHost: String { word(.advertisedHost) }
    /// Port of check-in and registration as it is from outside.
    package var advertisedHTTPSPort: Int { number(.advertisedHTTPSPort) }
    /// Port of devices as it is from outside.
    package var advertisedDevicePort: Int { number(.advertisedDevicePort) }
    /// Offer XEP-0198.
    package var streamManagement: Bool { self[.streamManagement] == .truth(true) }
    /// Ask devices whether they are idle.
    package var idleNotifications: Bool { self[.idleNotifications] == .truth(true) }
    /// Offer SCRAM-SHA-256.
    package var scram: Bool { self[.scram] == .truth(true) }

    /// Messages that one device may be sent in a minute; 0: no bound, here and below.
    package var deviceMessagesPerMinute: Int { number(.deviceMessagesPerMinute) }
    /// Messages that one device may be sent in an hour.
    package var deviceMessagesPerHour: Int { number(.deviceMessagesPerHour) }
    /// Messages that one sender may send in a minute.
    package var senderMessagesPerMinute: Int { number(.senderMessagesPerMinute) }
    /// Messages with a collapse key that one app of one device gets at once.
    package var collapsibleBurst: Int { number(.collapsibleBurst) }
    /// Seconds in which one of them comes back.
    package var collapsibleRefillSeconds: Int { number(.collapsibleRefillSeconds) }
    /// Upstream messages of one device in a minute.
    package var deviceUpstreamPerMinute: Int { number(.deviceUpstreamPerMinute) }
    /// Upstream messages to one sender in a minute.
    package var senderUpstreamPerMinute: Int { number(.senderUpstreamPerMinute) }
    /// Subscriptions that app servers of one sender make or end in a second.
    package var topicChangesPerSecond: Int { number(.topicChangesPerSecond) }

    /// Refuse conditions with more than two operators, but in HTTP v1.
    package var strictConditions: Bool { self[.strictConditions] == .truth(true) }
    /// Octets of keys and values of a message to a topic.
    package var topicPayloadBytes: Int { number(.topicPayloadBytes) }

    private func number(_ key: ConfigKey) -> Int {
        if case .integer(let number) = self[key] { number } else { 0 }
    }

    private func word(_ key: ConfigKey) -> String {
        if case .text(let text) = self[key] { text } else { "" }
    }
}
