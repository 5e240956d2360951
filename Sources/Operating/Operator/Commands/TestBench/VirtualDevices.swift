public import Basics
import Wire

/// A device of the test bench as the commands show it.
public struct VirtualDeviceRow: Record {
    public var device: DeviceID
    public var sender: SenderID
    public var app: String
    public var label: String
    public var isOnline: Bool
    public var isConnected: Bool
    public var isForgotten: Bool
    public var acknowledges: Bool
    public var received: Int
    public var dropped: Int
    /// The registration token; `nil` after the app was unregistered or the device forgotten.
    public var token: Redacted<String>?

    /// Creates a row.
    public init(
        device: DeviceID, sender: SenderID, app: String, label: String, isOnline: Bool, isConnected: Bool,
        isForgotten: Bool, acknowledges: Bool, received: Int, dropped: Int, token: Redacted<String>?
    ) {
        self.device = device
        self.sender = sender
        self.app = app
        self.label = label
        self.isOnline = isOnline
        self.isConnected = isConnected
        self.isForgotten = isForgotten
        self.acknowledges = acknowledges
        self.received = received
        self.dropped = dropped
        self.token = token
    }

    public static let fields = Fields(
        VirtualDeviceRow.init(
            device:sender:app:label:isOnline:isConnected:isForgotten:acknowledges:received:dropped:token:),
        .required("device", .device(), \.device, "The ID of the device."),
        .required("sender_id", .sender, \.sender, "The sender that its app is registered with."),
        .required("app", .text, \.app, "The name of its app."),
        .required("label", .text, \.label, "The descriptive name."),
        .required("online", .boolean, \.isOnline, "Whether it is to be connected."),
        .required("connected", .boolean, \.isConnected, "Whether it is logged in."),
        .required(
            "forgotten", .boolean, \.isForgotten,
            "Whether the server has forgotten it, as its login has shown: it can only be removed."),
        .required("acknowledges", .boolean, \.acknowledges, "Whether it acknowledges what it receives."),
        .required("received", .count, \.received, "The number of messages it has received."),
        .required(
            "dropped", .count, \.dropped, "The number of them that its inbox has no room for any more."),
        .nullable(
            "token", .registrationToken, \.token,
            "The registration token for app servers; null after the app was unregistered or the device forgotten."
        ))
}

extension FieldKind where Value == String {
    /// The name of an app, as a registration accepts it.
    fileprivate static var app: FieldKind {
        let bytes = 1...Limits.Registration.fieldBytes
        return scalar(
            .named("\(bytes.lowerBound) to \(bytes.upperBound) bytes of text without control characters"),
            "APP",
            parse: { value in
                value.text(of: bytes).flatMap { text in
                    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? text : nil
                }
            }, encode: { .string($0) })
    }
}

/// Creates a device that lives in the server.
public struct AddVirtualDevice: OperatorCommand {
    public var sender: SenderID
    public var app: String
    public var label: String = ""

    public static let summary = OperationSummary.changing(
        "virtual-devices add", "Create a device that lives in the server, with a real registration token.",
        details: [
            "Only with test_bench. The device checks in, registers the app and connects like any other one; what it receives is read with \"virtual-devices messages\". It is kept over restarts, its inbox is not."
        ])
    public static let fields = Fields(
        AddVirtualDevice.init(sender:app:label:),
        .required("sender_id", .sender, \.sender, audit: .sender, "The sender to register the app with."),
        .required("app", .app, \.app, "The name of the app, such as org.example.app."),
        .preset(
            "label", .text(0...Limits.Operator.labelBytes), \.label, "", audit: .label,
            "A descriptive name for listings."))

    /// The device.
    public typealias Answer = VirtualDeviceRow
}

/// Lists the devices that live in the server.
public struct ListVirtualDevices: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "virtual-devices list", role: .operator,
        "List the devices that live in the server, with their tokens.")
    public static let fields = Fields(ListVirtualDevices.init)

    /// The devices.
    public struct Answer: Record {
        public var devices: [VirtualDeviceRow]

        /// Creates an answer.
        public init(devices: [VirtualDeviceRow]) { self.devices = devices }

        public static let fields = Fields(
            Answer.init(devices:), .required("devices", .list(.record), \.devices, "The devices."))
    }
}

/// Connects or disconnects a virtual device, and lets it acknowledge messages or not.
public struct ChangeVirtualDevice: OperatorCommand {
    /// Whether a device is connected.
    public enum Connection: String, Sendable, CaseIterable {
        case online
        case offline
    }

    /// Whether a device acknowledges what it receives.
    public enum Acknowledgement: String, Sendable, CaseIterable {
        case always
        case never
    }

    /// The virtual device.
    public var device: DeviceID
    public var connection: Connection?
    public var acknowledgement: Acknowledgement?

    public static let summary = OperationSummary.changing(
        "virtual-devices change", "Connect or disconnect a virtual device, and let it acknowledge or not.",
        details: [
            "A device that acknowledges nothing gets its messages again at each login, until they expire. To change that, a connected device connects again."
        ])
    public static let fields = Fields(
        ChangeVirtualDevice.init(device:connection:acknowledgement:),
        .required("device", .device(), \.device, audit: .target, "The virtual device."),
        .optional("connection", .word, \.connection, "Whether it is to be connected."),
        .optional(
            "acknowledgement", .word, \.acknowledgement,
            "Whether it is to acknowledge what it receives."))

    /// The device.
    public typealias Answer = VirtualDeviceRow
}

/// Removes the registration of a virtual device's app.
public struct UnregisterVirtualDevice: OperatorCommand {
    public var device: DeviceID

    public static let summary = OperationSummary.changing(
        "virtual-devices unregister", "Unregister the app of a virtual device, as if it were uninstalled.",
        details: ["App servers that send to its token get NotRegistered from then on."])
    public static let fields = Fields(
        UnregisterVirtualDevice.init(device:),
        .required("device", .device(), \.device, audit: .target, "The virtual device."))

    /// The device.
    public typealias Answer = VirtualDeviceRow
}

/// Removes a virtual device.
public struct RemoveVirtualDevice: OperatorCommand {
    public var device: DeviceID

    public static let summary = OperationSummary.changing(
        "virtual-devices remove",
        "Unregister the app of a virtual device, and forget the device with its inbox.")
    public static let fields = Fields(
        RemoveVirtualDevice.init(device:),
        .required("device", .device(), \.device, audit: .target, "The virtual device."))

    /// The device.
    public typealias Answer = VirtualDeviceRow
}
