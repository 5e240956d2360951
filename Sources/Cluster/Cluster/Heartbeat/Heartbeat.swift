public import Basics
public import ClusterLog

/// What a node sends to all others five times a second.
public struct Heartbeat: Hashable, Sendable {
    /// The cluster.
    public var cluster: ClusterID
    /// The node, and the process that runs it.
    public var node: NodeNumber
    public var incarnation: Incarnation
    /// Counts the heartbeats of the process, from 1: an earlier one that arrives later is ignored.
    public var count: UInt64
    /// The name of the node, for people: 1 to 64 bytes.
    public var name: String
    /// The version of the software, for people: 1 to 64 bytes.
    public var software: String
    /// The versions of frames that the node reads.
    public var frameVersions: ClosedRange<UInt8>
    /// Where other nodes reach it: host and port, at most 261 bytes.
    public var linkAddress: String
    /// The wall clock of the node.
    public var wall: UnixMilliseconds
    /// Whether the node is about to stop, and takes no partition.
    public var isDraining: Bool
    /// Its replicas, by partition.
    public var partitions: [PartitionReport]
    /// The last heartbeats that it has had from others, by node: what it reports is from a time after it had them.
    public var echoes: [HeartbeatEcho]
    /// The nodes that operators have removed or admitted again, by number.
    public var rosterChanges: [RosterChange]

    /// Creates a heartbeat.
    public init(
        cluster: ClusterID, node: NodeNumber, incarnation: Incarnation, count: UInt64, name: String,
        software: String, frameVersions: ClosedRange<UInt8>, linkAddress: String, wall: UnixMilliseconds,
        isDraining: Bool, partitions: [PartitionReport], echoes: [HeartbeatEcho] = [],
        rosterChanges: [RosterChange] = []
    ) {
        self.cluster = cluster
        self.node = node
        self.incarnation = incarnation
        self.count = count
        self.name = name
        self.software = software
        self.frameVersions = frameVersions
        self.linkAddress = linkAddress
        self.wall = wall
        self.isDraining = isDraining
        self.partitions = partitions
        self.echoes = echoes
        self.rosterChanges = rosterChanges
    }
}

/// A heartbeat of another node, in one that was sent later.
public struct HeartbeatEcho: Hashable, Sendable {
    /// The other node, and its process.
    public var node: NodeNumber
    public var incarnation: Incarnation
    /// The count of its heartbeat.
    public var count: UInt64

    /// Creates an echo.
    public init(node: NodeNumber, incarnation: Incarnation, count: UInt64) {
        self.node = node
        self.incarnation = incarnation
        self.count = count
    }
}

/// The state of a node's replica of a partition.
public struct PartitionReport: Hashable, Sendable {
    /// What the node is to the partition.
    public enum Role: Hashable, Sendable {
        /// It has no replica that can be used: it copies a checkpoint.
        case absent
        /// It applies what the owner writes.
        case following
        /// Its mark is on the way.
        case claiming
        /// It is the owner.
        case owning
        /// It is the owner, has nothing unconfirmed and writes nothing more: the successor is to claim.
        case releasing(to: NodeNumber)
        /// It can apply nothing more before an operator has acted.
        case halted

        /// Whether the node is the owner by its own account.
        public var isOwner: Bool {
            switch self {
            case .owning, .releasing: true
            case .absent, .following, .claiming, .halted: false
            }
        }
    }

    /// What the node is to the partition.
    public var role: Role
    /// The epoch of the last mark that it has applied; 0 before the first.
    public var epoch: Epoch
    /// The position of the last record of the log that it has applied or skipped.
    public var applied: LogPosition
    /// The position up to which its store needs no log after a power cut; never after `applied`.
    public var durable: LogPosition
    /// Whether it is the owner by a lease: nothing is confirmed in the log after `applied` that the owner does not know. Only with `owning`.
    public var isLeased = false

    /// Creates a report.
    public init(
        role: Role = .absent, epoch: Epoch = Epoch(0), applied: LogPosition = .start,
        durable: LogPosition = .start
    ) {
        self.role = role
        self.epoch = epoch
        self.applied = applied
        self.durable = durable
    }
}
