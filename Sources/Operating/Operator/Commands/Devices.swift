public import Basics

/// Shows a device.
public struct ShowDevice: OperatorCommand {
    public var device: DeviceTarget

    /// The role is `operator`, since the answer contains the device's tokens, which grant the device's access.
    public static let summary = OperationSummary.reading(
        "devices show", role: .operator,
        "Show a device: last contact, connection, registrations and pending messages.")
    public static let fields = Fields(
        ShowDevice.init(device:),
        .required(
            "device", .target, \.device, audit: .target,
            "The Android ID in decimal, or a registration token."))

    /// The device.
    public struct Answer: Record {
        public var device: DeviceID
        public var createdAt: UnixMilliseconds
        /// The last contact; `nil` if the clock was in doubt then.
        public var seenAt: UnixMilliseconds?
        public var expiresAt: UnixMilliseconds?
        public var isOnline: Bool
        public var connection: SessionRow?
        public var registrations: [RegistrationRow]
        public var mailbox: MailboxCounts
        public var pending: [PendingRow]

        /// Creates an answer.
        public init(
            device: DeviceID, createdAt: UnixMilliseconds, seenAt: UnixMilliseconds?,
            expiresAt: UnixMilliseconds?, isOnline: Bool, connection: SessionRow?,
            registrations: [RegistrationRow], mailbox: MailboxCounts, pending: [PendingRow]
        ) {
            self.device = device
            self.createdAt = createdAt
            self.seenAt = seenAt
            self.expiresAt = expiresAt
            self.isOnline = isOnline
            self.connection = connection
            self.registrations = registrations
            self.mailbox = mailbox
            self.pending = pending
        }

        public static let fields = Fields(
            Answer.init(
                device:createdAt:seenAt:expiresAt:isOnline:connection:registrations:mailbox:pending:),
            .required("device", .device(), \.device, "The Android ID."),
            .required("created_at", .time, \.createdAt, "When the device was added."),
            .nullable("seen_at", .time, \.seenAt, "The last contact; null if the clock was in doubt then."),
            .optional("expires_at", .time, \.expiresAt, "When the device expires without further contact."),
            .required("online", .boolean, \.isOnline, "Whether the device is connected."),
            .nullable("connection", .record, \.connection, "The connection of the device."),
            .required("registrations", .list(.record), \.registrations, "The registrations of the device."),
            .required("mailbox", .record, \.mailbox, "The counts of pending data."),
            .required("pending", .list(.record), \.pending, "The pending messages, oldest first."))
    }

    /// A registration of an app on a device.
    public struct RegistrationRow: Record {
        public var number: Int
        public var token: Redacted<String>
        public var category: String
        public var subtype: String
        public var sender: String
        public var kind: String
        public var waiting: Int
        public var createdAt: UnixMilliseconds

        /// Creates a row.
        public init(
            number: Int, token: Redacted<String>, category: String, subtype: String, sender: String,
            kind: String, waiting: Int, createdAt: UnixMilliseconds
        ) {
            self.number = number
            self.token = token
            self.category = category
            self.subtype = subtype
            self.sender = sender
            self.kind = kind
            self.waiting = waiting
            self.createdAt = createdAt
        }

        public static let fields = Fields(
            RegistrationRow.init(number:token:category:subtype:sender:kind:waiting:createdAt:),
            .required("number", .count, \.number, "The number of the registration on the device."),
            .required(
                "token", .secret(0...Int.max, "a registration token"), \.token, "The registration token."),
            .required("category", .text, \.category, "The app: its package name."),
            .required("subtype", .text, \.subtype, "The subtype that the app registered with."),
            .required("sender_id", .text, \.sender, "The sender, as the app named it."),
            .required(
                "kind", .text, \.kind, "The payloads that the registration accepts: plain or encrypted."),
            .required("waiting", .count, \.waiting, "The number of pending messages."),
            .required("created_at", .time, \.createdAt, "When the app registered."))
    }

    /// The counts of pending data of a device.
    public struct MailboxCounts: Record {
        public var messages: Int
        public var withCollapseKey: Int
        public var deletedMarkers: Int
        public var sendErrors: Int
        public var pendingReceipts: Int

        /// Creates the counts.
        public init(
            messages: Int, withCollapseKey: Int, deletedMarkers: Int, sendErrors: Int, pendingReceipts: Int
        ) {
            self.messages = messages
            self.withCollapseKey = withCollapseKey
            self.deletedMarkers = deletedMarkers
            self.sendErrors = sendErrors
            self.pendingReceipts = pendingReceipts
        }

        public static let fields = Fields(
            MailboxCounts.init(messages:withCollapseKey:deletedMarkers:sendErrors:pendingReceipts:),
            .required("messages", .count, \.messages, "Pending messages."),
            .required(
                "with_collapse_key", .count, \.withCollapseKey, "Pending messages with a collapse key."),
            .required("deleted_markers", .count, \.deletedMarkers, "Pending notices of deleted messages."),
            .required(
                "send_errors", .count, \.sendErrors,
                "Pending errors about upstream messages that no app server accepted."),
            .required(
                "pending_receipts", .count, \.pendingReceipts,
                "Delivered messages whose delivery receipt is still to be sent."))
    }

    /// A pending message of a device.
    public struct PendingRow: Record {
        public var persistentID: String
        public var registration: Int
        public var expiresAt: UnixMilliseconds

        /// Creates a row.
        public init(persistentID: String, registration: Int, expiresAt: UnixMilliseconds) {
            self.persistentID = persistentID
            self.registration = registration
            self.expiresAt = expiresAt
        }

        public static let fields = Fields(
            PendingRow.init(persistentID:registration:expiresAt:),
            .required("persistent_id", .text, \.persistentID, "The persistent ID of the message."),
            .required(
                "registration", .count, \.registration,
                "The number of the registration that the message is for."),
            .required("expires_at", .time, \.expiresAt, "When the message expires."))
    }
}

/// Removes a device.
public struct ForgetDevice: OperatorCommand {
    public var device: DeviceID

    public static let summary = OperationSummary.destroying(
        "devices forget", "Remove a device, its registrations and its pending messages.")

    public var consequence: String? {
        "Device \(device.number) is removed with its registrations and pending messages; its apps get no messages until they register again."
    }
    public static let fields = Fields(
        ForgetDevice.init(device:),
        .required("device", .device(), \.device, audit: .target, "The Android ID in decimal."))

    /// The numbers of what was removed with the device.
    public struct Answer: Record {
        public var registrations: Int
        public var messages: Int

        /// Creates an answer.
        public init(registrations: Int, messages: Int) {
            self.registrations = registrations
            self.messages = messages
        }

        public static let fields = Fields(
            Answer.init(registrations:messages:),
            .required("registrations", .count, \.registrations, "The number of removed registrations."),
            .required("messages", .count, \.messages, "The number of removed pending messages."))
    }
}
