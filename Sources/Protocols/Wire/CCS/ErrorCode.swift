public import Basics

/// The `error` and `error_description` of a NACK for each refusal (ccs-xmpp 3.3).
public enum ErrorCode {
    /// Returns the `error` for a refusal.
    public static func code(_ refusal: Refusal) -> StaticString {
        switch refusal {
        case .missingTarget, .wrongType, .outOfRange, .notAllowed, .tooLarge, .reservedKey, .conflict,
            .repeatedMessageID, .packageMismatch:
            "INVALID_JSON"
        case .badAck: "BAD_ACK"
        case .invalidToken, .senderMismatch, .senderSuspended: "BAD_REGISTRATION"
        case .notRegistered: "DEVICE_UNREGISTERED"
        case .deviceRateExceeded: "DEVICE_MESSAGE_RATE_EXCEEDED"
        case .topicRateExceeded: "TOPICS_MESSAGE_RATE_EXCEEDED"
        case .senderRateExceeded, .unavailable, .storeDamaged: "SERVICE_UNAVAILABLE"
        case .internalError: "INTERNAL_SERVER_ERROR"
        case .draining: "CONNECTION_DRAINING"
        case .unknownMessage: "UNKNOWN_MESSAGE"
        case .messageSent: "MESSAGE_SENT"
        case .scheduleFull: "SCHEDULE_FULL"
        case .apns(let refusal): code(refusal)
        }
    }

    /// Returns the `error` for a message to an iOS app (apns 4.1).
    private static func code(_ refusal: APNsRefusal) -> StaticString {
        switch refusal.kind {
        case .credential: "INVALID_APNS_CREDENTIAL"
        case .unregistered, .badToken: "DEVICE_UNREGISTERED"
        case .mismatch: "BAD_REGISTRATION"
        case .tooLarge, .invalid, .activityEnded: "INVALID_JSON"
        case .rateExceeded: "DEVICE_MESSAGE_RATE_EXCEEDED"
        case .unavailable: "SERVICE_UNAVAILABLE"
        case .internalFault: "INTERNAL_SERVER_ERROR"
        }
    }

    /// The form in which a description is appended.
    public enum Form: Sendable {
        /// As the content of a JSON string in a stanza.
        case stanza
        /// As it is, for an encoder that escapes it.
        case plain
    }

    /// Appends the `error_description`; `to` is the target as sent.
    public static func append(
        descriptionOf refusal: Refusal, to target: RawSpan, as form: Form = .stanza,
        into buffer: inout ByteBuffer
    ) {
        switch refusal {
        case .repeatedMessageID: buffer.append("Message with the same id has been received before")
        case .invalidToken:
            buffer.append("Invalid token on 'to' field: ")
            append(cut: target, as: form, into: &buffer)
        case .senderMismatch: buffer.append("Token on 'to' field belongs to another sender")
        case .senderSuspended: buffer.append("The sender is suspended")
        case .notRegistered: buffer.append("Token on 'to' field is no longer registered")
        case .deviceRateExceeded:
            buffer.append("Downstream message rate exceeded for this registration id")
        case .senderRateExceeded: buffer.append("Message rate exceeded for this sender, retry later")
        case .topicRateExceeded: buffer.append("Message rate exceeded for this topic")
        case .unavailable: buffer.append("Service temporarily unavailable, retry later")
        case .storeDamaged: buffer.append(DamageText.value)
        case .internalError: buffer.append("Internal server error, retry later")
        case .draining: buffer.append("Connection is draining")
        case .unknownMessage: buffer.append("No message of this sender with this id waits for the device")
        case .messageSent: buffer.append("Too late: the message was sent to the device")
        case .scheduleFull(let limit):
            append(text: "Field \"send_at\" cannot be used: \(limit.text)", as: form, into: &buffer)
        case .apns(let refusal): append(text: APNsText.description(of: refusal), as: form, into: &buffer)
        default: append(text: formText(refusal), as: form, into: &buffer)
        }
    }

    /// Texts that name a field. Such a refusal is the client's mistake and off the hot path, so a `String` is affordable.
    private static func formText(_ refusal: Refusal) -> String {
        switch refusal {
        case .missingTarget: "InvalidJson: JSON_PARSING_ERROR : Missing Required Field: to"
        case .wrongType(let field, let expected, let found):
            "InvalidJson: JSON_TYPE_ERROR : Field \"\(field)\" must be a JSON \(expected): \(found)"
        case .outOfRange(let field, let value, let lowest, let highest):
            "InvalidJson: \(field == "time_to_live" ? "INVALID_TTL" : "INVALID_VALUE") : Invalid value (\(value)) "
                + "for \"\(field)\": must be between \(lowest) and \"\(highest)\""
        case .notAllowed(let field, let value, let allowed):
            "InvalidJson: INVALID_VALUE : Invalid value (\(value)) for \"\(field)\": must be one of: \(allowed)"
        case .tooLarge(let field, let bytes, let limit):
            "InvalidJson: MESSAGE_TOO_BIG : Field \"\(field)\" has \(bytes) bytes: must be at most \(limit)"
        case .reservedKey(let key):
            "InvalidJson: INVALID_DATA_KEY : Field \"data\" must not hold the reserved key: \(key)"
        case .conflict(let field, let reason):
            "InvalidJson: INVALID_FIELD : Field \"\(field)\" cannot be used: \(reason)"
        case .packageMismatch:
            "InvalidJson: INVALID_PACKAGE_NAME : Field \"restricted_package_name\" is not the app of the token"
        case .badAck(.missing(let field)):
            "InvalidJson: JSON_PARSING_ERROR : Missing Required Field: \(field)"
        case .badAck(.notAString(let field, let found)):
            "InvalidJson: JSON_TYPE_ERROR : Field \"\(field)\" must be a JSON java.lang.String: \(found)"
        case .badAck(.unknown(let messageID)):
            "InvalidAck: UNKNOWN_MESSAGE_ID : Invalid value (\(messageID)) for \"message_id\": "
                + "must be that of a message on this connection that waits for its ack"
        default: refusal.word
        }
    }

    private static func append(text: String, as form: Form, into buffer: inout ByteBuffer) {
        append(content: Array(text.utf8).raw, as: form, into: &buffer)
    }

    private static func append(content: RawSpan, as form: Form, into buffer: inout ByteBuffer) {
        switch form {
        case .stanza: JSONWriter.append(content: content, in: .element, to: &buffer)
        case .plain: buffer.append(content)
        }
    }

    /// Appends a token as sent, cut to twice the length of a valid one.
    private static func append(cut target: RawSpan, as form: Form, into buffer: inout ByteBuffer) {
        let limit = 2 * TokenSeal.longestLength
        guard target.byteCount > limit else {
            return append(content: target, as: form, into: &buffer)
        }
        var end = limit
        while end > 0, target.byte(at: end) & 0xC0 == 0x80 { end -= 1 }
        append(content: target.extracting(0..<end), as: form, into: &buffer)
        buffer.append("…")
    }
}
