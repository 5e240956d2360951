public import Basics
public import Delivery
public import Wire

extension PayloadTranslator {
    /// Appends the pairs of an upstream message as a JSON object whose values are strings (ccs-xmpp 3.1, 4.1).
    ///
    /// Of a malformed body, only the pairs before the error are appended.
    public static func append(dataOf body: EncodedAppData, to buffer: inout ByteBuffer) {
        AppData.append(jsonOf: body.raw, in: .element, to: &buffer)
    }

    /// Returns the priority of a message. The default is high if the device shows a notification, else normal (ccs-xmpp 2.2).
    public static func priority(of message: DownstreamMessage) -> Priority {
        switch message.priority {
        case .high: .high
        case .normal: .normal
        case nil: message.notification == nil ? .normal : .high
        }
    }

    /// Returns whether a message waits while the device is idle. Requested high priority overrides it (ccs-xmpp 6).
    ///
    /// The high priority of a notification is only a default and does not.
    public static func delaysWhileIdle(_ message: DownstreamMessage) -> Bool {
        message.delaysWhileIdle && message.priority != .high
    }

    /// Returns the collapse key of a message; an empty key counts as absent. A notification without a key collapses under the
    /// app's package (ccs-xmpp 6).
    public static func collapseKey(of message: DownstreamMessage) -> [UInt8]? {
        if let key = message.collapseKey, !key.isEmpty { return key }
        return message.notification == nil ? nil : MessageContent.appCollapseKey
    }
}
