public import Basics

/// Lists what a virtual device has sent.
public struct ListSent: OperatorCommand {
    public var device: DeviceID
    public var messageID: String?
    public var after: Int = 0
    public var limit: Int = Limits.TestBench.pageDefault

    public static let summary = OperationSummary.reading(
        "virtual-devices sent", role: .operator,
        "List the messages that a virtual device has sent, with their states.",
        details: [
            "Up to \(Limits.Mailbox.waitingUpstream) messages wait while the device is offline, and are sent with the same IDs after its next login. The last \(Limits.TestBench.sentMessages) messages are listed; a restart of the server forgets them, and drops those that wait."
        ])
    public static let fields = Fields(
        ListSent.init(device:messageID:after:limit:),
        .required("device", .device(), \.device, "The virtual device."),
        .optional(
            "message_id", .text(1...Limits.AppServer.messageIDBytes, as: "ID"), \.messageID,
            "Only messages with this ID."),
        .preset("after", .count, \.after, 0, "Start after the message with this number."),
        .preset(
            "limit", .integer(1...Limits.TestBench.page), \.limit, Limits.TestBench.pageDefault,
            "List up to N messages."))

    /// A message that a device has sent.
    public struct Row: Record {
        /// What has become of a message.
        public enum State: String, Sendable, CaseIterable {
            case waiting
            case stored
            case refused
            case returned
        }

        public var number: Int
        public var sentAt: UnixMilliseconds
        public var messageID: String
        public var state: State
        public var error: String?

        /// Creates a row.
        public init(number: Int, sentAt: UnixMilliseconds, messageID: String, state: State, error: String?) {
            self.number = number
            self.sentAt = sentAt
            self.messageID = messageID
            self.state = state
            self.error = error
        }

        public static let fields = Fields(
            Row.init(number:sentAt:messageID:state:error:),
            .required("number", .count, \.number, "The number of the message, from 1."),
            .required("sent_at", .time, \.sentAt, "When the device was given it."),
            .required("message_id", .text, \.messageID, "The app's ID of the message."),
            .required(
                "state", .word, \.state,
                "Whether it waits for the server's answer, is stored, was refused, or was returned, since no app server took it in its lifetime."
            ),
            .optional("error", .text, \.error, "The server's word for a refusal or return."))
    }

    /// A page of the messages.
    public struct Answer: Record {
        public var messages: [Row]

        /// Creates an answer.
        public init(messages: [Row]) { self.messages = messages }

        public static let fields = Fields(
            Answer.init(messages:),
            .required("messages", .list(.record), \.messages, "The messages, the oldest first."))
    }
}
