/// The octets of a message: made once, the same at every step of its way.
///
/// A message goes from event to change to command and to the store, and is copied on that way. All octets behind one
/// reference make such a copy one count, not one for each of them (5 % of the CPU of a message).
public final class MessageText: Sendable, Equatable {
    /// The submitter's id for it, as sent, for answers, receipts and traces.
    public let messageID: [UInt8]
    /// Messages of one app with equal keys replace each other; nil: none.
    public let collapseKey: [UInt8]?
    /// The pairs.
    public let body: Body
    /// What v1 says for Apple alone: the object `apns` as JSON without blanks (http 8.4); nil: nothing.
    public let apns: [UInt8]?

    /// The octets of a message; all parts are the caller's.
    public init(messageID: [UInt8], collapseKey: [UInt8]? = nil, body: Body, apns: [UInt8]? = nil) {
        self.messageID = messageID
        self.collapseKey = collapseKey
        self.body = body
        self.apns = apns
    }

    public static func == (a: MessageText, b: MessageText) -> Bool {
        a === b
            || a.messageID == b.messageID && a.collapseKey == b.collapseKey && a.body == b.body
                && a.apns == b.apns
    }
}

/// What has such octets. Who sets one of them has its own from then on.
public protocol HoldsMessageText {
    /// All of them.
    var text: MessageText { get set }
}

extension HoldsMessageText {
    /// See `MessageText.messageID`.
    public var messageID: [UInt8] {
        get { text.messageID }
        set { text = MessageText(messageID: newValue, collapseKey: collapseKey, body: body, apns: apns) }
    }
    /// See `MessageText.collapseKey`.
    public var collapseKey: [UInt8]? {
        get { text.collapseKey }
        set { text = MessageText(messageID: messageID, collapseKey: newValue, body: body, apns: apns) }
    }
    /// See `MessageText.body`.
    public var body: Body {
        get { text.body }
        set { text = MessageText(messageID: messageID, collapseKey: collapseKey, body: newValue, apns: apns) }
    }
    /// See `MessageText.apns`.
    public var apns: [UInt8]? {
        get { text.apns }
        set { text = MessageText(messageID: messageID, collapseKey: collapseKey, body: body, apns: newValue) }
    }
}
