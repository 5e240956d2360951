public import Basics

/// Shows what the daemon is and does.
public struct ShowStatus: OperatorCommand {
    /// The command.
    public init() {}

    public static let summary = OperationSummary.reading(
        .showStatus, "Show state, listeners, connections and counters.")
    public static let fields = Fields(ShowStatus.init)

    /// What the daemon is and does.
    public struct Answer: Record {
        /// Its version.
        public var version: String
        /// Its process ID.
        public var process: Int
        /// For how long it has been running.
        public var uptimeSeconds: Int
        /// Whether it is serving, draining or stopping.
        public var state: String
        /// Why the machine's clock is not believed; `nil` if it is.
        public var clockProblem: String?
        /// The sockets that it listens on.
        public var listeners: [Listener]
        /// App servers that are logged in.
        public var appServers: Int
        /// Devices that are logged in.
        public var devices: Int
        /// Connections of all listeners since the start.
        public var connections: Connections
        /// Messages to devices since the start, by milestone.
        public var downstream: [WordCount]
        /// Messages to app servers since the start, by milestone.
        public var upstream: [WordCount]
        /// Messages to topics.
        public var topics: Topics
        /// The store.
        public var store: Store
        /// What stays until it is removed.
        public var registry: Registry
        /// When the certificate ends.
        public var certificateNotAfter: UnixMilliseconds

        /// An answer.
        public init(
            version: String, process: Int, uptimeSeconds: Int, state: String, clockProblem: String?,
            listeners: [Listener], appServers: Int, devices: Int, connections: Connections,
            downstream: [WordCount], upstream: [WordCount], topics: Topics, store: Store, registry: Registry,
            certificateNotAfter: UnixMilliseconds
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
        }

        public static let fields = Fields(
            Answer.init(
                version:process:uptimeSeconds:state:clockProblem:listeners:appServers:devices:connections:
                downstream:upstream:topics:store:registry:certificateNotAfter:),
            .required("version", .text, \.version, "The version of the daemon."),
            .required("pid", .count, \.process, "Its process ID."),
            .required("uptime_seconds", .count, \.uptimeSeconds, "For how long it has been running."),
            .required("state", .text, \.state, "Whether it is serving, draining or stopping."),
            .nullable("clock_problem", .text, \.clockProblem, "Why the machine's clock is not believed."),
            .required("listeners", .list(.record), \.listeners, "The sockets that it listens on."),
            .required("app_servers", .count, \.appServers, "App servers that are logged in."),
            .required("devices", .count, \.devices, "Devices that are logged in."),
            .required("connections", .record, \.connections, "Connections of all listeners since the start."),
            .required(
                "downstream", .counts, \.downstream, "Messages to devices since the start, by milestone."),
            .required(
                "upstream", .counts, \.upstream, "Messages to app servers since the start, by milestone."),
            .required("topics", .record, \.topics, "Messages to topics."),
            .required("store", .record, \.store, "The store."),
            .required(
                "registry", .record, \.registry,
                "What stays until it is removed: devices, registrations and the like."),
            .required("certificate_not_after", .time, \.certificateNotAfter, "When the certificate ends."))
    }
}

extension ShowStatus.Answer {
    /// A socket that the daemon listens on.
    public struct Listener: Record {
        /// Which one it is.
        public var name: String
        /// Its address, or its path.
        public var address: String
        /// Its port; 0 for a path.
        public var port: Int

        /// A listener.
        public init(name: String, address: String, port: Int) {
            self.name = name
            self.address = address
            self.port = port
        }

        public static let fields = Fields(
            Listener.init(name:address:port:), .required("name", .text, \.name, "Which one it is."),
            .required("address", .text, \.address, "Its address, or its path."),
            .required("port", .integer(0...65_535), \.port, "Its port; 0 for a path."))
    }

    /// Connections of all listeners since the start: attempts of strangers show here first.
    public struct Connections: Record {
        /// Those that were accepted.
        public var accepted: Int
        /// Those that are open.
        public var open: Int
        /// Those that ended, by reason.
        public var closed: [WordCount]
        /// Those that were closed as soon as they were accepted, by reason.
        public var refused: [WordCount]

        /// Counts of connections.
        public init(accepted: Int, open: Int, closed: [WordCount], refused: [WordCount]) {
            self.accepted = accepted
            self.open = open
            self.closed = closed
            self.refused = refused
        }

        public static let fields = Fields(
            Connections.init(accepted:open:closed:refused:),
            .required("accepted", .count, \.accepted, "Those that were accepted."),
            .required("open", .count, \.open, "Those that are open."),
            .required("closed", .counts, \.closed, "Those that ended, by reason."),
            .required(
                "refused", .counts, \.refused,
                "Those that were closed as soon as they were accepted, by reason."))
    }

    /// Messages to topics.
    public struct Topics: Record {
        /// Messages that are still being sent.
        public var underWay: Int
        /// Messages accepted since the start.
        public var accepted: Int
        /// Devices that were sent one.
        public var recipients: Int

        /// Counts of messages to topics.
        public init(underWay: Int, accepted: Int, recipients: Int) {
            self.underWay = underWay
            self.accepted = accepted
            self.recipients = recipients
        }

        public static let fields = Fields(
            Topics.init(underWay:accepted:recipients:),
            .required("under_way", .count, \.underWay, "Messages that are still being sent."),
            .required("accepted", .count, \.accepted, "Messages accepted since the start."),
            .required("recipients", .count, \.recipients, "Devices that were sent one."))
    }

    /// The store.
    public struct Store: Record {
        /// Which engine it is.
        public var kind: String
        /// Its folder.
        public var path: String
        /// Whether it takes writes.
        public var isHealthy: Bool
        /// How many partitions it was created with.
        public var partitions: Int

        /// A store.
        public init(kind: String, path: String, isHealthy: Bool, partitions: Int) {
            self.kind = kind
            self.path = path
            self.isHealthy = isHealthy
            self.partitions = partitions
        }

        public static let fields = Fields(
            Store.init(kind:path:isHealthy:partitions:),
            .required("kind", .text, \.kind, "Which engine it is."),
            .required("path", .text, \.path, "Its folder."),
            .required("healthy", .truth, \.isHealthy, "Whether it takes writes."),
            .required("partitions", .count, \.partitions, "How many partitions it was created with."))
    }

    /// What stays until it is removed: devices, registrations and the like.
    public struct Registry: Record {
        /// Its bytes on the disk.
        public var bytes: Int
        /// How many it may have; 0 for no limit.
        public var limit: Int
        /// Whether nothing new is added.
        public var isFull: Bool

        /// The size of the registry.
        public init(bytes: Int, limit: Int, isFull: Bool) {
            self.bytes = bytes
            self.limit = limit
            self.isFull = isFull
        }

        public static let fields = Fields(
            Registry.init(bytes:limit:isFull:), .required("bytes", .count, \.bytes, "Its bytes on the disk."),
            .required("limit", .count, \.limit, "How many it may have; 0 for no limit."),
            .required("full", .truth, \.isFull, "Whether nothing new is added."))
    }
}
