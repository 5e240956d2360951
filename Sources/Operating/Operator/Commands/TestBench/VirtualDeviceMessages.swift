public import Basics
public import Wire

/// Reads the inbox of a virtual device.
public struct ReadVirtualDevice: OperatorCommand {
    public var device: DeviceID
    public var after: Int = 0
    public var limit: Int = Limits.TestBench.pageDefault
    public var wait: Int = 0
    public var count: Int = 1

    public static let summary = OperationSummary.reading(
        "virtual-devices messages", role: .operator, "Read the inbox of a virtual device.",
        details: [
            "Messages are numbered from 1 in the order in which the device has received them. Reading removes nothing."
        ])
    public static let fields = Fields(
        ReadVirtualDevice.init(device:after:limit:wait:count:),
        .required("device", .device(), \.device, "The virtual device."),
        .preset("after", .count, \.after, 0, "Start after the message with this number."),
        .preset(
            "limit", .integer(1...Limits.TestBench.page), \.limit, Limits.TestBench.pageDefault,
            "Read up to N messages."),
        .preset(
            "wait", .integer(0...Limits.TestBench.waitSeconds, as: "SECONDS"), \.wait, 0,
            "Wait this long for messages, if there are less than count."),
        .preset(
            "count", .integer(1...Limits.TestBench.page), \.count, 1,
            "With wait: answer as soon as there are N messages, or limit."))

    /// A message in the inbox.
    public struct Row: Record {
        public var number: Int
        public var receivedAt: UnixMilliseconds
        public var type: Kind
        public var from: String
        public var persistentID: String?
        public var collapseKey: String?
        public var isRepeated: Bool
        public var data: [JSONValue.Member]
        public var rawData: String?

        /// What a message is.
        public enum Kind: String, Sendable, CaseIterable {
            case message
            case deletedMessages = "deleted_messages"
            case sendError = "send_error"
        }

        /// Creates a row.
        public init(
            number: Int, receivedAt: UnixMilliseconds, type: Kind, from: String, persistentID: String?,
            collapseKey: String?, isRepeated: Bool, data: [JSONValue.Member], rawData: String?
        ) {
            self.number = number
            self.receivedAt = receivedAt
            self.type = type
            self.from = from
            self.persistentID = persistentID
            self.collapseKey = collapseKey
            self.isRepeated = isRepeated
            self.data = data
            self.rawData = rawData
        }

        public static let fields = Fields(
            Row.init(
                number:receivedAt:type:from:persistentID:collapseKey:isRepeated:data:rawData:),
            .required("number", .count, \.number, "The number of the message in the inbox, from 1."),
            .required("received_at", .time, \.receivedAt, "When the device received it."),
            .required(
                "type", .word, \.type,
                "Whether it is a message, the notice that messages were discarded, or the report of a failed message to an app server."
            ),
            .required("from", .text, \.from, "The sender ID, or /topics/NAME."),
            .optional(
                "persistent_id", .text, \.persistentID,
                "The server's ID of the message; left out for one that is not stored."),
            .optional("collapse_key", .text, \.collapseKey, "The collapse key."),
            .required(
                "repeated", .boolean, \.isRepeated,
                "Whether the device had received it before, and not acknowledged it."),
            .required("data", .pairs, \.data, "The pairs as the device gets them."),
            .optional("raw_data", .text, \.rawData, "The bytes of a message without pairs, in Base64."))
    }

    /// A page of the inbox.
    public struct Answer: Record {
        public var messages: [Row]
        public var received: Int
        public var dropped: Int

        /// Creates an answer.
        public init(messages: [Row], received: Int, dropped: Int) {
            self.messages = messages
            self.received = received
            self.dropped = dropped
        }

        public static let fields = Fields(
            Answer.init(messages:received:dropped:),
            .required("messages", .list(.record), \.messages, "The messages, the oldest first."),
            .required("received", .count, \.received, "The number of messages that it has received so far."),
            .required(
                "dropped", .count, \.dropped, "The number of them that the inbox has no room for any more."))
    }
}

/// Sends a message from a virtual device to its app server.
public struct SendFromVirtualDevice: OperatorCommand {
    public var device: DeviceID
    public var data: [JSONValue.Member] = []
    public var messageID: String?
    public var timeToLive: Int = Limits.Message.upstreamLifetimeSeconds

    public static let summary = OperationSummary.changing(
        "virtual-devices send", "Send a message from a virtual device to its app server.",
        details: [
            "While the device is offline the message waits, and is sent after its next login; \"virtual-devices sent\" lists what has become of it."
        ])
    public static let fields = Fields(
        SendFromVirtualDevice.init(device:data:messageID:timeToLive:),
        .required("device", .device(), \.device, audit: .target, "The virtual device."),
        .preset("data", .pairs, \.data, [], "The pairs of the message; values are texts."),
        .optional(
            "message_id", .text(1...Limits.AppServer.messageIDBytes, as: "ID"), \.messageID,
            "The app's ID of the message. Default: a random one."),
        .preset(
            "time_to_live", .integer(0...Limits.Message.upstreamLifetimeSeconds, as: "SECONDS"),
            \.timeToLive, Limits.Message.upstreamLifetimeSeconds,
            "Its lifetime while no app server is connected; 0 drops it then."))

    /// What has become of the message.
    public struct Answer: Record {
        /// Whether it is stored.
        public enum Outcome: String, Sendable, CaseIterable {
            case stored
            case waiting
            case refused
        }

        /// The ID of the message.
        public var messageID: String
        public var outcome: Outcome
        public var error: String?

        /// Creates an answer.
        public init(messageID: String, outcome: Outcome, error: String? = nil) {
            self.messageID = messageID
            self.outcome = outcome
            self.error = error
        }

        public static let fields = Fields(
            Answer.init(messageID:outcome:error:),
            .required("message_id", .text, \.messageID, "The ID of the message."),
            .required(
                "outcome", .word, \.outcome,
                "Whether the server has stored it, or it waits, since the device is offline or gets no answer."
            ),
            .optional("error", .text, \.error, "The server's word for a refusal."))
    }

    public static func auditResult(_ answer: Answer) -> String {
        answer.error ?? answer.outcome.rawValue
    }
}
