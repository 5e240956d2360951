public import Basics
public import Wire

/// A recorder as the commands show it.
public struct RecorderRow: Record {
    public var sender: SenderID
    public var isConnected: Bool
    public var hasWebhook: Bool
    public var received: Int
    public var dropped: Int

    /// Creates a row.
    public init(sender: SenderID, isConnected: Bool, hasWebhook: Bool, received: Int, dropped: Int) {
        self.sender = sender
        self.isConnected = isConnected
        self.hasWebhook = hasWebhook
        self.received = received
        self.dropped = dropped
    }

    public static let fields = Fields(
        RecorderRow.init(sender:isConnected:hasWebhook:received:dropped:),
        .required("sender_id", .sender, \.sender, "The sender whose messages are recorded."),
        .required("connected", .boolean, \.isConnected, "Whether the recorder is logged in."),
        .required(
            "webhook", .boolean, \.hasWebhook,
            "Whether the sender has an active webhook, which gets the messages in place of the recorder."),
        .required(
            "received", .count, \.received, "The number of messages and receipts that it has received."),
        .required(
            "dropped", .count, \.dropped, "The number of them that its inbox has no room for any more."))
}

/// Begins to record what is sent to a sender.
public struct AddRecorder: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "recorders add", "Record what devices send to a sender without a connected app server or webhook.",
        details: [
            "Only with test_bench. The recorder is a session of the server's own that acknowledges all messages and receipts, and keeps the last \(Limits.TestBench.inboxMessages) of them for \"recorders messages\". As long as an app server of the sender is connected, or a webhook of it is active, it gets nothing: pause the webhook with \"senders webhook pause\". It is kept over restarts, its inbox is not."
        ])
    public static let fields = Fields(
        AddRecorder.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender to record for."))

    /// The recorder.
    public typealias Answer = RecorderRow
}

/// Lists the senders that are recorded.
public struct ListRecorders: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "recorders list", role: .operator, "List the senders whose upstream messages are recorded.")
    public static let fields = Fields(ListRecorders.init)

    /// The recorders.
    public struct Answer: Record {
        public var recorders: [RecorderRow]

        /// Creates an answer.
        public init(recorders: [RecorderRow]) { self.recorders = recorders }

        public static let fields = Fields(
            Answer.init(recorders:), .required("recorders", .list(.record), \.recorders, "The recorders."))
    }
}

/// Reads what was recorded for a sender.
public struct ReadRecorder: OperatorCommand {
    public var sender: SenderID
    public var after: Int = 0
    public var limit: Int = Limits.TestBench.pageDefault
    public var wait: Int = 0
    public var count: Int = 1

    public static let summary = OperationSummary.reading(
        "recorders messages", role: .operator, "Read what devices have sent to a recorded sender.",
        details: [
            "Messages and receipts are numbered from 1 in the order in which the recorder has received them. Reading removes nothing."
        ])
    public static let fields = Fields(
        ReadRecorder.init(sender:after:limit:wait:count:),
        .required("sender_id", .sender, \.sender, "The recorded sender."),
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

    /// A message or receipt.
    public struct Row: Record {
        public var number: Int
        public var receivedAt: UnixMilliseconds
        public var type: Kind
        public var messageID: String
        public var token: Redacted<String>?
        public var app: String?
        public var timeToLive: Int?
        public var isRepeated: Bool
        public var data: [JSONValue.Member]

        /// What was recorded.
        public enum Kind: String, Sendable, CaseIterable {
            case message
            case receipt
        }

        /// Creates a row.
        public init(
            number: Int, receivedAt: UnixMilliseconds, type: Kind, messageID: String,
            token: Redacted<String>?, app: String?, timeToLive: Int?, isRepeated: Bool,
            data: [JSONValue.Member]
        ) {
            self.number = number
            self.receivedAt = receivedAt
            self.type = type
            self.messageID = messageID
            self.token = token
            self.app = app
            self.timeToLive = timeToLive
            self.isRepeated = isRepeated
            self.data = data
        }

        public static let fields = Fields(
            Row.init(number:receivedAt:type:messageID:token:app:timeToLive:isRepeated:data:),
            .required("number", .count, \.number, "The number of the message in the inbox, from 1."),
            .required("received_at", .time, \.receivedAt, "When the recorder received it."),
            .required(
                "type", .word, \.type,
                "Whether it is a message of a device, or the receipt of one to a device."),
            .required(
                "message_id", .text, \.messageID, "The app's ID of the message, or the server's of a receipt."
            ),
            .nullable(
                "token", .registrationToken,
                \.token, "The registration token of the device; null for a receipt, whose data has it."),
            .optional("app", .text, \.app, "The name of the app (category)."),
            .optional(
                "time_to_live", .count, \.timeToLive, "The lifetime in seconds, if the message gives one."),
            .required(
                "repeated", .boolean, \.isRepeated,
                "Whether a message with the same ID from the same device is in the inbox."),
            .required("data", .pairs, \.data, "The pairs as an app server gets them."))
    }

    /// A page of what was recorded.
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
            .required("messages", .list(.record), \.messages, "The messages and receipts, the oldest first."),
            .required("received", .count, \.received, "The number of them that were received so far."),
            .required(
                "dropped", .count, \.dropped, "The number of them that the inbox has no room for any more."))
    }
}

/// Empties the inbox of a recorder.
public struct ClearRecorder: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "recorders clear", "Remove all messages from the inbox of a recorder.",
        details: ["Later messages are numbered as if nothing had been removed."])
    public static let fields = Fields(
        ClearRecorder.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The recorded sender."))

    /// What was removed.
    public struct Answer: Record {
        public var removed: Int

        /// Creates an answer.
        public init(removed: Int) { self.removed = removed }

        public static let fields = Fields(
            Answer.init(removed:),
            .required("removed", .count, \.removed, "The number of messages and receipts that were removed."))
    }
}

/// Ends a recorder.
public struct RemoveRecorder: OperatorCommand {
    public var sender: SenderID

    public static let summary = OperationSummary.changing(
        "recorders remove", "Stop recording for a sender, and drop what was recorded.",
        details: ["What devices send from then on waits for an app server."])
    public static let fields = Fields(
        RemoveRecorder.init(sender:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The recorded sender."))

    /// The recorder as it was.
    public typealias Answer = RecorderRow
}
