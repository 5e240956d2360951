public import Basics

/// Lists the devices.
public struct ListDevices: OperatorCommand {
    /// How many to list at most.
    public var limit: Int
    /// The device after which the page begins; `nil` for the first page.
    public var after: DeviceID?

    /// A page of the list.
    public init(limit: Int = Limits.Operator.listedRowsDefault, after: DeviceID? = nil) {
        self.limit = limit
        self.after = after
    }

    public static let summary = OperationSummary.reading(.listDevices, "List the devices.")
    public static let fields = Fields(
        ListDevices.init(limit:after:),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .device(from: 0), \.after, "Go on after this device."))

    /// A device.
    public struct Row: Record {
        /// Its number.
        public var device: DeviceID
        /// When it was added.
        public var createdAt: UnixMilliseconds
        /// When it was here last; `nil` if the clock was in doubt then.
        public var seenAt: UnixMilliseconds?

        /// A device.
        public init(device: DeviceID, createdAt: UnixMilliseconds, seenAt: UnixMilliseconds?) {
            self.device = device
            self.createdAt = createdAt
            self.seenAt = seenAt
        }

        public static let fields = Fields(
            Row.init(device:createdAt:seenAt:), .required("device", .device(), \.device, "Its number."),
            .required("created_at", .time, \.createdAt, "When it was added."),
            .nullable("seen_at", .time, \.seenAt, "When it was here last."))
    }

    /// A page of the devices, in the order of their numbers.
    public struct Answer: Record {
        /// The devices.
        public var devices: [Row]
        /// After which device the next page begins; `nil` if this is the last one.
        public var nextAfter: DeviceID?

        /// A page.
        public init(devices: [Row], nextAfter: DeviceID?) {
            self.devices = devices
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(devices:nextAfter:), .required("devices", .list(.record), \.devices, "The devices."),
            .optional("next_after", .device(), \.nextAfter, "After which device the next page begins."))
    }
}

/// Shows a device.
public struct ShowDevice: OperatorCommand {
    /// The device.
    public var device: DeviceTarget

    /// A look at a device.
    public init(device: DeviceTarget) { self.device = device }

    /// The answer holds the device's tokens, which allow what the device allows.
    public static let summary = OperationSummary.reading(
        .showDevice, role: .operator,
        "Show a device: contact, connection, registrations and waiting messages.")
    public static let fields = Fields(
        ShowDevice.init(device:),
        .required(
            "device", .target, \.device, audit: .target,
            "The Android ID, in decimal, or a registration token."))

    /// A device.
    public struct Answer: Record {
        /// Its number.
        public var device: DeviceID
        /// When it was added.
        public var createdAt: UnixMilliseconds
        /// When it was here last; `nil` if the clock was in doubt then.
        public var seenAt: UnixMilliseconds?
        /// When it ends unless it comes again.
        public var expiresAt: UnixMilliseconds?
        /// Whether it is connected.
        public var isOnline: Bool
        /// Its connection.
        public var connection: SessionRow?
        /// Its registrations.
        public var registrations: [RegistrationRow]
        /// What waits for it, counted.
        public var mailbox: MailboxCounts
        /// What waits for it, the oldest first.
        public var pending: [PendingRow]

        /// A device.
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
            .required("device", .device(), \.device, "Its number."),
            .required("created_at", .time, \.createdAt, "When it was added."),
            .nullable("seen_at", .time, \.seenAt, "When it was here last."),
            .optional("expires_at", .time, \.expiresAt, "When it ends unless it comes again."),
            .required("online", .truth, \.isOnline, "Whether it is connected."),
            .nullable("connection", .record, \.connection, "Its connection."),
            .required("registrations", .list(.record), \.registrations, "Its registrations."),
            .required("mailbox", .record, \.mailbox, "What waits for it, counted."),
            .required("pending", .list(.record), \.pending, "What waits for it, the oldest first."))
    }

    /// A registration of an app on a device.
    public struct RegistrationRow: Record {
        /// Its number on the device.
        public var number: Int
        /// Its token.
        public var token: Redacted<String>
        /// The app.
        public var category: String
        /// The subtype that the app registered with.
        public var subtype: String
        /// The sender that it is for, as the app named it.
        public var sender: String
        /// What may be sent to it: plain payloads, or encrypted ones.
        public var kind: String
        /// How many messages wait for it.
        public var waiting: Int
        /// When it was made.
        public var createdAt: UnixMilliseconds

        /// A registration.
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
            .required("number", .count, \.number, "Its number on the device."),
            .required("token", .secret(0...Int.max, "a registration token"), \.token, "Its token."),
            .required("category", .text, \.category, "The app."),
            .required("subtype", .text, \.subtype, "The subtype that the app registered with."),
            .required("sender_id", .text, \.sender, "The sender that it is for, as the app named it."),
            .required("kind", .text, \.kind, "What may be sent to it: plain payloads, or encrypted ones."),
            .required("waiting", .count, \.waiting, "How many messages wait for it."),
            .required("created_at", .time, \.createdAt, "When it was made."))
    }

    /// What waits for a device, counted.
    public struct MailboxCounts: Record {
        /// Messages.
        public var messages: Int
        /// Entries with a collapse key.
        public var withCollapseKey: Int
        /// Markers of deleted messages.
        public var deletedMarkers: Int
        /// Reports of upstream messages that no app server took.
        public var sendErrors: Int
        /// Messages that owe a receipt.
        public var receiptsOwed: Int

        /// Counts of a mailbox.
        public init(
            messages: Int, withCollapseKey: Int, deletedMarkers: Int, sendErrors: Int, receiptsOwed: Int
        ) {
            self.messages = messages
            self.withCollapseKey = withCollapseKey
            self.deletedMarkers = deletedMarkers
            self.sendErrors = sendErrors
            self.receiptsOwed = receiptsOwed
        }

        public static let fields = Fields(
            MailboxCounts.init(messages:withCollapseKey:deletedMarkers:sendErrors:receiptsOwed:),
            .required("messages", .count, \.messages, "Messages."),
            .required("with_collapse_key", .count, \.withCollapseKey, "Entries with a collapse key."),
            .required("deleted_markers", .count, \.deletedMarkers, "Markers of deleted messages."),
            .required(
                "send_errors", .count, \.sendErrors, "Reports of upstream messages that no app server took."),
            .required("receipts_owed", .count, \.receiptsOwed, "Messages that owe a receipt."))
    }

    /// A message that waits for a device.
    public struct PendingRow: Record {
        /// Its ID.
        public var persistentID: String
        /// The registration that it is for.
        public var registration: Int
        /// When its lifetime ends.
        public var expiresAt: UnixMilliseconds

        /// A waiting message.
        public init(persistentID: String, registration: Int, expiresAt: UnixMilliseconds) {
            self.persistentID = persistentID
            self.registration = registration
            self.expiresAt = expiresAt
        }

        public static let fields = Fields(
            PendingRow.init(persistentID:registration:expiresAt:),
            .required("persistent_id", .text, \.persistentID, "Its ID."),
            .required("registration", .count, \.registration, "The registration that it is for."),
            .required("expires_at", .time, \.expiresAt, "When its lifetime ends."))
    }
}

/// Forgets a device.
public struct ForgetDevice: OperatorCommand {
    /// The device.
    public var device: DeviceID

    /// The end of a device.
    public init(device: DeviceID) { self.device = device }

    public static let summary = OperationSummary.changing(
        .forgetDevice, "Forget a device, its registrations and its waiting messages.")
    public static let fields = Fields(
        ForgetDevice.init(device:),
        .required("device", .device(), \.device, audit: .target, "The Android ID, in decimal."))

    /// What went with a device.
    public struct Answer: Record {
        /// How many registrations.
        public var registrations: Int
        /// How many waiting messages.
        public var messages: Int

        /// What went with a device.
        public init(registrations: Int, messages: Int) {
            self.registrations = registrations
            self.messages = messages
        }

        public static let fields = Fields(
            Answer.init(registrations:messages:),
            .required("registrations", .count, \.registrations, "How many registrations went with it."),
            .required("messages", .count, \.messages, "How many waiting messages went with it."))
    }
}
