public import Basics
public import Wire

/// Sends one message in the name of a sender, and waits for its ACK or NACK.
public struct SendMessage: OperatorCommand {
    /// How urgent a message is.
    public enum Priority: String, Sendable, CaseIterable {
        case normal
        case high
    }

    /// The sender that the token was made for.
    public var sender: SenderID
    /// The registration token of the device, the notification key of a group, or `/topics/NAME`.
    public var to: Redacted<String>
    /// Bytes in the place of pairs, as Base64.
    public var rawData: String?
    /// The pairs of the payload.
    public var data: [JSONValue.Member]?
    /// A waiting message with the same key is replaced.
    public var collapseKey: String?
    /// For how long it is kept for a device that is away; 0: now or never.
    public var timeToLive: Int?
    /// How urgent it is.
    public var priority: Priority?

    /// A message.
    public init(
        sender: SenderID, to: Redacted<String>, rawData: String? = nil, data: [JSONValue.Member]? = nil,
        collapseKey: String? = nil, timeToLive: Int? = nil, priority: Priority? = nil
    ) {
        self.sender = sender
        self.to = to
        self.rawData = rawData
        self.data = data
        self.collapseKey = collapseKey
        self.timeToLive = timeToLive
        self.priority = priority
    }

    public static let summary = OperationSummary.changing(
        .sendMessage, "Send one message to a device, a group or a topic, as one of the senders.")

    public static let fields = Fields(
        SendMessage.init(sender:to:rawData:data:collapseKey:timeToLive:priority:),
        .required(
            "sender_id", .sender, \.sender, audit: .sender, "The sender that the token was made for."),
        .required(
            "to",
            .secret(
                0...Limits.Operator.requestBytes, "a registration token, a notification key or /topics/NAME",
                as: "TOKEN"), \.to, audit: .target,
            "The registration token of the device, the notification key of a group, or /topics/NAME."),
        .optional(
            "raw_data", .text(0...Limits.Operator.requestBytes, as: "BASE64"), \.rawData,
            "Up to \(Limits.Message.payloadBytes) bytes in place of pairs."),
        .optional("data", .pairs, \.data, "The pairs of the payload."),
        .optional(
            "collapse_key", .text(0...Limits.Message.payloadBytes, as: "KEY"), \.collapseKey,
            "Replace a waiting message with the same key."),
        .optional(
            "time_to_live", .integer(0...Limits.Message.lifetimeSeconds, as: "SECONDS"), \.timeToLive,
            "Keep it so long for a device that is away; 0: now or never. The longest is the default."),
        .optional("priority", .word, \.priority, "How urgent it is."))

    /// What became of a message.
    public struct Answer: Record {
        /// Whether it was accepted.
        public enum Outcome: String, Sendable, CaseIterable {
            case ack
            case nack
        }

        /// Its ID, which was made for it.
        public var messageID: String
        /// Whether it was accepted.
        public var outcome: Outcome
        /// The error code of a NACK.
        public var error: String?
        /// The error code in words.
        public var errorDescription: String?
        /// For a group: how many members it was accepted for.
        public var success: Int?
        /// For a group: how many members it was not accepted for.
        public var failure: Int?

        /// What became of a message.
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
            .required("message_id", .text, \.messageID, "The ID that was made for it."),
            .required("outcome", .word, \.outcome, "Whether it was accepted."),
            .optional("error", .text, \.error, "The error code of a NACK."),
            .optional("error_description", .text, \.errorDescription, "The error code in words."),
            .optional("success", .count, \.success, "For a group: how many members it was accepted for."),
            .optional("failure", .count, \.failure, "For a group: how many members it was not accepted for."))
    }

    /// A message that was refused is an answer, not a fault of the command; its error code is what happened.
    public static func auditResult(_ answer: Answer) -> String {
        answer.outcome == .ack ? "ok" : answer.error ?? "refused"
    }
}
