public import Basics
public import Wire

/// Reports each step of a device's messages as it happens.
public struct TraceDevice: OperatorCommand {
    /// The device; with a token only messages of its registration are reported.
    public var device: DeviceTarget
    /// For how long.
    public var seconds: Int

    /// A trace of a device.
    public init(device: DeviceTarget, seconds: Int = Self.presetSeconds) {
        self.device = device
        self.seconds = seconds
    }

    /// For how long where nothing is given.
    public static let presetSeconds = 60

    public static let summary = OperationSummary.reading(
        .traceDevice, "Report each step of a device's messages as it happens, both ways.",
        details: [
            "With a token only messages of its registration are reported. A step is accepted, stored, sent, acknowledged, delivered, replaced, expired, refused, discarded or removed; a message of the device begins with received. The content of a message is never shown.",
            "It ends after the seconds that were asked for, or with the caller's connection. Where nothing is traced, nothing is gathered.",
        ])
    public static let fields = Fields(
        TraceDevice.init(device:seconds:),
        .required(
            "device", .target, \.device, audit: .target,
            "The Android ID, in decimal, or a registration token."),
        .preset(
            "seconds", .integer(1...Limits.Operator.traceSeconds), \.seconds, presetSeconds,
            "Stop after so long."))

    /// What comes before the answer.
    public enum Line: OperatorLine {
        /// The trace has begun.
        case started(Start)
        /// One step.
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

    /// The beginning of a trace.
    public struct Start: Record {
        /// The device that is traced.
        public var device: DeviceID

        /// The beginning of a trace.
        public init(device: DeviceID) { self.device = device }

        public static let fields = Fields(
            Start.init(device:), .required("device", .device(), \.device, "The device that is traced."))
    }

    /// One step of a message, or of the connection.
    public struct Step: Record {
        /// When it happened.
        public var time: UnixMilliseconds
        /// Which way the message goes.
        public var direction: String
        /// What happened.
        public var step: String
        /// The ID that its submitter gave the message.
        public var messageID: String?
        /// The ID that the device sees.
        public var persistentID: String?
        /// The registration that it is for or from.
        public var registration: Int?
        /// The sender.
        public var sender: SenderID?
        /// More about it: a refusal, for example.
        public var detail: String?

        /// A step.
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
            .optional("message_id", .text, \.messageID, "The ID that its submitter gave the message."),
            .optional("persistent_id", .text, \.persistentID, "The ID that the device sees."),
            .optional("registration", .count, \.registration, "The registration that it is for or from."),
            .optional("sender_id", .sender, \.sender, "The sender."),
            .optional("detail", .text, \.detail, "More about it: a refusal, for example."))
    }

    /// The end of a trace.
    public struct Answer: Record {
        /// How many steps were reported.
        public var lines: Int
        /// How many steps were left out since the caller read too slowly.
        public var leftOut: Int

        /// The end of a trace.
        public init(lines: Int, leftOut: Int) {
            self.lines = lines
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(lines:leftOut:),
            .required("lines", .count, \.lines, "How many steps were reported."),
            .required(
                "left_out", .count, \.leftOut,
                "How many steps were left out since the caller read too slowly."))
    }
}
