public import Basics

/// A message in the history, with its steps.
public struct HistoryRow: Record {
    /// A step of a message.
    public struct Step: Record {
        public var time: UnixMilliseconds
        public var step: String
        public var detail: String?
        public var session: SessionID?

        /// Creates a step.
        public init(time: UnixMilliseconds, step: String, detail: String?, session: SessionID? = nil) {
            self.time = time
            self.step = step
            self.detail = detail
            self.session = session
        }

        public static let fields = Fields(
            Step.init(time:step:detail:session:),
            .required("time", .time, \.time, "When it happened."),
            .required("step", .text, \.step, "What happened, in the words of devices trace."),
            .optional("detail", .text, \.detail, "Details, such as the reason of a refusal."),
            .optional("session", .session, \.session, "The session that it was sent on (see sessions list)."))
    }

    /// `downstream`, `upstream`, `receipt`, `topic` or `group`.
    public var kind: String
    public var messageID: String?
    public var persistentID: String?
    public var appleID: String?
    public var sender: SenderID?
    public var device: DeviceID?
    public var registration: Int?
    public var steps: [Step]

    /// Creates a row.
    public init(
        kind: String, messageID: String?, persistentID: String?, appleID: String? = nil, sender: SenderID?,
        device: DeviceID?, registration: Int?, steps: [Step]
    ) {
        self.kind = kind
        self.messageID = messageID
        self.persistentID = persistentID
        self.appleID = appleID
        self.sender = sender
        self.device = device
        self.registration = registration
        self.steps = steps
    }

    public static let fields = Fields(
        HistoryRow.init(kind:messageID:persistentID:appleID:sender:device:registration:steps:),
        .required(
            "kind", .text, \.kind,
            "downstream, upstream, receipt, or topic or group for a message to several devices as a whole."),
        .optional(
            "message_id", .text, \.messageID,
            "The ID that the app server or app gave the message; left out if the history has later steps only."
        ),
        .optional("persistent_id", .text, \.persistentID, "The ID under which the device gets the message."),
        .optional(
            "apns_id", .text, \.appleID,
            "The apns-id under which Apple was offered the message, unless its app server has chosen one."),
        .optional("sender_id", .sender, \.sender, "The sender."),
        .optional("device", .device(), \.device, "The device that the message is for or from."),
        .optional("registration", .count, \.registration, "The number of the registration on the device."),
        .required("steps", .list(.record), \.steps, "The steps, oldest first."))
}

/// What an answer from the history covers.
public struct HistoryCoverage: Record {
    /// A time of which the history has nothing.
    public struct Gap: Record {
        public var from: UnixMilliseconds
        public var to: UnixMilliseconds

        /// Creates a gap.
        public init(from: UnixMilliseconds, to: UnixMilliseconds) {
            self.from = from
            self.to = to
        }

        public static let fields = Fields(
            Gap.init(from:to:), .required("from", .time, \.from, "Its start."),
            .required("to", .time, \.to, "Its end."))
    }

    /// When the history begins; `nil` if it is empty.
    public var since: UnixMilliseconds?
    public var gaps: [Gap]
    /// Parts that could not be read.
    public var damaged: Int
    /// The nodes of a cluster that have not answered.
    public var missing: [NodeNumber]

    /// Creates a coverage.
    public init(since: UnixMilliseconds?, gaps: [Gap], damaged: Int, missing: [NodeNumber]) {
        self.since = since
        self.gaps = gaps
        self.damaged = damaged
        self.missing = missing
    }

    public static let fields = Fields(
        HistoryCoverage.init(since:gaps:damaged:missing:),
        .optional("since", .time, \.since, "When the history begins."),
        .required(
            "gaps", .list(.record), \.gaps,
            "Times of which the history may have nothing: the end of a process that was killed, or a failure of its disk."
        ),
        .required(
            "damaged", .count, \.damaged,
            "The number of damaged parts that the search left out: steps may be missing."),
        .required(
            "missing", .list(.node), \.missing,
            "The nodes of a cluster that have not answered: steps of theirs are missing."))
}

/// Finds messages in the history.
public struct FindMessages: OperatorCommand {
    /// The ID of the messages; `nil` for any.
    public var messageID: String?
    public var sender: SenderID?
    public var since: UnixMilliseconds?
    public var until: UnixMilliseconds?
    public var outcome: Outcome?
    public var limit: Int
    /// The position before which the page begins; `nil` for the newest messages.
    public var before: HistoryCursor?
    /// The position after which a message must have a step; `nil` for any.
    public var after: HistoryCursor?

    /// The default number of messages.
    public static let presetLimit = 10

    /// How a message ended.
    public enum Outcome: String, CaseIterable, Sendable {
        case waiting, delivered, forwarded, replaced, expired, discarded, removed, refused
    }

    /// Creates a search in the history.
    public init(
        messageID: String? = nil, sender: SenderID? = nil, since: UnixMilliseconds? = nil,
        until: UnixMilliseconds? = nil, outcome: Outcome? = nil, limit: Int = Self.presetLimit,
        before: HistoryCursor? = nil, after: HistoryCursor? = nil
    ) {
        self.messageID = messageID
        self.sender = sender
        self.since = since
        self.until = until
        self.outcome = outcome
        self.limit = limit
        self.before = before
        self.after = after
    }

    public static let summary = OperationSummary.reading(
        "messages find",
        "Find messages in the history, by ID, sender, time and outcome: what happened to each, and when.",
        details: [
            "The ID is the message_id that the app server or app gave the message, or the persistent ID under which the device got it, also as the name that HTTP v1 returns, or the apns-id that ccsd gave it. The history has the steps of the last history_hours, also of refused and delivered messages, and never the content. A message to a topic or a group is found with its copies for the devices. Of messages that are refused before any device is looked up, as for a malformed token, up to \(Limits.History.senderRefusalsPerSecond) in a second of each sender and reactor are recorded.",
            "An ID is found at once. Without one the history is read from its end, some thousand messages or files of the time span for each page, which may therefore have few messages or none.",
            "In a cluster all nodes are asked, and an answer names those that did not answer in time.",
        ])
    public static let fields = Fields(
        FindMessages.init(messageID:sender:since:until:outcome:limit:before:after:),
        .optional(
            "message_id", .text(1...Limits.Operator.requestBytes, as: "ID"), \.messageID,
            "The message_id, or the persistent ID."),
        .optional("sender_id", .sender, \.sender, audit: .sender, "Only messages to and from this sender."),
        .optional("since", .time, \.since, "Only messages that were submitted then or later."),
        .optional("until", .time, \.until, "Only messages that were submitted then or earlier."),
        .optional(
            "outcome", .word, \.outcome,
            "Only messages that ended like this; waiting is for those without an end."),
        .preset(
            "limit", .integer(1...Limits.History.rows), \.limit, presetLimit, "List up to N, newest first."),
        .optional(
            "before", .cursor, \.before, "Begin before this position: next_before of the previous page."),
        .optional(
            "after", .cursor, \.after,
            "Only messages with a step after this position: latest of an earlier answer."))

    public func check() throws(FieldProblem) {
        guard messageID == nil || before == nil else {
            throw .conflict(
                "expected either message_id or before",
                hint: "messages with one ID have no pages: raise limit")
        }
    }

    /// The messages that were found.
    public struct Answer: Record {
        public var messages: [HistoryRow]
        public var isCut: Bool
        /// The position before which the next page begins; `nil` on the last page.
        public var nextBefore: HistoryCursor?
        /// The position of the last step in the history; `nil` if it is empty.
        public var latest: HistoryCursor?
        public var coverage: HistoryCoverage

        /// Creates an answer.
        public init(
            messages: [HistoryRow], isCut: Bool, nextBefore: HistoryCursor?, latest: HistoryCursor?,
            coverage: HistoryCoverage
        ) {
            self.messages = messages
            self.isCut = isCut
            self.nextBefore = nextBefore
            self.latest = latest
            self.coverage = coverage
        }

        public static let fields = Fields(
            Answer.init(messages:isCut:nextBefore:latest:coverage:),
            .required("messages", .list(.record), \.messages, "The messages, newest first."),
            .required("cut", .boolean, \.isCut, "Whether there may be more."),
            .optional(
                "next_before", .cursor, \.nextBefore,
                "The position before which the next page begins; left out on the last page."),
            .optional(
                "latest", .cursor, \.latest,
                "The position of the last step in the history, for after; left out if there is none."),
            .required("history", .record, \.coverage, "What the history covers."))
    }
}

/// Lists the messages of a device in the history.
public struct ListHistory: OperatorCommand {
    /// The device; a token limits the list to its registration.
    public var device: DeviceTarget
    public var limit: Int
    /// The position before which the page begins; `nil` for the newest messages.
    public var before: HistoryCursor?
    /// The position after which a message must have a step; `nil` for any.
    public var after: HistoryCursor?

    /// Creates a list of the messages of a device.
    public init(
        device: DeviceTarget, limit: Int, before: HistoryCursor? = nil, after: HistoryCursor? = nil
    ) {
        self.device = device
        self.limit = limit
        self.before = before
        self.after = after
    }

    public static let summary = OperationSummary.reading(
        "messages history",
        "List the messages to and from a device that the history has, newest first, with their steps.",
        details: [
            "Also messages that were delivered, replaced, expired or refused. A token limits the list to messages of its registration. In a cluster all nodes are asked."
        ])
    public static let fields = Fields(
        ListHistory.init(device:limit:before:after:),
        .required(
            "device", .target, \.device, audit: .target, "The Android ID in decimal, or a registration token."
        ),
        .preset("limit", .integer(1...Limits.History.rows), \.limit, 50, "List up to N."),
        .optional(
            "before", .cursor, \.before,
            "Begin before this position: next_before of the previous page."),
        .optional(
            "after", .cursor, \.after,
            "Only messages with a step after this position: latest of an earlier answer."))

    /// A page of messages.
    public struct Answer: Record {
        public var messages: [HistoryRow]
        /// The position before which the next page begins; `nil` on the last page.
        public var nextBefore: HistoryCursor?
        /// The position of the last step in the history; `nil` if it is empty.
        public var latest: HistoryCursor?
        public var coverage: HistoryCoverage

        /// Creates an answer.
        public init(
            messages: [HistoryRow], nextBefore: HistoryCursor?, latest: HistoryCursor?,
            coverage: HistoryCoverage
        ) {
            self.messages = messages
            self.nextBefore = nextBefore
            self.latest = latest
            self.coverage = coverage
        }

        public static let fields = Fields(
            Answer.init(messages:nextBefore:latest:coverage:),
            .required("messages", .list(.record), \.messages, "The messages, newest first."),
            .optional(
                "next_before", .cursor, \.nextBefore,
                "The position before which the next page begins; left out on the last page."),
            .optional(
                "latest", .cursor, \.latest,
                "The position of the last step in the history, for after; left out if there is none."),
            .required("history", .record, \.coverage, "What the history covers."))
    }
}
