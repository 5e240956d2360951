public import Basics
public import ClusterLog

/// What the shell reports to a `Membership`.
public enum MembershipEvent: Sendable {
    /// A heartbeat has arrived, also one of this node itself: without those, the node is cut off and judges no other.
    case heartbeat(Heartbeat)
    /// The state of this node's replica of a partition. The shell reports each change of the role at once, positions once a tick.
    case local(partition: Int, PartitionReport)
    /// This node is about to stop: it gives its partitions to others.
    case drain
    /// Time has passed.
    case tick
}

/// What a `Membership` wants the shell to do, in this order.
public enum MembershipEffect: Hashable, Sendable {
    /// Publish this heartbeat.
    case send(Heartbeat)
    /// Route requests for a partition to this node from now on; `nil`: the owner is unknown.
    case owner(partition: Int, NodeNumber?)
    /// Claim a partition: begin a `LogOwner`, and report `claiming`, then `owning` or `following`. `released` is the position at which its owner
    /// has surrendered it to this node; `nil` if none has.
    case claim(partition: Int, released: LogPosition?)
    /// Drop a claim that has not succeeded, and report `following`: the partition has an owner.
    case abandon(partition: Int)
    /// Accept no more requests for a partition that this node owns; once nothing is unconfirmed, report `releasing` to the successor.
    /// Go on as the owner until its mark is read.
    case release(partition: Int, to: NodeNumber)
    /// The successor did not claim: accept requests again, and report `owning`.
    case resume(partition: Int)
    /// The status, process or address of another node has changed: see `Membership.member`.
    case member(NodeNumber)
    /// The version of frames that all read has changed; `nil`: there is none. Write frames of `Membership.writtenFrameVersion`.
    case frameVersion(UInt8?)
    /// Keep `Membership.roster` for the next process.
    case roster
    /// An operator should look.
    case raised(ClusterAlarm)
    /// The reason of an alarm is gone.
    case cleared(ClusterAlarm)
    /// This node drains, and owns nothing any more.
    case drained
}

/// What an operator should look at.
public enum ClusterAlarm: Hashable, Sendable {
    /// Two processes run with the number of this node at the same time.
    case duplicateNode(NodeNumber)
    /// A node of another cluster uses the same subject of NATS.
    case foreignCluster(ClusterID)
    /// The wall clock of a node differs from ours.
    case clock(NodeNumber)
    /// No version of frames can be read by all nodes.
    case noFrameVersion
    /// A node was set up for another number of partitions.
    case partitions(NodeNumber)
    /// There are more nodes than a cluster may have.
    case tooManyNodes
    /// A node that operators have removed sends heartbeats; or this node is removed.
    case removedNode(NodeNumber)
    /// A node that belongs to the cluster has been silent for a while.
    case silentNode(NodeNumber)
    /// These partitions have had no owner for a while.
    case unowned([Int])
}

/// Whether a node is there.
public enum NodeStatus: Hashable, Sendable {
    /// Its heartbeats arrive.
    case alive
    /// It is silent: its partitions are taken over.
    case suspected
    /// It has been silent for long.
    case gone
}

/// What is known of another node.
public struct Member: Hashable, Sendable {
    /// Whether it is there.
    public var status: NodeStatus
    /// Its last heartbeat, and when that arrived.
    public var heartbeat: Heartbeat
    public var heard: Instant
}

/// Why a handover was refused that an operator has asked for.
public enum HandoverRefusal: Hashable, Sendable {
    /// This node does not own the partition.
    case notOwner(NodeNumber?)
    /// The partition is being handed over.
    case underway(to: NodeNumber)
    /// The target is unknown, silent, draining, or cannot own the partition.
    case unfit(NodeNumber)
    /// The target is this many records behind.
    case behind(NodeNumber, records: UInt64)
    /// No node can take the partition.
    case noTarget
}
