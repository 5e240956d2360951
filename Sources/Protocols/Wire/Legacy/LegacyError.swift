public import Basics

/// The error texts of the legacy HTTP interface (http 2.7, 4).
public enum LegacyError {
    /// Returns the error word for one recipient, used in `results` and after `Error=`.
    public static func word(_ refusal: Refusal) -> StaticString {
        switch refusal {
        case .missingTarget: "MissingRegistration"
        case .outOfRange(field: PayloadField.timeToLive.name, _, _, _),
            .wrongType(field: PayloadField.timeToLive.name, _, _):
            "InvalidTtl"
        case .tooLarge(field: PayloadField.data.name, _, _),
            .tooLarge(field: PayloadField.notification.name, _, _),
            .tooLarge(field: PayloadField.rawData.name, _, _):
            "MessageTooBig"
        case .reservedKey: "InvalidDataKey"
        case .wrongType, .outOfRange, .notAllowed, .tooLarge, .conflict, .repeatedMessageID, .badAck:
            "InvalidParameters"
        case .unknownMessage: "UnknownMessage"
        case .messageSent: "MessageSent"
        case .invalidToken: "InvalidRegistration"
        case .senderMismatch, .senderSuspended: "MismatchSenderId"
        case .notRegistered: "NotRegistered"
        case .packageMismatch: "InvalidPackageName"
        case .deviceRateExceeded: "DeviceMessageRateExceeded"
        case .topicRateExceeded: "TopicsMessageRateExceeded"
        case .senderRateExceeded, .unavailable, .storeDamaged, .draining: "Unavailable"
        case .internalError: "InternalServerError"
        case .scheduleFull: "ScheduleFull"
        case .apns(let refusal): word(refusal)
        }
    }

    /// Returns the error word for a message to an iOS app (apns 4.1).
    private static func word(_ refusal: APNsRefusal) -> StaticString {
        switch refusal.kind {
        case .credential: "InvalidApnsCredential"
        case .unregistered, .badToken: "NotRegistered"
        case .mismatch: "MismatchSenderId"
        case .tooLarge: "MessageTooBig"
        case .invalid, .activityEnded: "InvalidParameters"
        case .rateExceeded: "DeviceMessageRateExceeded"
        case .unavailable: "Unavailable"
        case .internalFault: "InternalServerError"
        }
    }

    /// All error words for one recipient.
    public static let words = [
        "MissingRegistration", "InvalidTtl", "MessageTooBig", "InvalidDataKey", "InvalidParameters",
        "InvalidRegistration", "MismatchSenderId", "NotRegistered", "InvalidPackageName",
        "DeviceMessageRateExceeded", "TopicsMessageRateExceeded", "Unavailable", "InternalServerError",
        "InvalidApnsCredential", "ScheduleFull", "UnknownMessage", "MessageSent",
    ]

    /// Whether a refusal is about the size of the payload, which is reported for each recipient (http 2.8).
    public static func isOfSize(_ refusal: Refusal) -> Bool {
        guard case .tooLarge(let field, _, _) = refusal else { return false }
        return field == PayloadField.data.name || field == PayloadField.notification.name
            || field == PayloadField.rawData.name
    }

    /// Returns the error text for refusing a whole JSON request.
    public static func fault(_ refusal: Refusal) -> LegacyFault {
        switch refusal {
        case .wrongType(let field, let expected, let found):
            LegacyFault("Field \"\(field)\" must be a JSON \(expected): \(found)")
        case .outOfRange(let field, let value, let lowest, let highest):
            LegacyFault("Invalid value (\(value)) for \"\(field)\": must be between \(lowest) and \(highest)")
        case .notAllowed(let field, let value, let allowed):
            LegacyFault("Invalid value (\(value)) for \"\(field)\": must be one of: \(allowed)")
        case .tooLarge(let field, let bytes, let limit):
            LegacyFault("Field \"\(field)\" has \(bytes) bytes: must be at most \(limit)")
        case .reservedKey(let key): LegacyFault("\"data\" key \"\(key)\" is a reserved keyword")
        case .conflict(let field, let reason):
            LegacyFault("Field \"\(field)\" cannot be used: \(reason)")
        default: LegacyFault("\(word(refusal))")
        }
    }
}
