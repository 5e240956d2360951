public import Basics

/// Shows whether the machine's clock is trusted.
public struct ShowClock: OperatorCommand {
    /// Creates the command.
    public init() {}

    public static let summary = OperationSummary.reading(
        .showClock, "Show whether the machine's clock is trusted.",
        details: [
            "The clock is in doubt if it is more than three days ahead of the last run of ccsd, more than a minute behind it, or outside of 2023 to 2099. While it is, no device, message or token expires; messages are still delivered. It is trusted again as soon as it is set correctly, when a known device confirms it, or after clock_grace_seconds of uptime."
        ])
    public static let fields = Fields(ShowClock.init)

    /// The state of the clock.
    public struct Answer: Record {
        public var time: UnixMilliseconds
        public var isInDoubt: Bool
        public var problem: String?
        public var trustedInSeconds: Int?

        /// Creates an answer.
        public init(
            time: UnixMilliseconds, isInDoubt: Bool, problem: String? = nil, trustedInSeconds: Int? = nil
        ) {
            self.time = time
            self.isInDoubt = isInDoubt
            self.problem = problem
            self.trustedInSeconds = trustedInSeconds
        }

        public static let fields = Fields(
            Answer.init(time:isInDoubt:problem:trustedInSeconds:),
            .required("time", .time, \.time, "The time of the clock."),
            .required("in_doubt", .boolean, \.isInDoubt, "Whether the clock is not trusted."),
            .optional("problem", .text, \.problem, "Why the clock is not trusted."),
            .optional(
                "trusted_in_seconds", .count, \.trustedInSeconds,
                "Seconds until the clock is trusted without confirmation."))
    }
}

/// Accepts the machine's clock as correct.
public struct AcceptClock: OperatorCommand {
    /// Creates the command.
    public init() {}

    public var consequence: String? {
        "What is overdue by the machine's clock expires, and cannot be restored."
    }

    public static let summary = OperationSummary.destroying(
        .acceptClock, "Accept the machine's clock as correct; what is overdue by it then expires.",
        details: [
            "Make sure first that it is correct: what expires cannot be restored. At most 2,000 devices expire per hour, so a mistake can still be stopped: stop ccsd, and set the clock."
        ])
    public static let fields = Fields(AcceptClock.init)

    /// Whether the command changed anything, and the accepted time.
    public struct Answer: Record {
        /// Whether the clock was in doubt before.
        public var wasInDoubt: Bool
        public var time: UnixMilliseconds

        /// Creates an answer.
        public init(wasInDoubt: Bool, time: UnixMilliseconds) {
            self.wasInDoubt = wasInDoubt
            self.time = time
        }

        public static let fields = Fields(
            Answer.init(wasInDoubt:time:),
            .required(
                "accepted", .boolean, \.wasInDoubt,
                "Whether the clock was in doubt before, and is now trusted."
            ),
            .required("time", .time, \.time, "The time of the clock."))
    }
}
