public import Basics

/// Which nodes there are, which of them owns each partition, and what this node is to do about it.
public struct Membership: Sendable {
    /// What this node is, and never changes while it runs.
    public struct Settings: Sendable {
        /// The identity that its heartbeats carry.
        public var cluster: ClusterID
        public var node: NodeNumber
        public var incarnation: Incarnation
        public var name: String
        public var software: String
        public var frameVersions: ClosedRange<UInt8>
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

    let settings: Settings
    var random: SeededRandom

    /// Starts without any other node. The seed decides the pauses between claims; it must differ between processes.
    public init(_ settings: Settings, seed: UInt64, now: Now) {
        self.settings = settings
        random = SeededRandom(seed: seed)
        _ = now
    }

    /// When `tick` is due.
    public var nextTick: Instant { .distantPast }

    /// Handles an event.
    public mutating func handle(_ event: MembershipEvent, now: Now, effects: inout [MembershipEffect]) {
        _ = (event, now)
    }
}
