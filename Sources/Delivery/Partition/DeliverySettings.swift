public import Basics

/// What an operator or a test may set of the core; the defaults are the limits.
public struct DeliverySettings: Sendable {
    /// Upstream messages sent and not yet answered on one connection.
    public var pendingWindow = Limits.AppServer.pendingWindow
    /// Offline devices whose state is kept in memory.
    public var idleDevicesInMemory = Limits.Device.idleInMemory
    /// Events that wait for the state of one device; further ones are refused as unavailable.
    public var eventsWaitingForDevice = Limits.Device.waitingEvents
    /// Stored messages read at once for one device or sender.
    public var mailboxPage = Limits.Mailbox.page
    /// Messages without collapse key kept for one registration; the next discards all.
    public var storedMessages = Limits.Mailbox.storedMessages
    /// Collapse keys kept for one registration.
    public var collapseKeys = Limits.Mailbox.collapseKeys
    /// Changes on their way to the store beyond which submissions are refused as unavailable.
    public var waitingWrites = Limits.Store.waitingWrites
    /// Upstream messages of one app that wait to be stored.
    public var waitingUpstream = Limits.Mailbox.waitingUpstream
    /// Upstream messages kept for one sender.
    public var storedUpstreamPerSender = Limits.Mailbox.storedUpstreamPerSender
    /// How many of them may be of one device.
    public var storedUpstreamPerDevice = Limits.Mailbox.storedUpstreamPerDevice
    /// Messages sent to a device on one connection and not acknowledged.
    public var unacknowledgedPerDevice = Limits.Mailbox.unacknowledgedPerDevice
    /// Connections of one sender.
    public var connectionsPerSender = Limits.AppServer.connectionsPerSender
    /// Registrations of one device.
    public var registrationsPerDevice = Limits.Registration.perDevice
    /// Topics of one registration.
    public var subscriptionsPerRegistration = Limits.Installation.subscriptionsPerRegistration
    /// Seconds after which a receipt that nobody acknowledged is taken as received.
    public var receiptSettleSeconds = Limits.Message.receiptSettleSeconds
    /// Seconds without contact after which a device is forgotten with its registrations; 0: never.
    public var deviceExpirySeconds = Limits.Device.expirySeconds
    /// Seconds after its check-in at which a device is forgotten that neither logged in nor registered; 0: never.
    public var unusedDeviceSeconds = Limits.Device.unusedSeconds
    /// How often a device, an app or a sender may do what it may.
    public var rates = Rates()
    /// What places of iOS apps in the store are sealed with: the same as long as tokens are.
    public var seal = TokenSeal(secret: [UInt8](repeating: 0, count: 32))
    /// No sequence at or below this is made: the highest that an earlier process may have used (microseconds since 1970).
    ///
    /// Sequences follow the wall clock; a host that keeps a high-water mark protects them from a clock set back between runs.
    public var sequenceFloor: UInt64 = 0
    /// Until when the process before has lived, milliseconds since 1970 (`StoreMark.clock`); nil where the store does not know.
    public var clockMark: UnixMilliseconds?
    /// Seconds of running time after which a wall clock in doubt is believed; 0: never.
    public var clockGraceSeconds = Limits.Clock.graceSeconds
    /// Whether the process ends where a state is found that cannot be; else only what it concerns does (`InvariantFailure`).
    public var trapsAtFailedInvariants = Self.isDebugBuild

    private static var isDebugBuild: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    /// The defaults.
    public init() {}
}

/// Those of them that an operator may change while the server runs.
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

    /// The defaults.
    public init() {}
}

extension DeliverySettings {
    /// What may change while the server runs.
    public var running: RunningSettings {
        get {
            var running = RunningSettings()
            running.pendingWindow = pendingWindow
            running.rates = rates
            running.deviceExpirySeconds = deviceExpirySeconds
            running.unusedDeviceSeconds = unusedDeviceSeconds
            running.clockGraceSeconds = clockGraceSeconds
            return running
        }
        set {
            pendingWindow = newValue.pendingWindow
            rates = newValue.rates
            deviceExpirySeconds = newValue.deviceExpirySeconds
            unusedDeviceSeconds = newValue.unusedDeviceSeconds
            clockGraceSeconds = newValue.clockGraceSeconds
        }
    }
}
