public import Basics
public import Delivery

/// The kind of a push: the header `apns-push-type` (apns 1.3).
public enum APNsPushType: String, CaseIterable, Sendable {
    case alert
    case background
    case voip
    case complication
    case fileProvider = "fileprovider"
    case mdm
    case liveActivity = "liveactivity"
    case location
    case pushToTalk = "pushtotalk"
    case controls
    case widgets

    /// What follows the bundle ID in `apns-topic`.
    public var topicSuffix: StaticString {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileProvider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushToTalk: ".voip-ptt"
        case .controls: ".push-type.controls"
        case .widgets: ".push-type.widgets"
        }
    }

    /// Bytes that the payload may have.
    public var payloadLimit: Int { self == .voip ? Limits.APNs.voipPayloadBytes : Limits.APNs.payloadBytes }
}

/// One request to APNs without its provider token (apns 1.2).
public struct APNsRequest: Sendable, Equatable {
    /// The device token, or the token of a Live Activity.
    public var deviceToken: AppleToken.Digits
    public var environment: APNsEnvironment
    /// `apns-topic`: the bundle ID and the suffix of the push type.
    public var topic: [UInt8]
    public var pushType: APNsPushType
    /// `apns-priority`: 10, 5 or 1.
    public var priority: Int
    /// `apns-expiration` in seconds since 1970; 0 for one attempt.
    public var expiration: Int64
    /// `apns-collapse-id`, at most 64 bytes. `nil` if there is none.
    public var collapseID: [UInt8]?
    /// `apns-id`: a UUID in its canonical form, the same for each attempt.
    public var id: String
    /// Further `apns-` headers of the app server, with names in lower case.
    public var extraHeaders: [(name: String, value: [UInt8])] = []
    /// The payload: JSON without blanks.
    public var payload: [UInt8]

    public init(
        deviceToken: AppleToken.Digits, environment: APNsEnvironment, topic: [UInt8], pushType: APNsPushType,
        priority: Int, expiration: Int64, collapseID: [UInt8]?, id: String, payload: [UInt8]
    ) {
        self.deviceToken = deviceToken
        self.environment = environment
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.id = id
        self.payload = payload
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.deviceToken == b.deviceToken && a.environment == b.environment && a.topic == b.topic
            && a.pushType == b.pushType && a.priority == b.priority && a.expiration == b.expiration
            && a.collapseID == b.collapseID && a.id == b.id && a.payload == b.payload
            && a.extraHeaders.elementsEqual(b.extraHeaders) { $0.name == $1.name && $0.value == $1.value }
    }
}
