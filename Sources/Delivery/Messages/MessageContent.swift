public import Basics

/// What is to be sent, and how, whoever it goes to: the same for every way of sending and every way of delivering.
///
/// Its `collapseKey` is `appCollapseKey` where the package of the app is to be the key: only the registration knows it.
public struct MessageContent: Sendable, HoldsMessageText {
    /// Stands for the package of the app, the key of a notification that brings none (ccs-xmpp 6). It is empty: an empty key of
    /// an app server is no key.
    public static let appCollapseKey: [UInt8] = []

    /// Its octets.
    public var text: MessageText
    /// Seconds to live from now, 0 … `Limits.Message.lifetimeSeconds`; 0 is now or never.
    public var lifetimeSeconds: Int
    /// Urgency.
    public var priority: Priority
    /// Whether a receipt is wanted when the device has it.
    public var wantsReceipt: Bool
    /// Whether it waits until the device is active; a message of high priority never does (ccs-xmpp 6).
    public var delaysWhileIdle: Bool
    /// Check and answer, but store and deliver nothing.
    public var isDryRun: Bool
    /// Deliver only to this app; nil: to any.
    public var restrictedPackage: [UInt8]?
    /// Whether the body ends with `raw_data`, which not every registration can be sent (http 2.1).
    public var holdsRawData: Bool

    /// A content; all parts are the caller's.
    public init(
        messageID: [UInt8], collapseKey: [UInt8]? = nil,
        lifetimeSeconds: Int = Limits.Message.lifetimeSeconds,
        priority: Priority = .normal, wantsReceipt: Bool = false, delaysWhileIdle: Bool = false,
        isDryRun: Bool = false, restrictedPackage: [UInt8]? = nil, holdsRawData: Bool = false, body: Body,
        apns: [UInt8]? = nil
    ) {
        text = MessageText(messageID: messageID, collapseKey: collapseKey, body: body, apns: apns)
        self.lifetimeSeconds = lifetimeSeconds
        self.priority = priority
        self.wantsReceipt = wantsReceipt
        self.delaysWhileIdle = delaysWhileIdle
        self.isDryRun = isDryRun
        self.restrictedPackage = restrictedPackage
        self.holdsRawData = holdsRawData
    }
}
