public import Basics

/// A fault as the commands show it.
public struct FaultRow: Record {
    public var fault: Int
    public var action: AddFault.Action
    public var error: String?
    public var reason: String?
    public var milliseconds: Int?
    public var retryAfter: Int?
    public var sender: SenderID?
    public var token: Redacted<String>?
    public var remaining: Int
    public var hits: Int

    /// Creates a row.
    public init(
        fault: Int, action: AddFault.Action, error: String?, reason: String?, milliseconds: Int?,
        retryAfter: Int?, sender: SenderID?, token: Redacted<String>?, remaining: Int, hits: Int
    ) {
        self.fault = fault
        self.action = action
        self.error = error
        self.reason = reason
        self.milliseconds = milliseconds
        self.retryAfter = retryAfter
        self.sender = sender
        self.token = token
        self.remaining = remaining
        self.hits = hits
    }

    public static let fields = Fields(
        FaultRow.init(fault:action:error:reason:milliseconds:retryAfter:sender:token:remaining:hits:),
        .required("fault", .count, \.fault, "The number of the fault."),
        .required("action", .word, \.action, "What happens to the messages."),
        .optional("error", .text, \.error, "The error of a refusal over XMPP."),
        .optional(
            "reason", .text, \.reason,
            "The reason of a refusal, by which other interfaces derive their error."),
        .optional("milliseconds", .count, \.milliseconds, "The delay."),
        .optional("retry_after", .count, \.retryAfter, "The seconds in Retry-After of a refusal over HTTP."),
        .optional("sender_id", .sender, \.sender, "The sender whose messages meet the fault."),
        .optional(
            "token", .registrationToken, \.token, "The registration token to which messages meet the fault."),
        .required("remaining", .count, \.remaining, "The number of messages that it still acts on."),
        .required("hits", .count, \.hits, "The number of messages that it has acted on."))
}

extension FieldKind where Value == Redacted<String> {
    /// A registration token.
    static var registrationToken: FieldKind {
        secret(1...Limits.Operator.requestBytes, "a registration token", as: "TOKEN")
    }
}

/// Orders a fault.
public struct AddFault: OperatorCommand {
    /// What happens to a message.
    public enum Action: String, Sendable, CaseIterable {
        case refuse
        case drop
        case delay
        case duplicate
    }

    /// What happens to a message.
    public var action: Action
    public var token: Redacted<String>?
    public var sender: SenderID?
    public var count: Int = 1
    public var error: String?
    public var milliseconds: Int?
    public var retryAfter: Int?

    public static let summary = OperationSummary.changing(
        "faults add", "Let the next messages to a token, or of a sender, meet a fault.",
        details: [
            "Only with test_bench, and for messages of app servers over XMPP, legacy HTTP and HTTP v1. A message meets the oldest fault that fits it. Faults end with the process.",
            "refuse: the message is answered with an error, and nothing of it is stored. drop: it is acknowledged, never stored and never delivered. delay: it is held in memory and taken in later, so that both its acknowledgement and its delivery are late, and later messages overtake it. duplicate: it is acknowledged and stored as usual, and its frame is written to the connected device twice, with the same persistent ID.",
            "Messages to groups and topics meet only refuse and delay of their sender, before they are sent to each member; duplicate acts on each copy.",
        ])
    public static let fields = Fields(
        AddFault.init(action:token:sender:count:error:milliseconds:retryAfter:),
        .required("action", .word, \.action, "What happens to the messages."),
        .optional("token", .registrationToken, \.token, "Only messages to this registration token."),
        .optional("sender_id", .sender, \.sender, audit: .sender, "Only messages of this sender."),
        .preset(
            "count", .integer(1...Limits.TestBench.faultMessages), \.count, 1,
            "Act on the next N messages."),
        .optional(
            "error", .text(1...Limits.AppServer.messageIDBytes, as: "ERROR"), \.error,
            "With refuse: an error of XMPP such as DEVICE_UNREGISTERED, of legacy HTTP, of HTTP v1, or a reason from the same tables."
        ),
        .optional(
            "milliseconds", .integer(1...Limits.TestBench.delayMilliseconds), \.milliseconds,
            "With delay: how long a message is held."),
        .optional(
            "retry_after", .integer(0...Limits.TestBench.retrySeconds, as: "SECONDS"), \.retryAfter,
            "With refuse: the Retry-After of an answer over HTTP, in place of the usual one."))

    /// The fault.
    public typealias Answer = FaultRow

    public static func auditResult(_ answer: FaultRow) -> String { answer.action.rawValue }
}

/// Lists the faults.
public struct ListFaults: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "faults list", role: .operator, "List the faults, with how many messages they have acted on.",
        details: ["A fault that is used up is listed until it is removed, or makes room for another one."])
    public static let fields = Fields(ListFaults.init)

    /// The faults.
    public struct Answer: Record {
        public var faults: [FaultRow]

        /// Creates an answer.
        public init(faults: [FaultRow]) { self.faults = faults }

        public static let fields = Fields(
            Answer.init(faults:),
            .required("faults", .list(.record), \.faults, "The faults, the oldest first."))
    }
}

/// Removes a fault.
public struct RemoveFault: OperatorCommand {
    public var fault: Int

    public static let summary = OperationSummary.changing(
        "faults remove", "Remove a fault.",
        details: ["Messages that it delays are still taken in when their time has come."])
    public static let fields = Fields(
        RemoveFault.init(fault:),
        .required("fault", .integer(1...Int.max), \.fault, audit: .target, "The number of the fault."))

    /// The fault as it was.
    public typealias Answer = FaultRow
}

/// Removes all faults.
public struct ClearFaults: OperatorCommand {
    public static let summary = OperationSummary.changing(
        "faults clear", "Remove all faults.",
        details: ["Messages that they delay are still taken in when their time has come."])
    public static let fields = Fields(ClearFaults.init)

    /// What was removed.
    public struct Answer: Record {
        public var removed: Int

        /// Creates an answer.
        public init(removed: Int) { self.removed = removed }

        public static let fields = Fields(
            Answer.init(removed:),
            .required("removed", .count, \.removed, "The number of faults that were removed."))
    }
}
