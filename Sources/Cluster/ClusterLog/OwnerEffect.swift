/// What the shell reports to a `LogOwner`.
public enum OwnerEvent: Hashable, Sendable {
    /// The log has stored a frame at a position. Answers to several copies of a frame may arrive, in any order.
    case stored(FrameName, at: LogPosition)
    /// The log has refused a frame, or its answer could not be read.
    case refused(FrameName)
    /// A record that was read from the leader of the log.
    case record(LogRecord, at: LogPosition)
    /// The log ends: its leader has no record after this position.
    case end(LogPosition)
    /// The first record of the log has this position: earlier ones cannot be read any more.
    case removed(first: LogPosition)
    /// A read has failed.
    case readFailed
    /// The connection to the log is lost: no answers will come.
    case disconnected
    /// There is a connection to the log again.
    case connected
    /// Time has passed.
    case tick
}

/// What a `LogOwner` wants the shell to do, in this order.
public enum OwnerEffect: Hashable, Sendable {
    /// Append the frame of this name (`LogOwner.frame`) to the log, without any condition.
    case append(FrameName)
    /// Read the record at a position from the leader of the log; from a follower only while no leader may answer. The answer is a `record`,
    /// `end` or `readFailed`.
    case read(LogPosition)
    /// Apply the valid frame of an earlier owner at a position, whose record was the last event.
    case apply(LogPosition)
    /// This node owns the partition from now on. Everything before is applied.
    case took(Term)
    /// The frame of this name is valid for all readers and stays so: apply it, and answer its clients.
    case confirmed(FrameName, at: LogPosition)
    /// Another node owns the partition. No further frame is confirmed; whether those in flight are void, `LogOwner.reader` learns.
    case lost(to: Term)
    /// The log has lost records before this position that counted, and that this node has not read: it needs the store of another.
    case missing(before: LogPosition)
    /// The log ends at this position or has another record there, although this node has read more: it has lost records that counted.
    /// What this node keeps of them can be appended again.
    case shortened(to: LogPosition)
    /// Nothing more can be confirmed until an operator has acted.
    case halted(LogHalt)
}

/// Why an owner has stopped.
public enum LogHalt: Hashable, Sendable {
    /// A record that no node may skip cannot be read.
    case unreadable(UnreadableRecord, at: LogPosition)
    /// A frame of this owner was read back with another content than it was made with, or the owner's own state is broken.
    case inconsistent(at: LogPosition)
}
