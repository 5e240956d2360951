public import Basics

/// Appends ACK, NACK and control stanzas (ccs-xmpp 3.1 to 3.3, 3.7): no attributes, and a prefixed element.
///
/// Bytes and key order are those of the real service, since several clients match them literally.
public enum AnswerWriter {
    /// Appends the ACK of a message; `canonical` is the token that replaced the one in `to`.
    public static func appendAck(
        to target: RawSpan, messageID: RawSpan, canonical: [UInt8]? = nil, into buffer: inout ByteBuffer
    ) {
        begin("ack", to: target, messageID: messageID, into: &buffer)
        if let canonical {
            buffer.append(",\"registration_id\":")
            JSONWriter.append(string: canonical.raw, in: .element, to: &buffer)
        }
        end(into: &buffer)
    }

    /// Appends the ACK of a message to a device group (ccs-xmpp 3.2); `failed` lists the member tokens that were not reached.
    public static func appendGroupAck(
        to target: RawSpan, messageID: RawSpan, success: Int, failed: [[UInt8]], into buffer: inout ByteBuffer
    ) {
        begin("ack", to: target, messageID: messageID, into: &buffer)
        buffer.append(",\"success\":")
        buffer.append(decimal: success)
        buffer.append(",\"failure\":")
        buffer.append(decimal: failed.count)
        if !failed.isEmpty {
            buffer.append(",\"failed_registration_ids\":[")
            for (at, token) in failed.enumerated() {
                if at > 0 { buffer.append(",") }
                JSONWriter.append(string: token.raw, in: .element, to: &buffer)
            }
            buffer.append("]")
        }
        end(into: &buffer)
    }

    /// Appends the NACK of a message or of a malformed ack.
    public static func appendNack(
        to target: RawSpan, messageID: RawSpan, _ refusal: Refusal, into buffer: inout ByteBuffer
    ) {
        begin("nack", to: target, messageID: messageID, into: &buffer)
        buffer.append(",\"error\":\"")
        buffer.append(ErrorCode.code(refusal))
        buffer.append("\",\"error_description\":\"")
        ErrorCode.append(descriptionOf: refusal, to: target, into: &buffer)
        buffer.append("\"")
        end(into: &buffer)
    }

    /// Appends the notice that the connection accepts no new messages; two old clients need a `messageID` in it.
    public static func appendDraining(messageID: UInt64? = nil, into buffer: inout ByteBuffer) {
        buffer.append(opening)
        buffer.append("{\"message_type\":\"control\",\"control_type\":\"CONNECTION_DRAINING\"")
        if let messageID {
            buffer.append(",\"message_id\":\"control-")
            Hex.append(messageID, to: &buffer)
            buffer.append("\"")
        }
        end(into: &buffer)
    }

    private static let opening: StaticString = "<message><data:gcm xmlns:data=\"google:mobile:data\">"

    private static func begin(
        _ type: StaticString, to target: RawSpan, messageID: RawSpan, into buffer: inout ByteBuffer
    ) {
        buffer.append(opening)
        buffer.append("{\"message_type\":\"")
        buffer.append(type)
        buffer.append("\",\"from\":")
        JSONWriter.append(string: target, in: .element, to: &buffer)
        buffer.append(",\"message_id\":")
        JSONWriter.append(string: messageID, in: .element, to: &buffer)
    }

    private static func end(into buffer: inout ByteBuffer) {
        buffer.append("}</data:gcm></message>")
    }
}
