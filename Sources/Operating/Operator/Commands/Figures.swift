public import Basics

/// Shows counters and latencies, of which `ccsctl top` computes rates.
public struct ShowFigures: OperatorCommand {
    /// Creates the command.
    public init() {}

    public static let summary = OperationSummary.reading(
        "top", "Show rates, latencies, connections, waiting messages, senders and refusals.",
        details: [
            "The answer has the counters since the start; a rate is the difference of two answers. It is the only operation that is not recorded as operator_command, since it is repeated every few seconds and shows no names but sender IDs."
        ])
    public static let fields = Fields(ShowFigures.init)

    /// The figures of the daemon.
    public struct Answer: Record {
        public var version: String
        public var state: String
        public var uptimeMilliseconds: Int
        public var downstream: [WordCount]
        public var upstream: [WordCount]
        public var waiting: [WordCount]
        public var connections: [WordCount]
        public var sessions: [WordCount]
        public var refusals: [WordCount]
        public var latencies: [Latency]
        public var senders: [Sender]
        public var process: [WordCount]
        /// The clock for tests; `nil` if it is off.
        public var testClock: TestClockRow?

        /// Creates an answer.
        public init(
            version: String, state: String, uptimeMilliseconds: Int, downstream: [WordCount],
            upstream: [WordCount], waiting: [WordCount], connections: [WordCount], sessions: [WordCount],
            refusals: [WordCount], latencies: [Latency], senders: [Sender], process: [WordCount],
            testClock: TestClockRow? = nil
        ) {
            self.version = version
            self.state = state
            self.uptimeMilliseconds = uptimeMilliseconds
            self.downstream = downstream
            self.upstream = upstream
            self.waiting = waiting
            self.connections = connections
            self.sessions = sessions
            self.refusals = refusals
            self.latencies = latencies
            self.senders = senders
            self.process = process
            self.testClock = testClock
        }

        public static let fields = Fields(
            Answer.init(
                version:state:uptimeMilliseconds:downstream:upstream:waiting:connections:sessions:refusals:
                latencies:senders:process:testClock:),
            .required("version", .text, \.version, "The version of the daemon."),
            .required("state", .text, \.state, "\(ServiceWord.list)."),
            .required("uptime_milliseconds", .count, \.uptimeMilliseconds, "The time since the start."),
            .required(
                "downstream", .counts, \.downstream, "Messages to devices since the start, by milestone."),
            .required(
                "upstream", .counts, \.upstream, "Messages to app servers since the start, by milestone."),
            .required("waiting", .counts, \.waiting, "Stored messages that wait, by direction."),
            .required("connections", .counts, \.connections, "Open connections by listener."),
            .required("sessions", .counts, \.sessions, "Peers that are logged in, by kind."),
            .required("refusals", .counts, \.refusals, "Refused messages and requests by reason."),
            .required("latencies", .list(.record), \.latencies, "Latencies since the start."),
            .required(
                "senders", .list(.record), \.senders,
                "The busiest senders, then the messages of all senders while they were not among them."),
            .required(
                "process", .counts, \.process,
                "Processor time in microseconds, and memory, descriptors, disk and store in bytes."),
            .nullable("test_clock", .record, \.testClock, "The clock for tests; null without test_clock."))
    }

    /// The distribution of a latency.
    public struct Latency: Record {
        public var name: String
        public var count: Int
        public var microseconds: Int
        public var buckets: [WordCount]

        /// Creates a distribution.
        public init(name: String, count: Int, microseconds: Int, buckets: [WordCount]) {
            self.name = name
            self.count = count
            self.microseconds = microseconds
            self.buckets = buckets
        }

        public static let fields = Fields(
            Latency.init(name:count:microseconds:buckets:),
            .required("name", .text, \.name, "What is measured."),
            .required("count", .count, \.count, "The number of measured durations."),
            .required("microseconds", .count, \.microseconds, "Their sum."),
            .required(
                "buckets", .counts, \.buckets,
                "Durations by the lowest bound in microseconds that they do not exceed; more: those above all bounds."
            ))
    }

    /// The messages of a sender.
    public struct Sender: Record {
        public var sender: SenderID?
        public var downstream: [WordCount]
        public var upstream: [WordCount]

        /// Creates a row.
        public init(sender: SenderID?, downstream: [WordCount], upstream: [WordCount]) {
            self.sender = sender
            self.downstream = downstream
            self.upstream = upstream
        }

        public static let fields = Fields(
            Sender.init(sender:downstream:upstream:),
            .optional("sender_id", .sender, \.sender, "The sender ID; left out for all other senders."),
            .required("downstream", .counts, \.downstream, "Messages to devices by milestone."),
            .required("upstream", .counts, \.upstream, "Messages to app servers by milestone."))
    }
}
