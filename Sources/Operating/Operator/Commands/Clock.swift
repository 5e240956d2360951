public import Basics

/// Shows whether the machine's clock is trusted.
public struct ShowClock: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "clock show", "Show the server's time, and whether the machine's clock is trusted.",
        details: [
            "The clock is in doubt if it is more than three days ahead of the last run of ccsd, more than a minute behind it, or outside of 2023 to 2099. While it is, no device, message or token expires; messages are still delivered. It is trusted again as soon as it is set correctly, when a known device confirms it, or after clock_grace_seconds of uptime.",
            "A jump of the clock by more than ten seconds while ccsd runs is not followed: ccsd goes on with the time that it has measured itself, messages expire by that, and no device is forgotten. A jump back to that time ends the doubt. One that lasts is followed after ten minutes, or, if it is of more than three days, after clock_grace_seconds; both at once with ccsctl clock accept, or when a known device confirms it.",
        ])
    public static let fields = Fields(ShowClock.init)

    /// The state of the clock.
    public struct Answer: Record {
        public var time: UnixMilliseconds
        public var testClock: TestClockRow?
        public var isInDoubt: Bool
        public var problem: String?
        public var trustedInSeconds: Int?

        /// Creates an answer.
        public init(
            time: UnixMilliseconds, testClock: TestClockRow? = nil, isInDoubt: Bool, problem: String? = nil,
            trustedInSeconds: Int? = nil
        ) {
            self.time = time
            self.testClock = testClock
            self.isInDoubt = isInDoubt
            self.problem = problem
            self.trustedInSeconds = trustedInSeconds
        }

        public static let fields = Fields(
            Answer.init(time:testClock:isInDoubt:problem:trustedInSeconds:),
            .required("time", .time, \.time, "The time of the server."),
            .nullable(
                "test_clock", .record, \.testClock, "The clock for tests; null without test_clock."),
            .required("in_doubt", .boolean, \.isInDoubt, "Whether the clock is not trusted."),
            .optional("problem", .text, \.problem, "Why the clock is not trusted."),
            .optional(
                "trusted_in_seconds", .count, \.trustedInSeconds,
                "Seconds until the clock is trusted without confirmation."))
    }
}

/// Accepts the machine's clock as correct.
public struct AcceptClock: OperatorCommand {
    public var consequence: String? {
        "What is overdue by the machine's clock expires, and cannot be restored."
    }

    public static let summary = OperationSummary.destroying(
        "clock accept", "Accept the machine's clock as correct; what is overdue by it then expires.",
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

/// The clock for tests, as the commands show it.
public struct TestClockRow: Record {
    /// The time of the server.
    public var time: UnixMilliseconds
    /// The time of the machine.
    public var machineTime: UnixMilliseconds
    /// Seconds by which the server is ahead of the machine.
    public var advancedSeconds: Int

    /// Creates a row.
    public init(time: UnixMilliseconds, machineTime: UnixMilliseconds, advancedSeconds: Int) {
        self.time = time
        self.machineTime = machineTime
        self.advancedSeconds = advancedSeconds
    }

    public static let fields = Fields(
        TestClockRow.init(time:machineTime:advancedSeconds:),
        .required("time", .time, \.time, "The time of the server."),
        .required("machine_time", .time, \.machineTime, "The time of the machine."),
        .required(
            "advanced_seconds", .count, \.advancedSeconds,
            "By how many seconds all advances have moved the server's time."))
}

/// Moves the time of a server for tests forward.
public struct AdvanceClock: OperatorCommand {
    /// By how many seconds.
    public var seconds: Int

    public static let summary = OperationSummary.changing(
        "clock advance", "Move the server's time forward, for tests.",
        details: [
            "Only with test_clock. What is due by the new time happens at once: messages, registrations, devices, keys and access tokens expire, and rates are replenished. Connections stay, and certificates, signatures of others and logins of operators keep the machine's time. The time never goes back, also not with a restart: start with an empty data directory for that."
        ])
    public static let fields = Fields(
        AdvanceClock.init(seconds:),
        .required(
            "duration", .duration(upTo: Limits.TestClock.advanceSeconds), \.seconds, audit: .duration,
            "By how much, such as 90s, 15m, 6h, 28d or 4w."))

    /// The new time.
    public typealias Answer = TestClockRow
}
