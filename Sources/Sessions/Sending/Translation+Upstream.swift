public import Basics
public import Delivery
public import Wire

extension Translation {
    /// Appends the pairs of an upstream message as a JSON object whose values are strings (ccs-xmpp 3.1, 4.1).
    ///
    /// A body that is none gives what of it could be read.
    public static func append(dataOf body: EncodedAppData, to buffer: inout ByteBuffer) {
        buffer.append("{")
        let start = buffer.count
        do throws(MCSError) {
            try AppData.forEach(in: body.raw) { key, value in
                if buffer.count > start { buffer.append(",") }
                JSONWriter.append(string: key, in: .element, to: &buffer)
                buffer.append(":")
                JSONWriter.append(string: value, in: .element, to: &buffer)
            }
        } catch {
            // Sessions have checked the frame that it comes from; what is left is the store's damage.
        }
        buffer.append("}")
    }

    /// The urgency of a message: what it says, else high where the device shows a notification (ccs-xmpp 2.2).
    public static func priority(of message: DownstreamMessage) -> Priority {
        switch message.priority {
        case .high: .high
        case .normal: .normal
        case nil: message.notification == nil ? .normal : .high
        }
    }

    /// Whether it waits while the device is idle: not where high priority is asked for, which means at once (ccs-xmpp 6).
    ///
    /// That of a notification is only a default and gives way to what was asked for.
    public static func delaysWhileIdle(_ message: DownstreamMessage) -> Bool {
        message.delaysWhileIdle && message.priority != .high
    }

    /// What it replaces; an empty key is none. A notification without a key collapses under its app's package (ccs-xmpp 6).
    public static func collapseKey(of message: DownstreamMessage) -> [UInt8]? {
        if let key = message.collapseKey, !key.isEmpty { return key }
        return message.notification == nil ? nil : MessageContent.appCollapseKey
    }
}
