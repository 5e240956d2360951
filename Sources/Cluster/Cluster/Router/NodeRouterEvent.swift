public import Basics
public import ClusterLog
public import Delivery

/// What the shell reports to a `NodeRouter`.
public enum NodeRouterEvent: Sendable {
    /// An event of this node for a partition that its reactors do not serve.
    case event(Event)
    /// Commands of partitions of this node for sessions of other ones, which may be performed until then: the time must be read last, since
    /// the process may have stood still.
    case commands([(ConnectionID, SessionCommand)], validUntil: Instant)
    /// A change of the control plane of this node.
    case change(ControlChange, ChangeOrigin.Number)
    /// Another node has sent an event for a partition that it takes for one of this node.
    case received(Event)
    /// Another node has sent a command for a session of this node.
    case receivedCommand(SessionCommand, to: ConnectionID, from: NodeNumber)
    /// A session of this node has ended that had begun to log in.
    case ended(ConnectionID)
    /// Another node asks for a change, under this number.
    case receivedChange(ControlChange, number: UInt64, from: NodeNumber)
    /// Another node has written a change of this node, up to a position of its log; `nil`: it has not.
    case receivedOutcome(number: UInt64, at: LogPosition?, from: NodeNumber)
    /// Another node returns a change of this node, which it has not written: it does not own the partition.
    case returnedChange(number: UInt64, from: NodeNumber)
    /// There is a link to a node.
    case linked(NodeNumber)
    /// The link to a node is lost, with the sessions of that node and what it had not answered.
    case unlinked(NodeNumber)
    /// An event could not be sent: it fits into no parcel, or its link has no room.
    case unsent(Event)
    /// A change could not be sent.
    case unsentChange(number: UInt64, to: NodeNumber)
    /// The owner of a partition, by the heartbeats that this node has seen.
    case owner(partition: Int, NodeNumber?)
    /// This node owns a partition, and its store has all of it.
    case took(partition: Int)
    /// A partition is to be released to a node.
    case leaves(partition: Int, to: NodeNumber)
    /// The reactors have left a partition, for `NodeRouterEffect.leave` with this number: a batch that still comes is refused.
    case left(partition: Int, UInt64)
    /// The reactor of a partition that was taken waits until it has the events that it had passed on before.
    case fence(partition: Int)
    /// The successor did not take the partition.
    case resumed(partition: Int)
    /// This node does not own a partition any more.
    case lost(partition: Int)
    /// A change that was to be submitted has its outcome: the end of its frame in the log. `nil`: it has failed.
    case completed(ChangeOrigin, at: LogPosition?)
    /// The store has applied the log of a partition up to a position.
    case applied(LogPosition, partition: Int)
    /// Time has passed.
    case tick
    /// The thread ends: nothing has an outcome any more.
    case stop
}

/// What a `NodeRouter` wants the shell to do, in this order.
public enum NodeRouterEffect: Sendable {
    /// Have the reactor of a partition serve it under a new lease.
    case serve(partition: Int)
    /// A partition that was served is lost: its lease is over.
    case lost(partition: Int)
    /// Have the reactors leave a partition after all events and reports of failed batches so far, and report `left` with this number.
    case leave(partition: Int, UInt64)
    /// Have the replica release a partition.
    case release(partition: Int, to: NodeNumber)
    /// Have the replica take batches again of a partition that it was to release: its handover is undone.
    case resume(partition: Int)
    /// Another node owns a partition: a handover to it is done.
    case moved(partition: Int, to: NodeNumber)
    /// Pass an event to the reactor of its partition, which this node serves.
    case deliver(Event, partition: Int)
    /// The reactor of a partition has what it had passed on before it took it.
    case passFence(partition: Int)
    /// Send an event to the node that owns its partition. One without a requester may wait in a link that has no room; any other is
    /// `unsent` then.
    case send(Event, to: NodeNumber, mayWait: Bool)
    /// Pass a command to a session of this node.
    case command(SessionCommand, to: ConnectionID)
    /// Send a command to the node of its session.
    case sendCommand(SessionCommand, to: ConnectionID, node: NodeNumber)
    /// Close the sessions of this node whose device or sender is in a partition, after all commands so far.
    case closeSessions(partition: Int)
    /// Submit a change to the log of a partition that this node owns, and report `completed`.
    case submit(ControlChange, ChangeOrigin, partition: Int)
    /// Have the store of this node write a change that concerns no partition, and report its outcome.
    case store(ControlChange, ChangeOrigin.Number)
    /// Send a change to the node that owns its partition.
    case sendChange(ControlChange, number: UInt64, to: NodeNumber)
    /// Send the outcome of a change to the node that has asked for it.
    case sendOutcome(number: UInt64, at: LogPosition?, to: NodeNumber)
    /// Return a change, which this node has not written, to the node that has asked for it: another one owns its partition.
    case returnChange(number: UInt64, to: NodeNumber)
    /// A change of this node has its outcome.
    case changed(ChangeOrigin.Number, isWritten: Bool)
    /// This many requests are answered without their owner, for this reason.
    case unreached(Int, Metric.UnreachedReason)
}

/// A batch of the control plane, all of whose changes belong to one partition.
public struct ControlChange: Sendable {
    /// Its changes.
    public var batch: WriteBatch
    /// The partition that they belong to. `nil` if there are none.
    public var partition: Int?

    /// Creates a change of a partition.
    public init(_ batch: WriteBatch, of partition: Int?) { (self.batch, self.partition) = (batch, partition) }
}

/// Which node has asked for a change.
public enum ChangeOrigin: Hashable, Sendable {
    /// The number that the shell gives a change of this node.
    public typealias Number = UInt64

    /// This node.
    case here(Number)
    /// Another node, under this number.
    case node(NodeNumber, number: UInt64)
}
