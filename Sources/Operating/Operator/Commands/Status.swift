public import Basics

/// Shows the status of the daemon.
public struct ShowStatus: OperatorCommand {
    /// Creates the command.
    public init() {}

    public static let summary = OperationSummary.reading(
        "status", "Show state, listeners, connections and counters.")
    public static let fields = Fields(ShowStatus.init)

    /// The status of the daemon.
    public struct Answer: Record {
        public var version: String
        public var process: Int
        public var uptimeSeconds: Int
        public var state: String
        /// Why the machine's clock is not trusted; `nil` if it is.
        public var clockProblem: String?
        public var listeners: [Listener]
        public var appServers: Int
        public var devices: Int
        public var connections: Connections
        public var downstream: [WordCount]
        public var upstream: [WordCount]
        public var topics: Topics
        public var store: Store
        /// The size of the registry: devices, registrations and other data that stays until it is removed.
        public var registry: Registry
        public var certificateNotAfter: UnixMilliseconds
        /// What the daemon is in a cluster; `nil` if it belongs to none.
        public var cluster: Cluster?
        /// The clock for tests; `nil` if it is off.
        public var testClock: TestClockRow?

        /// Creates an answer.
        public init(
            version: String, process: Int, uptimeSeconds: Int, state: String, clockProblem: String?,
            listeners: [Listener], appServers: Int, devices: Int, connections: Connections,
            downstream: [WordCount], upstream: [WordCount], topics: Topics, store: Store, registry: Registry,
            certificateNotAfter: UnixMilliseconds, cluster: Cluster?, testClock: TestClockRow? = nil
        ) {
            self.version = version
            self.process = process
            self.uptimeSeconds = uptimeSeconds
            self.state = state
            self.clockProblem = clockProblem
            self.listeners = listeners
            self.appServers = appServers
            self.devices = devices
            self.connections = connections
            self.downstream = downstream
            self.upstream = upstream
            self.topics = topics
            self.store = store
            self.registry = registry
            self.certificateNotAfter = certificateNotAfter
            self.cluster = cluster
            self.testClock = testClock
        }

        public static let fields = Fields(
            Answer.init(
                version:process:uptimeSeconds:state:clockProblem:listeners:appServers:devices:connections:
                downstream:upstream:topics:store:registry:certificateNotAfter:cluster:
                testClock:),
            .required("version", .text, \.version, "The version of the daemon."),
            .required("pid", .count, \.process, "The process ID of the daemon."),
            .required("uptime_seconds", .count, \.uptimeSeconds, "The time since the start."),
            .required("state", .text, \.state, "\(ServiceWord.list)."),
            .nullable(
                "clock_problem", .text, \.clockProblem,
                "Why the machine's clock is not trusted; null if it is."),
            .required("listeners", .list(.record), \.listeners, "The sockets that the daemon listens on."),
            .required("app_servers", .count, \.appServers, "The number of connected app servers."),
            .required("devices", .count, \.devices, "The number of connected devices."),
            .required("connections", .record, \.connections, "Connections of all listeners since the start."),
            .required(
                "downstream", .counts, \.downstream, "Messages to devices since the start, by milestone."),
            .required(
                "upstream", .counts, \.upstream, "Messages to app servers since the start, by milestone."),
            .required("topics", .record, \.topics, "Messages to topics."),
            .required("store", .record, \.store, "The store."),
            .required(
                "registry", .record, \.registry,
                "The registry: devices, registrations and other data that stays until it is removed."),
            .required("certificate_not_after", .time, \.certificateNotAfter, "When the certificate expires."),
            .nullable(
                "cluster", .record, \.cluster,
                "What the daemon is in a cluster; null if it belongs to none. ccsctl cluster status has all."),
            .nullable("test_clock", .record, \.testClock, "The clock for tests; null without test_clock.")
        )
    }
}

extension ShowStatus.Answer {
    /// A socket that the daemon listens on.
    public struct Listener: Record {
        public var name: String
        public var address: String
        public var port: Int

        /// Creates a listener.
        public init(name: String, address: String, port: Int) {
            self.name = name
            self.address = address
            self.port = port
        }

        public static let fields = Fields(
            Listener.init(name:address:port:), .required("name", .text, \.name, "The name of the listener."),
            .required("address", .text, \.address, "The address, or the path of a UNIX socket."),
            .required("port", .integer(0...65_535), \.port, "The port; 0 for a path."))
    }

    /// Connections of all listeners since the start, in which attacks by unauthenticated peers show first.
    public struct Connections: Record {
        public var accepted: Int
        public var open: Int
        public var closed: [WordCount]
        public var refused: [WordCount]

        /// Creates the counts.
        public init(accepted: Int, open: Int, closed: [WordCount], refused: [WordCount]) {
            self.accepted = accepted
            self.open = open
            self.closed = closed
            self.refused = refused
        }

        public static let fields = Fields(
            Connections.init(accepted:open:closed:refused:),
            .required("accepted", .count, \.accepted, "The number of accepted connections."),
            .required("open", .count, \.open, "The number of open connections."),
            .required("closed", .counts, \.closed, "Closed connections by reason."),
            .required(
                "refused", .counts, \.refused,
                "Connections closed directly after the accept, by reason."))
    }

    /// The counts of messages to topics.
    public struct Topics: Record {
        public var inProgress: Int
        public var accepted: Int
        public var recipients: Int

        /// Creates the counts.
        public init(inProgress: Int, accepted: Int, recipients: Int) {
            self.inProgress = inProgress
            self.accepted = accepted
            self.recipients = recipients
        }

        public static let fields = Fields(
            Topics.init(inProgress:accepted:recipients:),
            .required("in_progress", .count, \.inProgress, "Messages that not all partitions have."),
            .required("accepted", .count, \.accepted, "Messages accepted since the start."),
            .required(
                "recipients", .count, \.recipients,
                "The number of app instances whose mailboxes such messages have entered."))
    }

    /// The state of the store.
    public struct Store: Record {
        public var kind: String
        public var path: String
        public var isHealthy: Bool
        public var partitions: Int

        /// Creates the store's part of the answer.
        public init(kind: String, path: String, isHealthy: Bool, partitions: Int) {
            self.kind = kind
            self.path = path
            self.isHealthy = isHealthy
            self.partitions = partitions
        }

        public static let fields = Fields(
            Store.init(kind:path:isHealthy:partitions:),
            .required("kind", .text, \.kind, "The engine."),
            .required("path", .text, \.path, "The folder of the store."),
            .required("healthy", .boolean, \.isHealthy, "Whether the store accepts writes."),
            .required("partitions", .count, \.partitions, "The number of partitions."))
    }

    /// The size of the registry: devices, registrations and other data that stays until it is removed.
    public struct Registry: Record {
        public var bytes: Int
        public var limit: Int
        public var isFull: Bool

        /// Creates the registry's part of the answer.
        public init(bytes: Int, limit: Int, isFull: Bool) {
            self.bytes = bytes
            self.limit = limit
            self.isFull = isFull
        }

        public static let fields = Fields(
            Registry.init(bytes:limit:isFull:),
            .required("bytes", .count, \.bytes, "The size on the disk in bytes."),
            .required("limit", .count, \.limit, "The limit in bytes; 0 if there is no limit."),
            .required("full", .boolean, \.isFull, "Whether the limit is reached, so that nothing is added."))
    }
}
