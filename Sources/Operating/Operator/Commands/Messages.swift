public import Basics
public import Wire

/// Sends one message as a sender, and waits for its ACK or NACK.
public struct SendMessage: OperatorCommand {
    /// The priority of a message.
    public enum Priority: String, Sendable, CaseIterable {
        case normal
        case high
    }

    public var sender: SenderID
    /// The registration token of the device, the notification key of a group, or `/topics/NAME`; `nil` with `message`, which has its
    /// own target.
    public var to: Redacted<String>?
    /// The ID of the message; `nil` lets the server generate one.
    public var messageID: String?
    /// Bytes instead of key-value pairs, as Base64.
    public var rawData: String?
    public var data: [JSONValue.Member]?
    /// The fields of the notification that the device or the app shows.
    public var notification: [JSONValue.Member]?
    /// The collapse key: a pending message with the same key is replaced.
    public var collapseKey: String?
    /// The lifetime in seconds for a device that is offline; 0 drops the message unless the device is online.
    public var timeToLive: Int?
    public var priority: Priority?
    /// Whether the sender gets a receipt when the device has acknowledged the message.
    public var wantsReceipt: Bool = false
    /// A message of HTTP v1, or the body of a request with one, instead of all other fields but the sender.
    public var message: [JSONValue.Member]?

    public static let summary = OperationSummary.changing(
        "send", "Send one message to a device, a group or a topic, as one of the senders.",
        details: [
            "The message is given by the fields of XMPP and legacy HTTP, or as a message of HTTP v1, which has all of them."
        ])

    public func check() throws(FieldProblem) {
        guard message == nil else {
            let isAlone =
                to == nil && messageID == nil && rawData == nil && data == nil && notification == nil
                && collapseKey == nil && timeToLive == nil && priority == nil && !wantsReceipt
            guard isAlone else {
                throw .conflict(
                    "message cannot be given with other fields than sender_id",
                    hint: "write them into the message, as HTTP v1 names them")
            }
            return
        }
        guard to != nil else {
            throw .conflict(
                "to or message must be given",
                hint: "give a registration token, a notification key or /topics/NAME, or a message of HTTP v1"
            )
        }
    }

    public static let fields = Fields(
        SendMessage.init(
            sender:to:messageID:rawData:data:notification:collapseKey:timeToLive:priority:wantsReceipt:
            message:),
        .required(
            "sender_id", .sender, \.sender, audit: .sender,
            "The sender to send as: the one that the token was issued for."),
        .optional(
            "to",
            .secret(
                0...Limits.Operator.requestBytes, "a registration token, a notification key or /topics/NAME",
                as: "TOKEN"), \.to, audit: .target,
            "The registration token of the device, the notification key of a group, or /topics/NAME."),
        .optional(
            "message_id", .text(1...Limits.AppServer.messageIDBytes, as: "ID"), \.messageID,
            "The ID of the message, which its receipt repeats. Default: a generated one."),
        .optional(
            "raw_data", .text(0...Limits.Operator.requestBytes, as: "BASE64"), \.rawData,
            "A payload of up to \(Limits.Message.payloadBytes) bytes, instead of key-value pairs."),
        .optional("data", .pairs, \.data, "The key-value pairs of the payload."),
        .optional(
            "notification", .pairs, \.notification,
            "The notification to show: an object with title, body and the other fields of legacy HTTP."),
        .optional(
            "collapse_key", .text(0...Limits.Message.payloadBytes, as: "KEY"), \.collapseKey,
            "Replace a pending message that has the same key."),
        .optional(
            "time_to_live", .integer(0...Limits.Message.lifetimeSeconds, as: "SECONDS"), \.timeToLive,
            "Lifetime of the message for a device that is offline; 0 drops it unless the device is online. Default: the maximum."
        ),
        .optional("priority", .word, \.priority, "The priority of the message."),
        .preset(
            "delivery_receipt_requested", .boolean, \.wantsReceipt, false,
            "Whether the app servers of the sender get a receipt when the device has acknowledged the message."
        ),
        .optional(
            "message", .pairs, \.message,
            "A message of HTTP v1, or the body of a request with one, instead of the other fields."))

    /// The ACK or NACK of the message.
    public struct Answer: Record {
        /// Whether it was accepted.
        public enum Outcome: String, Sendable, CaseIterable {
            case ack
            case nack
        }

        /// The ID of the message.
        public var messageID: String
        public var outcome: Outcome
        public var error: String?
        public var errorDescription: String?
        /// The token of the app that has replaced the one that was given.
        public var registration: Redacted<String>?
        public var success: Int?
        public var failure: Int?

        /// Creates an answer.
        public init(
            messageID: String, outcome: Outcome, registration: Redacted<String>? = nil, error: String? = nil,
            errorDescription: String? = nil, success: Int? = nil, failure: Int? = nil
        ) {
            self.messageID = messageID
            self.outcome = outcome
            self.registration = registration
            self.error = error
            self.errorDescription = errorDescription
            self.success = success
            self.failure = failure
        }

        public static let fields = Fields(
            Answer.init(messageID:outcome:registration:error:errorDescription:success:failure:),
            .required("message_id", .text, \.messageID, "The ID of the message."),
            .required("outcome", .word, \.outcome, "Whether the message was accepted."),
            .optional(
                "registration_id", .registrationToken, \.registration,
                "The newer token of the app, which has replaced the given one."),
            .optional("error", .text, \.error, "The error code of a NACK."),
            .optional("error_description", .text, \.errorDescription, "The description of the error."),
            .optional(
                "success", .count, \.success,
                "For a group: the number of members for which the message was accepted."),
            .optional(
                "failure", .count, \.failure,
                "For a group: the number of members for which the message was refused."))
    }

    /// Returns the error code of a refused message, since the refusal is not a failure of the command.
    public static func auditResult(_ answer: Answer) -> String {
        answer.outcome == .ack ? "ok" : answer.error ?? "refused"
    }
}
