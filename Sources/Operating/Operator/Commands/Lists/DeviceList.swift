public import Basics

/// The way on which messages reach an app.
public enum DeliveryChannel: String, CaseIterable, Sendable {
    /// Unencrypted, over the device's own connection.
    case mcs
    /// Encrypted for a web app, over the connection of its browser.
    case web
    /// Through APNs, for an iOS app.
    case apns
}

/// Whether a device is connected.
public enum DevicePresence: String, CaseIterable, Sendable {
    case online
    case offline
}

/// Lists the devices.
public struct ListDevices: OperatorCommand {
    public var limit: Int
    /// The device after which the page starts; `nil` for the first page.
    public var after: DeviceID?
    public var filter: Filter

    /// The devices that are listed; each condition that is not `nil` must hold.
    public struct Filter: Sendable, Equatable {
        /// A registration that this sender may send to.
        public var sender: SenderID?
        /// A registration of this app: its package name.
        public var app: String?
        /// A registration that is reached on this channel.
        public var channel: DeliveryChannel?
        public var presence: DevicePresence?
        public var seenBefore: UnixMilliseconds?
        public var seenAfter: UnixMilliseconds?
        /// Whether messages wait for the device.
        public var isWaiting: Bool

        /// Creates a filter.
        public init(
            sender: SenderID? = nil, app: String? = nil, channel: DeliveryChannel? = nil,
            presence: DevicePresence? = nil, seenBefore: UnixMilliseconds? = nil,
            seenAfter: UnixMilliseconds? = nil, isWaiting: Bool = false
        ) {
            self.sender = sender
            self.app = app
            self.channel = channel
            self.presence = presence
            self.seenBefore = seenBefore
            self.seenAfter = seenAfter
            self.isWaiting = isWaiting
        }
    }

    /// Creates the command.
    public init(
        limit: Int = Limits.Operator.listedRowsDefault, after: DeviceID? = nil, filter: Filter = Filter()
    ) {
        self.limit = limit
        self.after = after
        self.filter = filter
    }

    private init(
        limit: Int, after: DeviceID?, sender: SenderID?, app: String?, channel: DeliveryChannel?,
        presence: DevicePresence?, seenBefore: UnixMilliseconds?, seenAfter: UnixMilliseconds?,
        isWaiting: Bool
    ) {
        self.init(
            limit: limit, after: after,
            filter: Filter(
                sender: sender, app: app, channel: channel, presence: presence, seenBefore: seenBefore,
                seenAfter: seenAfter, isWaiting: isWaiting))
    }

    public static let summary = OperationSummary.reading(
        "devices list", "List the devices, in the order of their numbers.",
        details: [
            "All given conditions must hold. Sender, app and channel must hold for the same registration.",
            "One page examines up to \(Limits.Operator.examinedDevices) devices, so with conditions that few devices meet it may have fewer rows than the limit, or none, although more pages follow: next_after is left out only on the last page.",
        ])
    public static let fields = Fields(
        ListDevices.init(limit:after:sender:app:channel:presence:seenBefore:seenAfter:isWaiting:),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .device(from: 0), \.after, "Start after this device."),
        .optional(
            "sender_id", .sender, \.filter.sender, audit: .sender,
            "Only devices with an app that this sender may send to."),
        .optional(
            "app", .text(1...Limits.Registration.fieldBytes, as: "NAME"), \.filter.app,
            "Only devices with this app, by its package name."),
        .optional(
            "channel", .word, \.filter.channel,
            "Only devices with an app that is reached over its own connection, as a web app, or through APNs."
        ),
        .optional("presence", .word, \.filter.presence, "Only devices that are connected, or not."),
        .optional(
            "seen_before", .time, \.filter.seenBefore, "Only devices whose last contact was before this time."
        ),
        .optional(
            "seen_after", .time, \.filter.seenAfter,
            "Only devices whose last contact was at this time or later."),
        .preset("waiting", .boolean, \.filter.isWaiting, false, "Only devices that messages wait for."))

    public func check() throws(FieldProblem) {
        if let before = filter.seenBefore, let after = filter.seenAfter, before <= after {
            throw .conflict(
                "no time is at or after seen_after and before seen_before", hint: "exchange the two times")
        }
    }

    /// A device in the list.
    public struct Row: Record {
        public var device: DeviceID
        public var createdAt: UnixMilliseconds
        /// The last contact; `nil` if the clock was in doubt then.
        public var seenAt: UnixMilliseconds?
        public var isOnline: Bool
        public var registrations: Int
        public var channels: [DeliveryChannel]
        public var waiting: Int

        /// Creates a row.
        public init(
            device: DeviceID, createdAt: UnixMilliseconds, seenAt: UnixMilliseconds?, isOnline: Bool,
            registrations: Int, channels: [DeliveryChannel], waiting: Int
        ) {
            self.device = device
            self.createdAt = createdAt
            self.seenAt = seenAt
            self.isOnline = isOnline
            self.registrations = registrations
            self.channels = channels
            self.waiting = waiting
        }

        public static let fields = Fields(
            Row.init(device:createdAt:seenAt:isOnline:registrations:channels:waiting:),
            .required("device", .device(), \.device, "The Android ID."),
            .required("created_at", .time, \.createdAt, "When the device was added."),
            .nullable("seen_at", .time, \.seenAt, "The last contact; null if the clock was in doubt then."),
            .required("online", .boolean, \.isOnline, "Whether the device is connected."),
            .required("registrations", .count, \.registrations, "The number of its registrations."),
            .required("channels", .list(.word), \.channels, "The channels on which its apps are reached."),
            .required("waiting", .count, \.waiting, "The number of pending messages."))
    }

    /// A page of the devices, in the order of their numbers.
    public struct Answer: Record {
        public var devices: [Row]
        public var examined: Int
        /// The device after which the next page starts; `nil` on the last page.
        public var nextAfter: DeviceID?

        /// Creates an answer.
        public init(devices: [Row], examined: Int, nextAfter: DeviceID?) {
            self.devices = devices
            self.examined = examined
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(devices:examined:nextAfter:),
            .required("devices", .list(.record), \.devices, "The devices."),
            .required("examined", .count, \.examined, "The number of devices that were compared."),
            .optional(
                "next_after", .device(), \.nextAfter,
                "The device after which the next page starts; left out on the last page."))
    }
}
