public import Basics

/// Lists the pending messages of a device or of a sender, without their payload.
public struct ListMessages: OperatorCommand {
    /// The device whose pending messages are listed; a token limits the list to its registration.
    public private(set) var device: DeviceTarget?
    /// The sender whose pending upstream messages are listed.
    public private(set) var sender: SenderID?
    public var limit: Int
    /// The position after which the page starts; `nil` for the first page.
    public var after: SequenceNumber?

    private init(device: DeviceTarget?, sender: SenderID?, limit: Int, after: SequenceNumber?) {
        self.device = device
        self.sender = sender
        self.limit = limit
        self.after = after
    }

    /// The mailbox that is listed.
    public enum Mailbox: Sendable {
        case device(DeviceTarget)
        case sender(SenderID)
    }

    /// Creates the command for a mailbox.
    public init(
        _ mailbox: Mailbox, limit: Int = Limits.Operator.listedRowsDefault, after: SequenceNumber? = nil
    ) {
        switch mailbox {
        case .device(let device): self.init(device: device, sender: nil, limit: limit, after: after)
        case .sender(let sender): self.init(device: nil, sender: sender, limit: limit, after: after)
        }
    }

    public static let summary = OperationSummary.reading(
        "messages list",
        "List the pending messages of a device, or of a sender, oldest first, without their payload.",
        details: [
            "A device has messages from app servers, a sender has messages from devices and delivery receipts. A token limits the list to messages of its registration.",
            "The states are waiting, at_login (a topic message that enters the mailbox at the next login), scheduled (until send_at), delayed (until the device is active), throttled, sent (and not acknowledged), at_gateway (APNs has not answered) and owing_receipt (delivered; its receipt is being stored).",
        ])
    public static let fields = Fields(
        ListMessages.init(device:sender:limit:after:),
        .optional(
            "device", .target, \.device, audit: .target, "The Android ID in decimal, or a registration token."
        ),
        .optional("sender_id", .sender, \.sender, audit: .sender, "The sender."),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .position, \.after, "Start after this position: next_after of the previous page."))

    public func check() throws(FieldProblem) {
        guard (device == nil) != (sender == nil) else {
            throw .conflict(
                "expected either device or sender_id", hint: "give a device, a token, or a sender")
        }
    }

    /// The mailbox that is listed; `check` ensures that there is exactly one.
    public var mailbox: Mailbox? { device.map { .device($0) } ?? sender.map { .sender($0) } }

    /// What an entry of a mailbox is.
    public enum Kind: String, CaseIterable, Sendable {
        case message
        /// A notice that messages were discarded.
        case deletedMessages = "deleted_messages"
        /// A report that an upstream message expired.
        case sendError = "send_error"
        /// A delivery receipt.
        case receipt
    }

    /// The progress of a message.
    public enum State: String, CaseIterable, Sendable {
        case waiting
        case atLogin = "at_login"
        case scheduled
        case delayed
        case throttled
        case sent
        case atGateway = "at_gateway"
        case owingReceipt = "owing_receipt"
    }

    /// A pending message.
    public struct Row: Record {
        public var kind: Kind
        public var messageID: String
        public var persistentID: String?
        public var sender: SenderID?
        public var device: DeviceID
        public var registration: Int
        public var app: String
        public var bytes: Int?
        public var collapseKey: String?
        public var priority: SendMessage.Priority?
        public var storedAt: UnixMilliseconds
        public var expiresAt: UnixMilliseconds
        public var sendAt: UnixMilliseconds?
        public var state: State

        /// Creates a row.
        public init(
            kind: Kind, messageID: String, persistentID: String?, sender: SenderID?, device: DeviceID,
            registration: Int, app: String, bytes: Int?, collapseKey: String?,
            priority: SendMessage.Priority?, storedAt: UnixMilliseconds, expiresAt: UnixMilliseconds,
            sendAt: UnixMilliseconds? = nil, state: State
        ) {
            self.kind = kind
            self.messageID = messageID
            self.persistentID = persistentID
            self.sender = sender
            self.device = device
            self.registration = registration
            self.app = app
            self.bytes = bytes
            self.collapseKey = collapseKey
            self.priority = priority
            self.storedAt = storedAt
            self.expiresAt = expiresAt
            self.sendAt = sendAt
            self.state = state
        }

        public static let fields = Fields(
            Row.init(
                kind:messageID:persistentID:sender:device:registration:app:bytes:collapseKey:priority:
                storedAt:
                expiresAt:sendAt:state:),
            .required("kind", .word, \.kind, "What the entry is."),
            .required(
                "message_id", .text, \.messageID, "The ID that the app server or app gave the message."),
            .optional(
                "persistent_id", .text, \.persistentID, "The ID under which the device gets the message."),
            .optional("sender_id", .sender, \.sender, "The sender; left out for a web push and a notice."),
            .required("device", .device(), \.device, "The device that the message is for or from."),
            .required(
                "registration", .count, \.registration, "The number of the registration on the device."),
            .required("app", .text, \.app, "The app: its package name; empty if it is no longer registered."),
            .optional(
                "bytes", .count, \.bytes,
                "The size of the encoded payload; left out for a message at_login."),
            .optional("collapse_key", .text, \.collapseKey, "The collapse key."),
            .optional("priority", .word, \.priority, "The priority of a message to a device."),
            .required("stored_at", .time, \.storedAt, "When the message was accepted."),
            .required("expires_at", .time, \.expiresAt, "When the message expires."),
            .optional(
                "send_at", .time, \.sendAt, "When a scheduled message is sent; left out for any other."),
            .required("state", .word, \.state, "The progress of the message."))
    }

    /// A page of the mailbox.
    public struct Answer: Record {
        public var messages: [Row]
        /// The position after which the next page starts; `nil` on the last page.
        public var nextAfter: SequenceNumber?

        /// Creates an answer.
        public init(messages: [Row], nextAfter: SequenceNumber?) {
            self.messages = messages
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(messages:nextAfter:),
            .required("messages", .list(.record), \.messages, "The messages, oldest first."),
            .optional(
                "next_after", .position, \.nextAfter,
                "The position after which the next page starts; left out on the last page."))
    }
}
