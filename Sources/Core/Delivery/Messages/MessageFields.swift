/// The variable-length fields of a message, immutable and shared from submission to delivery.
///
/// A message is copied from event to mutation to command and to the store. With all byte arrays behind one reference, such a
/// copy costs one reference count instead of one for each array (5 % of the CPU of a message).
public final class MessageFields: Sendable, Equatable {
    /// The submitter's `message_id` as sent, for answers, receipts and traces.
    public let messageID: [UInt8]
    /// Messages of one app with equal keys replace each other. `nil` if the message has no key.
    public let collapseKey: [UInt8]?
    /// The key-value pairs.
    public let body: EncodedAppData
    /// What the message holds for APNs alone, as a JSON object without blanks: the object `apns` of HTTP v1 (http 8.4), or the same
    /// form made from `priority`, `content_available` and `mutable_content`. `nil` if there is nothing.
    ///
    /// The server adds one member to that form, `common`, which an app server cannot send because no field has that name:
    /// `v1` is `true` for a message of HTTP v1, whose defaults for iOS differ; `notification` and `data` are the common ones if
    /// the block `android` overrides them in `body`; `label` is the analytics label of the message.
    ///
    /// Of a stored message it also determines the channel: if it is not `nil`, though perhaps empty, the message is sent through APNs.
    public let apns: [UInt8]?

    /// Creates the fields of a message.
    public init(messageID: [UInt8], collapseKey: [UInt8]? = nil, body: EncodedAppData, apns: [UInt8]? = nil) {
        self.messageID = messageID
        self.collapseKey = collapseKey
        self.body = body
        self.apns = apns
    }

    public static func == (a: MessageFields, b: MessageFields) -> Bool {
        a === b
            || a.messageID == b.messageID && a.collapseKey == b.collapseKey && a.body == b.body
                && a.apns == b.apns
    }
}

/// A type with such fields. Setting one of them gives the value a copy of its own.
public protocol HasMessageFields {
    /// The shared fields.
    var fields: MessageFields { get set }
}

extension HasMessageFields {
    /// See `MessageFields.messageID`.
    public var messageID: [UInt8] {
        get { fields.messageID }
        set { fields = MessageFields(messageID: newValue, collapseKey: collapseKey, body: body, apns: apns) }
    }
    /// See `MessageFields.collapseKey`.
    public var collapseKey: [UInt8]? {
        get { fields.collapseKey }
        set { fields = MessageFields(messageID: messageID, collapseKey: newValue, body: body, apns: apns) }
    }
    /// See `MessageFields.body`.
    public var body: EncodedAppData {
        get { fields.body }
        set {
            fields = MessageFields(messageID: messageID, collapseKey: collapseKey, body: newValue, apns: apns)
        }
    }
    /// See `MessageFields.apns`.
    public var apns: [UInt8]? {
        get { fields.apns }
        set {
            fields = MessageFields(messageID: messageID, collapseKey: collapseKey, body: body, apns: newValue)
        }
    }
}
