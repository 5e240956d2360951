public import Basics

/// How an iOS app gets a message with data alone (apns 3.2).
public enum AppleDataRoute: String, CaseIterable, Sendable {
    /// It is stored until the app connects by itself, as with GCM.
    case store
    /// APNs carries it as a background push.
    case silent
}

/// Settings of the core that operators and tests can change; the defaults are the limits.
public struct DeliverySettings: Sendable {
    /// Upstream messages sent and not yet answered on one connection.
    public var pendingWindow = Limits.AppServer.pendingWindow
    /// Idle devices whose state stays in memory.
    public var idleDevicesInMemory = Limits.Device.idleInMemory
    /// Events that can wait for the state of one device; further ones are refused as unavailable.
    public var eventsWaitingForDevice = Limits.Device.waitingEvents
    /// Stored messages read per page of one mailbox.
    public var mailboxPage = Limits.Mailbox.page
    /// Stored messages without a collapse key per registration; one more discards all of them.
    public var storedMessages = Limits.Mailbox.storedMessages
    /// Collapse keys with a stored message per registration.
    public var collapseKeys = Limits.Mailbox.collapseKeys
    /// Messages of a request to many that have pairs of their own in a partition, before further ones share theirs.
    public var unsharedMessages = Limits.SharedBody.unsharedMessages
    /// Bytes of pairs from which they are shared.
    public var leastSharedBytes = Limits.SharedBody.leastBytes
    /// Messages that wait for their time, of one sender.
    public var scheduledPerSender = Limits.Schedule.perSender
    /// Messages that wait for their time, of all senders.
    public var scheduledMessages = Limits.Schedule.total
    /// Mutations waiting for the store above which submissions are refused as unavailable.
    public var waitingWrites = Limits.Store.waitingWrites
    /// Upstream messages of one app that can wait to be stored.
    public var waitingUpstream = Limits.Mailbox.waitingUpstream
    /// Upstream messages stored for one sender.
    public var storedUpstreamPerSender = Limits.Mailbox.storedUpstreamPerSender
    /// Upstream messages stored for one sender from one device.
    public var storedUpstreamPerDevice = Limits.Mailbox.storedUpstreamPerDevice
    /// Messages sent to a device on one connection and not yet acknowledged.
    public var unacknowledgedPerDevice = Limits.Mailbox.unacknowledgedPerDevice
    /// Connections of one sender.
    public var connectionsPerSender = Limits.AppServer.connectionsPerSender
    /// The key of recorders: sessions of the server's own test bench, which take upstream messages of any sender while no app server
    /// is connected. `nil` without a test bench.
    public var recorderKey: SecretDigest?
    /// Registrations of one device.
    public var registrationsPerDevice = Limits.Registration.perDevice
    /// Topics of one registration.
    public var subscriptionsPerRegistration = Limits.Installation.subscriptionsPerRegistration
    /// Live topic messages in the logs of all partitions.
    public var liveTopicMessages = Limits.Topic.live
    /// Live messages of one topic; one more discards the older half of them.
    public var liveMessagesPerTopic = Limits.Topic.livePerTopic
    /// Connected devices that topic messages are sent to in one batch, in all partitions together.
    public var topicDevicesPerBatch = Limits.Topic.devicesPerBatch
    /// Devices with iOS apps that are looked up at once for topic messages.
    public var topicPage = Limits.Topic.page
    /// Seconds after which an unacknowledged receipt counts as received.
    public var receiptAckSeconds = Limits.Message.receiptAckSeconds
    /// Seconds without contact after which a device and its registrations are removed. 0 disables the expiry.
    public var deviceExpirySeconds = Limits.Device.expirySeconds
    /// Seconds after check-in at which a device that has neither logged in nor registered is removed. 0 disables the expiry.
    public var unusedDeviceSeconds = Limits.Device.unusedSeconds
    /// How iOS apps get messages with data alone.
    public var appleData = AppleDataRoute.store
    /// Rate limits of devices, apps and senders.
    public var rates = Rates()
    /// Seals the store keys of iOS apps. Must not change while tokens are valid.
    public var seal = TokenSeal(secret: [UInt8](repeating: 0, count: 32))
    /// Watermark: sequence numbers start above it. The highest number that an earlier process may have used (microseconds since
    /// 1970).
    ///
    /// Sequence numbers follow the wall clock; the watermark protects them from a clock that was set back between runs.
    public var sequenceWatermark: UInt64 = 0
    /// The last believed time of the previous process, in milliseconds since 1970 (`StoreMark.clock`); `nil` if unknown.
    public var clockMark: UnixMilliseconds?
    /// Seconds of running time after which a wall clock in doubt is believed. 0: never.
    public var clockGraceSeconds = Limits.Clock.graceSeconds
    /// Whether steps of messages are reported to the history (`Effects.history`).
    public var keepsHistory = false
    /// Whether a failed invariant ends the process; otherwise only the connection or batch concerned fails (`InvariantFailure`).
    public var trapsAtFailedInvariants = Self.isDebugBuild

    private static var isDebugBuild: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    /// Creates the default settings.
    public init() {}
}

/// The settings that an operator can change while the server runs.
public struct RunningSettings: Sendable {
    /// See `DeliverySettings`.
    public var pendingWindow = Limits.AppServer.pendingWindow
    /// See `DeliverySettings`.
    public var rates = Rates()
    /// See `DeliverySettings`.
    public var deviceExpirySeconds = Limits.Device.expirySeconds
    /// See `DeliverySettings`.
    public var unusedDeviceSeconds = Limits.Device.unusedSeconds
    /// See `DeliverySettings`.
    public var clockGraceSeconds = Limits.Clock.graceSeconds
    /// See `DeliverySettings`.
    public var appleData = AppleDataRoute.store

    /// Creates the default settings.
    public init() {}
}

extension DeliverySettings {
    /// The settings that can change while the server runs.
    public var running: RunningSettings {
        get {
            var running = RunningSettings()
            running.pendingWindow = pendingWindow
            running.rates = rates
            running.deviceExpirySeconds = deviceExpirySeconds
            running.unusedDeviceSeconds = unusedDeviceSeconds
            running.clockGraceSeconds = clockGraceSeconds
            running.appleData = appleData
            return running
        }
        set {
            pendingWindow = newValue.pendingWindow
            rates = newValue.rates
            deviceExpirySeconds = newValue.deviceExpirySeconds
            unusedDeviceSeconds = newValue.unusedDeviceSeconds
            clockGraceSeconds = newValue.clockGraceSeconds
            appleData = newValue.appleData
        }
    }
}
