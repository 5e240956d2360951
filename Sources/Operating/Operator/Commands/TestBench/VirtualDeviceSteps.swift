public import Basics

/// Installs the app of a virtual device again.
public struct ReinstallVirtualDevice: OperatorCommand {
    public var device: DeviceID

    public static let summary = OperationSummary.changing(
        "virtual-devices reinstall", "Install the app of a virtual device again, which gives it a new token.",
        details: [
            "As an app that is installed again without being uninstalled first: messages to the earlier token still come, and their answers name the new one (registration_id, the canonical token). An app that was unregistered is installed anew."
        ])
    public static let fields = Fields(
        ReinstallVirtualDevice.init(device:),
        .required("device", .device(), \.device, audit: .target, "The virtual device."))

    /// The device, with its new token.
    public typealias Answer = VirtualDeviceRow
}

/// Waits until nothing more is on its way to a virtual device.
public struct SettleVirtualDevice: OperatorCommand {
    public var device: DeviceID
    public var wait: Int = Limits.TestBench.settleDefaultSeconds

    public static let summary = OperationSummary.reading(
        "virtual-devices settle", role: .operator,
        "Wait until nothing more is on its way to a virtual device, for tests that a message does not come.",
        details: [
            "Settled means: what app servers got an acknowledgement for is in the inbox, or was refused, replaced or dropped, or waits for a device that is offline; every message to a topic has reached its subscribers that are online; and all that was written to the connection of the device has been received. A message that a fault delays is not acknowledged yet, and does not count. Exits with 1 if the time is over before that."
        ])
    public static let fields = Fields(
        SettleVirtualDevice.init(device:wait:),
        .required("device", .device(), \.device, "The virtual device."),
        .preset(
            "wait", .integer(0...Limits.TestBench.waitSeconds, as: "SECONDS"), \.wait,
            Limits.TestBench.settleDefaultSeconds, "Wait up to this long."))

    /// What is on its way.
    public struct Answer: Record {
        public var isSettled: Bool
        public var waiting: Int
        public var received: Int

        /// Creates an answer.
        public init(isSettled: Bool, waiting: Int, received: Int) {
            self.isSettled = isSettled
            self.waiting = waiting
            self.received = received
        }

        public static let fields = Fields(
            Answer.init(isSettled:waiting:received:),
            .required("settled", .boolean, \.isSettled, "Whether nothing more is on its way."),
            .required(
                "waiting", .count, \.waiting,
                "The number of stored messages that the inbox does not have: they wait for a device that is offline."
            ),
            .required("received", .count, \.received, "The number of messages that it has received so far."))
    }
}
