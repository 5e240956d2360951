/// The variable-length fields of a message, immutable and shared from submission to delivery.
///
/// A message is copied from event to mutation to command and to the store. With all byte arrays behind one reference, such a
/// copy costs one reference count instead of one for each array (5 % of the CPU of a message).
public final class MessageText: Sendable, Equatable {
    /// The submitter's `message_id` as sent, for answers, receipts and traces.
    public let messageID: [UInt8]
    /// Messages of one app with equal keys replace each other. `nil` if the message has no key.
    public let collapseKey: [UInt8]?
    /// The key-value pairs.
    public let body: Body
    /// The object `apns` of an HTTP v1 message, as JSON without blanks (http 8.4). `nil` if there is none.
    public let apns: [UInt8]?

    /// Creates the fields of a message.
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

/// A type with such fields. Setting one of them gives the value a copy of its own.
public protocol HoldsMessageText {
    /// The shared fields.
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
