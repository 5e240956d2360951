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
    /// The registration token of the device, the notification key of a group, or `/topics/NAME`.
    public var to: Redacted<String>
    /// Bytes instead of key-value pairs, as Base64.
    public var rawData: String?
    public var data: [JSONValue.Member]?
    /// The collapse key: a pending message with the same key is replaced.
    public var collapseKey: String?
    /// The lifetime in seconds for a device that is offline; 0 drops the message unless the device is online.
    public var timeToLive: Int?
    public var priority: Priority?
    /// Whether the sender gets a receipt when the device has acknowledged the message.
    public var wantsReceipt: Bool

    /// Creates the command.
    public init(
        sender: SenderID, to: Redacted<String>, rawData: String? = nil, data: [JSONValue.Member]? = nil,
        collapseKey: String? = nil, timeToLive: Int? = nil, priority: Priority? = nil,
        wantsReceipt: Bool = false
    ) {
        self.sender = sender
        self.to = to
        self.rawData = rawData
        self.data = data
        self.collapseKey = collapseKey
        self.timeToLive = timeToLive
        self.priority = priority
        self.wantsReceipt = wantsReceipt
    }

    public static let summary = OperationSummary.changing(
        .sendMessage, "Send one message to a device, a group or a topic, as one of the senders.")

    public static let fields = Fields(
        SendMessage.init(sender:to:rawData:data:collapseKey:timeToLive:priority:wantsReceipt:),
        .required(
            "sender_id", .sender, \.sender, audit: .sender,
            "The sender to send as: the one that the token was issued for."),
        .required(
            "to",
            .secret(
                0...Limits.Operator.requestBytes, "a registration token, a notification key or /topics/NAME",
                as: "TOKEN"), \.to, audit: .target,
            "The registration token of the device, the notification key of a group, or /topics/NAME."),
        .optional(
            "raw_data", .text(0...Limits.Operator.requestBytes, as: "BASE64"), \.rawData,
            "A payload of up to \(Limits.Message.payloadBytes) bytes, instead of key-value pairs."),
        .optional("data", .pairs, \.data, "The key-value pairs of the payload."),
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
        ))

    /// The ACK or NACK of the message.
    public struct Answer: Record {
        /// Whether it was accepted.
        public enum Outcome: String, Sendable, CaseIterable {
            case ack
            case nack
        }

        /// The generated ID of the message.
        public var messageID: String
        public var outcome: Outcome
        public var error: String?
        public var errorDescription: String?
        public var success: Int?
        public var failure: Int?

        /// Creates an answer.
        public init(
            messageID: String, outcome: Outcome, error: String? = nil, errorDescription: String? = nil,
            success: Int? = nil, failure: Int? = nil
        ) {
            self.messageID = messageID
            self.outcome = outcome
            self.error = error
            self.errorDescription = errorDescription
            self.success = success
            self.failure = failure
        }

        public static let fields = Fields(
            Answer.init(messageID:outcome:error:errorDescription:success:failure:),
            .required("message_id", .text, \.messageID, "The generated ID of the message."),
            .required("outcome", .word, \.outcome, "Whether the message was accepted."),
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
