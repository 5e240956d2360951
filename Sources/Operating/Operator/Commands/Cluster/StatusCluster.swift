public import Basics

extension ShowStatus.Answer {
    /// What the daemon is in a cluster.
    public struct Cluster: Record {
        public var cluster: String
        public var node: NodeNumber
        public var name: String
        /// How many partitions it serves, and how many there are.
        public var owned: Int
        public var partitions: Int
        public var isConnected: Bool
        public var alarms: Int

        /// Creates the cluster's part of the answer.
        public init(
            cluster: String, node: NodeNumber, name: String, owned: Int, partitions: Int, isConnected: Bool,
            alarms: Int
        ) {
            self.cluster = cluster
            self.node = node
            self.name = name
            self.owned = owned
            self.partitions = partitions
            self.isConnected = isConnected
            self.alarms = alarms
        }

        public static let fields = Fields(
            Cluster.init(cluster:node:name:owned:partitions:isConnected:alarms:),
            .required("id", .text, \.cluster, "The ID of the cluster."),
            .required("node", .node, \.node, "The number of the node."),
            .required("name", .text, \.name, "Its name."),
            .required("owned", .count, \.owned, "How many partitions it serves."),
            .required("partitions", .count, \.partitions, "How many partitions there are."),
            .required("log_connected", .boolean, \.isConnected, "Whether it has a connection to the log."),
            .required("alarms", .count, \.alarms, "How many alarms there are."))
    }
}
