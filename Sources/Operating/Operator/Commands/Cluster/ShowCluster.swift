public import Basics

/// Shows the cluster as the node sees it that is asked.
public struct ShowCluster: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "cluster status",
        "Show the nodes, partitions, log and alarms of the cluster, as this node sees them.",
        details: [
            "Each node answers from its own heartbeats: ask another one as well if one seems wrong. Roles and positions of partitions are those of the node that is asked."
        ])
    public static let fields = Fields(ShowCluster.init)

    /// The cluster.
    public struct Answer: Record {
        public var cluster: String
        public var node: NodeNumber
        public var name: String
        /// The version of frames that all nodes read; `nil` if there is none.
        public var frameVersion: Int?
        public var isDraining: Bool
        public var log: Log
        public var members: [Member]
        public var partitions: [Partition]
        public var alarms: [Alarm]

        /// Creates an answer.
        public init(
            cluster: String, node: NodeNumber, name: String, frameVersion: Int?, isDraining: Bool, log: Log,
            members: [Member], partitions: [Partition], alarms: [Alarm]
        ) {
            self.cluster = cluster
            self.node = node
            self.name = name
            self.frameVersion = frameVersion
            self.isDraining = isDraining
            self.log = log
            self.members = members
            self.partitions = partitions
            self.alarms = alarms
        }

        public static let fields = Fields(
            Answer.init(cluster:node:name:frameVersion:isDraining:log:members:partitions:alarms:),
            .required("cluster", .text, \.cluster, "The ID of the cluster."),
            .required("node", .node, \.node, "The number of the node that was asked."),
            .required("name", .text, \.name, "Its name."),
            .nullable(
                "frame_version", .count, \.frameVersion,
                "The version of frames that all nodes read; null if there is none."),
            .required("draining", .boolean, \.isDraining, "Whether it gives its partitions to others."),
            .required("log", .record, \.log, "Its connection to the log."),
            .required("members", .list(.record), \.members, "All nodes of its list, by number."),
            .required("partitions", .list(.record), \.partitions, "All partitions, by number."),
            .required("alarms", .list(.record), \.alarms, "What is wrong, most urgent first."))
    }
}

extension ShowCluster.Answer {
    /// The connection to the log.
    public struct Log: Record {
        /// The server of NATS; `nil` without a connection.
        public var server: String?
        public var version: String?
        /// How long there has been no connection; `nil` if there is one.
        public var disconnectedSeconds: Int?
        public var replicas: Int
        /// Whether the servers sync each record; `nil` if that is not known of all that are to be asked.
        public var syncs: Bool?
        public var problems: [StreamProblem]

        /// Creates the log's part of the answer.
        public init(
            server: String?, version: String?, disconnectedSeconds: Int?, replicas: Int, syncs: Bool?,
            problems: [StreamProblem]
        ) {
            self.server = server
            self.version = version
            self.disconnectedSeconds = disconnectedSeconds
            self.replicas = replicas
            self.syncs = syncs
            self.problems = problems
        }

        public static let fields = Fields(
            Log.init(server:version:disconnectedSeconds:replicas:syncs:problems:),
            .nullable("server", .text, \.server, "The server of NATS; null without a connection."),
            .nullable("version", .text, \.version, "The version of the server."),
            .nullable(
                "disconnected_seconds", .count, \.disconnectedSeconds,
                "How long there has been no connection; null if there is one."),
            .required("replicas", .count, \.replicas, "How many servers are to keep each stream."),
            .nullable(
                "syncs", .boolean, \.syncs,
                "Whether the servers of NATS sync each record; null if they are not asked, or have not answered yet."
            ),
            .required(
                "problems", .list(.record), \.problems, "What is wrong with the streams; none if all is well."
            ))
    }

    /// What is wrong with a stream.
    public struct StreamProblem: Record {
        public var stream: String
        public var partition: Int
        public var problem: String

        /// Creates a problem.
        public init(stream: String, partition: Int, problem: String) {
            self.stream = stream
            self.partition = partition
            self.problem = problem
        }

        public static let fields = Fields(
            StreamProblem.init(stream:partition:problem:),
            .required("stream", .text, \.stream, "The name of the stream."),
            .required("partition", .count, \.partition, "Its partition."),
            .required("problem", .text, \.problem, "What is wrong, and what is expected."))
    }

    /// An alarm.
    public struct Alarm: Record, Hashable {
        public var cause: ClusterAlarmCause
        public var problem: String
        public var action: String

        /// Creates an alarm.
        public init(cause: ClusterAlarmCause, problem: String, action: String) {
            self.cause = cause
            self.problem = problem
            self.action = action
        }

        public static let fields = Fields(
            Alarm.init(cause:problem:action:),
            .required("cause", .word, \.cause, "What is wrong, as a word."),
            .required("problem", .text, \.problem, "What is wrong."),
            .required("action", .text, \.action, "What to do."))
    }
}
