public import Basics

/// Writes the stanza of a device's message to an app server (ccs-xmpp 4.1).
public enum UpstreamMessage {
    /// Appends the stanza up to the value of `data`, a JSON object that the caller appends next.
    public static func appendHead(
        sender: SenderID, isFCMDomain: Bool, into buffer: inout ByteBuffer
    ) {
        UpstreamEnvelope.appendHead(sender: sender, isFCMDomain: isFCMDomain, into: &buffer)
        buffer.append("{\"data\":")
    }

    /// Appends what follows `data`.
    public static func appendTail(
        lifetimeSeconds: Int, from token: RawSpan, messageID: RawSpan, category: RawSpan,
        into buffer: inout ByteBuffer
    ) {
        buffer.append(",\"time_to_live\":")
        buffer.append(decimal: lifetimeSeconds)
        buffer.append(",\"from\":")
        JSONWriter.append(string: token, in: .element, to: &buffer)
        buffer.append(",\"message_id\":")
        JSONWriter.append(string: messageID, in: .element, to: &buffer)
        buffer.append(",\"category\":")
        JSONWriter.append(string: category, in: .element, to: &buffer)
        buffer.append("}")
        UpstreamEnvelope.appendTail(into: &buffer)
    }
}

/// Writes the delivery receipt of a message to a device (ccs-xmpp 3.6).
public enum Receipt {
    /// The prefix of a receipt's message ID; the ID of the delivered message follows.
    public static let idPrefix: StaticString = "dr2:"

    /// Appends the stanza; `sentAt` is in milliseconds since 1970. `isForwarded`: APNs accepted the message, which does not report
    /// whether the device got it: the status differs.
    public static func append(
        sender: SenderID, isFCMDomain: Bool, originalMessageID: RawSpan, token: RawSpan,
        category: RawSpan, sentAt: UnixMilliseconds, isForwarded: Bool = false, into buffer: inout ByteBuffer
    ) {
        UpstreamEnvelope.appendHead(sender: sender, isFCMDomain: isFCMDomain, into: &buffer)
        buffer.append("{\"category\":")
        JSONWriter.append(string: category, in: .element, to: &buffer)
        buffer.append(",\"data\":{\"message_status\":\"")
        buffer.append(isForwarded ? "MESSAGE_SENT_TO_APNS" : "MESSAGE_SENT_TO_DEVICE")
        buffer.append("\",\"original_message_id\":")
        JSONWriter.append(string: originalMessageID, in: .element, to: &buffer)
        buffer.append(",\"device_registration_id\":")
        JSONWriter.append(string: token, in: .element, to: &buffer)
        buffer.append(",\"message_sent_timestamp\":\"")
        buffer.append(decimal: sentAt)
        buffer.append("\"},\"message_id\":\"")
        buffer.append(idPrefix)
        JSONWriter.append(content: originalMessageID, in: .element, to: &buffer)
        buffer.append(
            "\",\"message_type\":\"receipt\",\"time_to_live\":0,\"from\":\"gcm.googleapis.com\"}")
        UpstreamEnvelope.appendTail(into: &buffer)
    }
}

/// The stanza around the JSON of upstream messages and receipts; attribute order as in real traffic (ccs-xmpp 3.1).
private enum UpstreamEnvelope {
    static func appendHead(sender: SenderID, isFCMDomain: Bool, into buffer: inout ByteBuffer) {
        buffer.append("<message to=\"")
        buffer.append(decimal: sender.number)
        buffer.append(isFCMDomain ? "@fcm.googleapis.com" : "@gcm.googleapis.com")
        buffer.append(
            "\" from=\"devices@gcm.googleapis.com\" type=\"normal\"><gcm xmlns=\"google:mobile:data\">")
    }

    static func appendTail(into buffer: inout ByteBuffer) { buffer.append("</gcm></message>") }
}
