public import Basics
import ClusterLog

extension Membership {
    /// What a node is: nothing of it changes while the process runs.
    public struct Settings: Sendable {
        /// The cluster.
        public var cluster: ClusterID
        /// The node, and the process that runs it.
        public var node: NodeNumber
        public var incarnation: Incarnation
        /// The name of the node, for people: 1 to 64 bytes.
        public var name: String
        /// The version of the software, for people: 1 to 64 bytes.
        public var software: String
        /// The versions of frames that this build reads.
        public var frameVersions: ClosedRange<UInt8>
        /// Where other nodes reach this one: `host:port`.
        public var linkAddress: String
        /// How many partitions the cluster has.
        public var partitions: Int
        /// How many nodes must have a record durable before it may be purged: 2, or 1 in a cluster of one node.
        public var copies: Int

        /// Creates settings.
        public init(
            cluster: ClusterID, node: NodeNumber, incarnation: Incarnation, name: String, software: String,
            frameVersions: ClosedRange<UInt8>, linkAddress: String, partitions: Int, copies: Int = 2
        ) {
            self.cluster = cluster
            self.node = node
            self.incarnation = incarnation
            self.name = name
            self.software = software
            self.frameVersions = frameVersions
            self.linkAddress = linkAddress
            self.partitions = partitions
            self.copies = copies
        }
    }

    /// What is known of another node. Returns `nil` if it is unknown.
    public func member(_ node: NodeNumber) -> Member? {
        peer(node).map {
            Member(
                status: peers[$0].status, heartbeat: peers[$0].heartbeat, heard: peers[$0].heard)
        }
    }

    /// The numbers of all other nodes that are known.
    public var members: [NodeNumber] { peers.map(\.heartbeat.node) }

    /// The owner of a partition, or `nil` while it is unknown.
    public func owner(of partition: Int) -> NodeNumber? { partitions[partition].owner }

    /// How many partitions this node owns or claims.
    public var load: Int { own.count { $0.role.isOwner || $0.role == .claiming } }

    /// What an operator should look at, in the order in which it was noticed.
    public var raisedAlarms: [ClusterAlarm] { alarms.all + (unownedAlarm.map { [$0] } ?? []) }

    /// The alarm of partitions that have had no owner for a while.
    public var unownedAlarm: ClusterAlarm? { unowned.isEmpty ? nil : .unowned(unowned) }

    /// Whether this node gives up its partitions.
    public var isDraining: Bool { drain != .off }

    /// Whether this node sees its own heartbeats. Otherwise it judges no other node.
    public var isConnected: Bool { !isDeaf }
}
