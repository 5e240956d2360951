public import Basics
public import Wire

/// Traces a device: reports each step of its messages as it happens.
public struct TraceDevice: OperatorCommand {
    /// The device; a token limits the trace to messages of its registration.
    public var device: DeviceTarget
    /// The duration of the trace.
    public var seconds: Int = Self.presetSeconds

    /// The default duration.
    public static let presetSeconds = 60

    public static let summary = OperationSummary.reading(
        "devices trace",
        "Trace a device: report each step of its messages as it happens, in both directions.",
        details: [
            "A token limits the trace to messages of its registration. The steps are accepted, stored, sent, acknowledged, delivered, forwarded (APNs has it), deferred (APNs cannot take it now), replaced, expired, refused, discarded, removed and cancelled, and for a message that is sent later scheduled and released; an upstream message starts with received. The content of messages is never shown.",
            "The trace ends after the given seconds, or with the caller's connection. ccsctl messages history lists what has happened before.",
        ])
    public static let fields = Fields(
        TraceDevice.init(device:seconds:),
        .required(
            "device", .target, \.device, audit: .target,
            "The Android ID in decimal, or a registration token."),
        .preset(
            "seconds", .integer(1...Limits.Operator.traceSeconds), \.seconds, presetSeconds,
            "Stop after N seconds."))

    /// The lines that are sent before the answer.
    public enum Line: OperatorLine {
        /// The trace has started.
        case started(Start)
        /// A step has happened.
        case step(Step)

        private static let startedName = "tracing"
        private static let stepName = "trace"

        public static var definitions: [LineDefinition] {
            [
                LineDefinition(name: startedName, fields: Start.fields.descriptions),
                LineDefinition(name: stepName, fields: Step.fields.descriptions),
            ]
        }

        public init?(name: String, json: JSONValue) throws(FieldProblem) {
            switch name {
            case Self.startedName: self = .started(try Start(json: json))
            case Self.stepName: self = .step(try Step(json: json))
            default: return nil
            }
        }

        public var name: String {
            switch self {
            case .started: Self.startedName
            case .step: Self.stepName
            }
        }

        public var json: JSONValue {
            switch self {
            case .started(let start): start.json
            case .step(let step): step.json
            }
        }
    }

    /// The start of the trace.
    public struct Start: Record {
        public var device: DeviceID

        /// Creates a line.
        public init(device: DeviceID) { self.device = device }

        public static let fields = Fields(
            Start.init(device:), .required("device", .device(), \.device, "The traced device."))
    }

    /// A step of a message or of the connection.
    public struct Step: Record {
        public var time: UnixMilliseconds
        /// `downstream`, `upstream` or `connection`.
        public var direction: String
        public var step: String
        public var messageID: String?
        public var persistentID: String?
        public var registration: Int?
        public var sender: SenderID?
        public var detail: String?

        /// Creates a line.
        public init(
            time: UnixMilliseconds, direction: String, step: String, messageID: String? = nil,
            persistentID: String? = nil, registration: Int? = nil, sender: SenderID? = nil,
            detail: String? = nil
        ) {
            self.time = time
            self.direction = direction
            self.step = step
            self.messageID = messageID
            self.persistentID = persistentID
            self.registration = registration
            self.sender = sender
            self.detail = detail
        }

        public static let fields = Fields(
            Step.init(time:direction:step:messageID:persistentID:registration:sender:detail:),
            .required("time", .time, \.time, "When it happened."),
            .required("direction", .text, \.direction, "downstream, upstream or connection."),
            .required("step", .text, \.step, "What happened."),
            .optional(
                "message_id", .text, \.messageID, "The ID that the app server or app gave the message."),
            .optional("persistent_id", .text, \.persistentID, "The ID that the device sees."),
            .optional(
                "registration", .count, \.registration,
                "The number of the registration that the message is for or from."),
            .optional("sender_id", .sender, \.sender, "The sender."),
            .optional("detail", .text, \.detail, "Details, such as the reason of a refusal."))
    }

    /// The summary at the end of the trace.
    public struct Answer: Record {
        public var lines: Int
        public var leftOut: Int

        /// Creates an answer.
        public init(lines: Int, leftOut: Int) {
            self.lines = lines
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(lines:leftOut:),
            .required("lines", .count, \.lines, "The number of reported steps."),
            .required(
                "left_out", .count, \.leftOut,
                "The number of steps that were not reported because the caller read too slowly."))
    }
}
