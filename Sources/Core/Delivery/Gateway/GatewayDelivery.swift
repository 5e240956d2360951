public import Basics

/// A message on its way to an iOS app through the APNs gateway.
///
/// To the core, the gateway is what a device's connection is: it gets deliveries and answers each one with `GatewayAnswer`. A
/// registration has at most one unanswered delivery, which keeps the order and spares Apple's limit per device (apns 1.8).
public struct GatewayDelivery: Sendable {
    /// The message. Its `apns` part is never `nil`; an empty one adds nothing to the other fields.
    public var message: StoredMessage
    /// The registration that it is for.
    public var registration: RegistrationName
    /// What the app registered with: `category` is the bundle ID, `apnsToken` the device token with its environment.
    public var app: RegisteredApp
    /// When the registration was made or last renewed by the app, milliseconds since 1970: an older 410 does not end it.
    public var registeredAt: UnixMilliseconds?
    /// The value of `from` for the app: the path of a topic, else empty.
    public var topicPath: [UInt8]
    /// Whether the message is stored. One that is not is attempted only while its app server waits.
    public var isStored: Bool
    /// How often the message was answered with `later` before.
    public var attempt: Int
    /// The lease without which nothing is sent to Apple; `nil` without a cluster.
    public var lease: (any DecisionLease)?

    public init(
        message: StoredMessage, registration: RegistrationName, app: RegisteredApp,
        registeredAt: UnixMilliseconds?, topicPath: [UInt8] = [], isStored: Bool, attempt: Int = 0
    ) {
        self.message = message
        self.registration = registration
        self.app = app
        self.registeredAt = registeredAt
        self.topicPath = topicPath
        self.isStored = isStored
        self.attempt = attempt
    }

    /// The digits of the device token. `nil` if the row is from a release that did not check them.
    public var deviceToken: AppleToken.Digits? { AppleToken(app.parts.apnsToken)?.digits }

    /// The environment that the app was built for.
    public var environment: APNsEnvironment { APNsEnvironment(ofToken: app.parts.apnsToken) }
}

/// The gateway's answer to one delivery; there is exactly one for each.
public struct GatewayAnswer: Sendable {
    /// The registration of the delivery.
    public var registration: RegistrationName
    /// The message of the delivery.
    public var sequence: SequenceNumber
    public var outcome: GatewayOutcome

    public init(registration: RegistrationName, sequence: SequenceNumber, outcome: GatewayOutcome) {
        self.registration = registration
        self.sequence = sequence
        self.outcome = outcome
    }
}

/// What became of a delivery (apns 1.7, 4.2).
public enum GatewayOutcome: Sendable, Equatable {
    /// Apple accepted it in this environment, which may differ from that of the registration: then the registration is corrected.
    case accepted(APNsEnvironment)
    /// Not now: the message stays, and is offered again after this many milliseconds at the earliest. The refusal is for a message
    /// that cannot wait. `isAttempt`: Apple has or may have got the message, so that its next wait is longer.
    case later(milliseconds: Int64, APNsRefusal, isAttempt: Bool = true)
    /// This message is never accepted. A refusal of kind `credential` ends it only while its app server waits for the answer.
    case refused(APNsRefusal)
    /// The device token is dead: the registration ends (410).
    case tokenEnded(APNsVerdict)
    /// Apple does not know the device token (`BadDeviceToken`): the registration ends when that repeats within a day.
    case tokenUnknown(APNsVerdict)
    /// The device token belongs to another app (`DeviceTokenNotForTopic`): the registration ends after a week of it.
    case tokenMismatched(APNsVerdict)
}
