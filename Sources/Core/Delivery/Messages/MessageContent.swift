public import Basics

/// The content of a message and its delivery options, independent of the target, the submitting protocol and the channel.
///
/// `collapseKey` is `appCollapseKey` if the package name of the app is to be the key: only the registration has that name.
public struct MessageContent: Sendable, HasMessageFields {
    /// Stands for the package name of the app, the default key of a notification without one (ccs-xmpp 6). It is empty, which is
    /// free: an empty key from an app server counts as no key.
    public static let appCollapseKey: [UInt8] = []

    /// Its bytes.
    public var fields: MessageFields
    /// Seconds to live from now, 0 … `Limits.Message.lifetimeSeconds`; 0 is now or never: delivered at once or dropped.
    public var lifetimeSeconds: Int
    /// Delivery priority.
    public var priority: Priority
    /// Whether the sender requests a receipt on delivery.
    public var wantsReceipt: Bool
    /// Whether it waits until the device is active; a high-priority message never waits (ccs-xmpp 6).
    public var delaysWhileIdle: Bool
    /// Whether the message is only checked and answered, and neither stored nor delivered.
    public var isDryRun: Bool
    /// The only app that the message may be delivered to. `nil` allows any app.
    public var restrictedPackage: [UInt8]?
    /// Whether the body ends with `raw_data`, which not every registration can receive (http 2.1).
    public var holdsRawData: Bool

    /// Whether it holds a notification, which iOS apps receive through APNs.
    public var isNotification: Bool
    /// Whether its request has several recipients, whose messages may share the pairs in the store.
    public var isForSeveral = false
    /// Seconds to live of the copy for an iOS app, where they differ from `lifetimeSeconds`: HTTP v1 sets them per platform.
    public var apnsLifetimeSeconds: Int?
    /// The ID of the messages in whose place it is put. `nil` if there are none.
    public var replaces: [UInt8]?
    /// When it is to be sent, in milliseconds since 1970; it lives from then. `nil` for at once.
    public var sendAt: UnixMilliseconds?

    /// What a data message for an iOS app holds if the operator has them sent as background pushes (`AppleDataRoute.silent`).
    ///
    /// The empty notification replaces one that HTTP v1 sends to Android alone.
    static let backgroundPush = Array(
        #"{"payload":{"aps":{"content-available":1}},"common":{"notification":{}}}"#.utf8)

    /// Returns what APNs gets of the content, or `nil` if the content does not travel through APNs (apns 3.2).
    func apns(routingDataBy route: AppleDataRoute) -> [UInt8]? {
        if let apns { return apns }
        if isNotification { return [] }
        return route == .silent && !holdsRawData ? Self.backgroundPush : nil
    }

    /// Creates the content of a message.
    public init(
        messageID: [UInt8], collapseKey: [UInt8]? = nil,
        lifetimeSeconds: Int = Limits.Message.lifetimeSeconds,
        priority: Priority = .normal, wantsReceipt: Bool = false, delaysWhileIdle: Bool = false,
        isDryRun: Bool = false, restrictedPackage: [UInt8]? = nil, holdsRawData: Bool = false,
        isNotification: Bool = false, body: EncodedAppData, apns: [UInt8]? = nil,
        apnsLifetimeSeconds: Int? = nil
    ) {
        fields = MessageFields(messageID: messageID, collapseKey: collapseKey, body: body, apns: apns)
        self.lifetimeSeconds = lifetimeSeconds
        self.priority = priority
        self.wantsReceipt = wantsReceipt
        self.delaysWhileIdle = delaysWhileIdle
        self.isDryRun = isDryRun
        self.restrictedPackage = restrictedPackage
        self.holdsRawData = holdsRawData
        self.isNotification = isNotification
        self.apnsLifetimeSeconds = apnsLifetimeSeconds
    }
}
