/// Why a message or request was refused.
///
/// XMPP and HTTP each map it to their own error codes (ccs-xmpp 3.3, http 4, 8.6). Field names are those of the wire.
public enum Refusal: Error, Sendable, Equatable {
    // Form: found before any look-up.
    /// Neither `to` nor `condition`.
    case missingTarget
    /// A field has the wrong JSON type; `expected` is the Java name that clients recognise (`java.lang.Number`).
    case wrongType(field: String, expected: String, found: String)
    /// A number outside its range, both ends included.
    case outOfRange(field: String, value: String, lowest: Int, highest: Int)
    /// A word that is not among the allowed ones.
    case notAllowed(field: String, value: String, allowed: String)
    /// More bytes than the limit.
    case tooLarge(field: String, bytes: Int, limit: Int)
    /// A `data` key that is reserved for the service.
    case reservedKey(String)
    /// Two fields that exclude each other, or a field that this protocol does not accept.
    case conflict(field: String, reason: String)
    /// The message ID was received before on this connection.
    case repeatedMessageID
    /// An ack without a required field, or, where acks are checked, for an unknown message.
    case badAck(AckFault)

    // Address.
    /// The token is malformed or was made by another server.
    case invalidToken
    /// The token belongs to another sender.
    case senderMismatch
    /// The registration no longer exists.
    case notRegistered
    /// The token belongs to another app than `restricted_package_name`.
    case packageMismatch
    /// The web app belongs to a sender that an operator has suspended.
    case senderSuspended

    // State.
    /// Too many messages to one device.
    case deviceRateExceeded
    /// Too many messages of one sender.
    case senderRateExceeded
    /// Too many messages to one topic.
    case topicRateExceeded
    /// The store cannot take it now.
    case unavailable
    /// What the store has of the recipient cannot be read: the store is damaged.
    case storeDamaged
    /// A fault of the server.
    case internalError
    /// The connection is draining and accepts no new messages.
    case draining
    /// No message of the sender with this ID waits, so that none can be cancelled.
    case unknownMessage
    /// The message to cancel was sent to the device or to APNs.
    case messageSent
    /// Too many messages wait for their time.
    case scheduleFull(ScheduleLimit)
    /// APNs, or the gateway to it, does not take the message.
    case apns(APNsRefusal)

    /// What is wrong with an ack; field names are those of the wire.
    public enum AckFault: Sendable, Equatable {
        /// The field is missing.
        case missing(field: String)
        /// The field is not a string; `found` is its text, cut.
        case notAString(field: String, found: String)
        /// No such message is pending on this connection; `messageID` is cut.
        case unknown(messageID: String)
    }

    /// The word in logs and metric labels.
    public var word: String {
        switch self {
        case .missingTarget: "missing_target"
        case .wrongType: "wrong_type"
        case .outOfRange: "out_of_range"
        case .notAllowed: "not_allowed"
        case .tooLarge: "too_large"
        case .reservedKey: "reserved_key"
        case .conflict: "conflict"
        case .repeatedMessageID: "repeated_message_id"
        case .badAck: "bad_ack"
        case .invalidToken: "invalid_token"
        case .senderMismatch: "sender_mismatch"
        case .notRegistered: "not_registered"
        case .packageMismatch: "package_mismatch"
        case .senderSuspended: "sender_suspended"
        case .deviceRateExceeded: "device_rate_exceeded"
        case .senderRateExceeded: "sender_rate_exceeded"
        case .topicRateExceeded: "topic_rate_exceeded"
        case .unavailable: "unavailable"
        case .storeDamaged: "store_damaged"
        case .internalError: "internal_error"
        case .draining: "draining"
        case .unknownMessage: "unknown_message"
        case .messageSent: "message_sent"
        case .scheduleFull: "schedule_full"
        case .apns(let refusal): refusal.kind.rawValue
        }
    }

    /// The name of the field that is wrong, as on the wire. Returns `nil` if no single field is.
    public var field: String? {
        switch self {
        case .wrongType(let field, _, _), .outOfRange(let field, _, _, _), .notAllowed(let field, _, _),
            .tooLarge(let field, _, _), .conflict(let field, _), .badAck(.missing(let field)),
            .badAck(.notAString(let field, _)):
            field
        case .reservedKey: "data"
        default: nil
        }
    }

    /// The word, and the field if one is wrong, as the message history has it.
    public var detail: String { field.map { "\(word) \($0)" } ?? word }

    /// Whether the same message may succeed later, so that its ID must be usable again (ccs-xmpp 6).
    public var isRetryable: Bool {
        switch self {
        case .deviceRateExceeded, .senderRateExceeded, .topicRateExceeded, .unavailable, .storeDamaged,
            .internalError, .draining, .scheduleFull:
            true
        case .apns(let refusal):
            switch refusal.kind {
            case .rateExceeded, .unavailable, .internalFault, .credential: true
            case .unregistered, .badToken, .mismatch, .activityEnded, .tooLarge, .invalid: false
            }
        default: false
        }
    }
}
