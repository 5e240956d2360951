import Basics

/// Cancels messages that wait for a device.
public struct CancelMessages: OperatorCommand {
    /// The device; a token limits the command to its registration.
    public var device: DeviceTarget
    public var messageID: String

    public static let summary = OperationSummary.changing(
        "messages cancel", "Cancel a message that waits for a device: it will not be delivered.",
        details: [
            "The ID is the message_id that the app server gave the message, or the persistent ID that messages list shows. All messages that have it and wait are cancelled. The history and devices trace have the step cancelled, ccsctl audit counts it as removed, and no receipt is sent.",
            "It is too late for a message that was sent to the device or to APNs, even if it is not acknowledged. One that an earlier connection of the device got, without acknowledging it, waits again: the device may have it.",
            "A topic message can be cancelled for a device once it is in its mailbox: not in the state at_login.",
        ])
    public static let fields = Fields(
        CancelMessages.init(device:messageID:),
        .required(
            "device", .target, \.device, audit: .target, "The Android ID in decimal, or a registration token."
        ),
        .required(
            "message_id", .text(1...Limits.Operator.requestBytes, as: "ID"), \.messageID,
            "The message_id, or the persistent ID."))

    /// The numbers of messages with the ID.
    public struct Answer: Record {
        public var cancelled: Int
        public var tooLate: Int

        /// Creates an answer.
        public init(cancelled: Int, tooLate: Int) {
            self.cancelled = cancelled
            self.tooLate = tooLate
        }

        public static let fields = Fields(
            Answer.init(cancelled:tooLate:),
            .required("cancelled", .count, \.cancelled, "The number of cancelled messages."),
            .required(
                "too_late", .count, \.tooLate,
                "The number of messages that were sent already, or have ended meanwhile."))
    }
}
