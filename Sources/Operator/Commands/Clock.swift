public import Basics

/// Shows whether the machine's clock is believed.
public struct ShowClock: OperatorCommand {
    /// The command.
    public init() {}

    public static let summary = OperationSummary.reading(
        .showClock, "Show whether the machine's clock is believed.",
        details: [
            "A clock is in doubt that is more than three days ahead of when ccsd last ran, more than a minute behind, or outside of 2023 to 2099. As long as it is, no device, message or token ends by its age; messages are delivered all the same. It is believed again as soon as it is set right, when a device that was here before confirms it, or when clock_grace_seconds of running are over."
        ])
    public static let fields = Fields(ShowClock.init)

    /// What the clock shows.
    public struct Answer: Record {
        /// The time that it shows.
        public var time: UnixMilliseconds
        /// Whether it is not believed.
        public var isInDoubt: Bool
        /// Why it is not believed.
        public var problem: String?
        /// After how many seconds it is believed by itself.
        public var believedInSeconds: Int?

        /// What the clock shows.
        public init(
            time: UnixMilliseconds, isInDoubt: Bool, problem: String? = nil, believedInSeconds: Int? = nil
        ) {
            self.time = time
            self.isInDoubt = isInDoubt
            self.problem = problem
            self.believedInSeconds = believedInSeconds
        }

        public static let fields = Fields(
            Answer.init(time:isInDoubt:problem:believedInSeconds:),
            .required("time", .time, \.time, "The time that it shows."),
            .required("in_doubt", .truth, \.isInDoubt, "Whether it is not believed."),
            .optional("problem", .text, \.problem, "Why it is not believed."),
            .optional(
                "believed_in_seconds", .count, \.believedInSeconds,
                "After how many seconds it is believed by itself."))
    }
}

/// Accepts what the machine's clock shows.
public struct AcceptClock: OperatorCommand {
    /// The command.
    public init() {}

    public static let summary = OperationSummary.changing(
        .acceptClock, "Accept the machine's clock as right: what is over by it ends.",
        details: [
            "Make sure first: what ends then is gone. Devices go at 2,000 an hour at most, so that a mistake can still be stopped: stop ccsd, and set the clock."
        ])
    public static let fields = Fields(AcceptClock.init)

    /// What was accepted.
    public struct Answer: Record {
        /// Whether the clock was in doubt.
        public var wasInDoubt: Bool
        /// The time that it shows.
        public var time: UnixMilliseconds

        /// What was accepted.
        public init(wasInDoubt: Bool, time: UnixMilliseconds) {
            self.wasInDoubt = wasInDoubt
            self.time = time
        }

        public static let fields = Fields(
            Answer.init(wasInDoubt:time:),
            .required("accepted", .truth, \.wasInDoubt, "Whether the clock was in doubt, and no longer is."),
            .required("time", .time, \.time, "The time that it shows."))
    }
}
