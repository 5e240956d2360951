public import Basics
public import ClusterLog

/// What the shell reports to a `Replica`.
public enum ReplicaEvent: Sendable {
    /// A record that the followed log has at a position.
    case followed([UInt8], at: LogPosition)
    /// The log has stored a frame of this node.
    case stored(FrameName, at: LogPosition)
    /// The log has refused a frame of this node, or its answer could not be read.
    case refused(FrameName)
    /// A record that was read for `ReplicaEffect.read`.
    case record([UInt8], at: LogPosition)
    /// The log has no record after this position, for `ReplicaEffect.read`.
    case end(LogPosition)
    /// A read has failed.
    case readFailed
    /// The first record of the log has this position: all earlier ones are purged.
    case removed(first: LogPosition)
    /// The content of the frame at a position, which was to be applied, cannot be read.
    case unreadable(LogPosition)
    /// The store has applied a frame and everything before it.
    case applied(LogPosition)
    /// The store needs no log up to this position (`Replica.stored`), even after a power cut.
    case synced(LogPosition)
    /// The connection to the log is lost.
    case disconnected
    /// There is a connection to the log.
    case connected
    /// Claim the partition. `released` is where the owner has surrendered it to this node, if it has: its lease need not run out.
    case claim(Claim, released: LogPosition?)
    /// Drop a claim that has not succeeded.
    case abandon
    /// Give the partition to another node: it accepts no more batches.
    case release(to: NodeNumber)
    /// No further decision of the partition leaves this node, for `ReplicaEffect.surrender`.
    case surrendered(UInt64)
    /// The successor did not claim: accept batches again.
    case resume
    /// The process ends: give up what is claimed or owned.
    case stop
    /// The stream that has the log was looked at.
    case examined(StreamState)
    /// Write frames of this version from now on.
    case writes(version: UInt8)
    /// The log ends here for certain, although this node has read more.
    case lost(after: LogPosition)
    /// The highest position that any other node which runs has read.
    case reached(LogPosition)
    /// Time has passed.
    case tick
}

/// What a `Replica` wants the shell to do, in this order.
public enum ReplicaEffect: Hashable, Sendable {
    /// Append the frame of this name (`Replica.frame`).
    case append(FrameName)
    /// Append these bytes. The answer is not needed.
    case appendRecord([UInt8])
    /// Read the record at a position from the leader of the log.
    case read(LogPosition)
    /// Report every record after a position, in place of what was followed before.
    case follow(after: LogPosition)
    /// Report no more records.
    case stopFollowing
    /// Ask for no more records for a while: the store is behind. Some may still come.
    case pauseFollowing
    /// Go on after `pauseFollowing`.
    case resumeFollowing
    /// Look at the stream of the log, and report `examined`.
    case examine
    /// Apply a frame to the store, and report `applied`.
    case apply(AppliedFrame)
    /// These batches are in no frame that this node confirms: report each as failed.
    case fail(Range<UInt64>)
    /// This node owns the partition, and its store has everything before.
    case took(Term)
    /// Nothing of a partition that is to be released is without an outcome: let no decision of it out from now on, and report `surrendered` with
    /// this number.
    case surrender(UInt64)
    /// This node does not own the partition any more.
    case lost
    /// The role or the epoch has changed: report it to the membership.
    case changed
    /// The log ends here, before what nodes have applied: it has lost records.
    case shortened(to: LogPosition)
    /// This node can apply nothing more before it has copied the store of another: it needs records before a position.
    case absent(begins: LogPosition, Replica.Absence)
    /// The log has what it had lost; this many records were appended for that.
    case repaired(records: Int)
    /// Nothing more can be applied until an operator has acted.
    case halted(LogHalt)
}

/// The stream that has a log, as far as a node depends on it.
public enum StreamState: Hashable, Sendable {
    /// It was not seen yet, or it is missing.
    case unseen
    /// It is as it must be, or what is wrong goes by itself.
    case fit
    /// Something is wrong with it until an operator mends it.
    case unfit

    /// Whether the partition may be claimed. One that is missing may only be one that the servers of the log have not loaded yet.
    var isClaimable: Bool {
        switch self {
        case .unseen, .fit: true
        case .unfit: false
        }
    }
}

/// A frame that counts, for the store.
public struct AppliedFrame: Hashable, Sendable {
    /// Where the batches come from.
    public enum Content: Hashable, Sendable {
        /// Batches that this node submitted.
        case own(Range<UInt64>)
        /// The batches of another owner, one after the other as they were submitted (`AppliedFrame.batches`).
        case foreign([UInt8])
    }

    /// The batches.
    public var content: Content
    /// The term, the number and the position of the frame, or of the last one if its content needed several.
    public var term: Term
    public var number: UInt64
    public var position: LogPosition
    /// The first batches, which the store has already.
    public var skips: UInt64

    /// Returns the ranges of the encoded batches in the content of another owner. Returns `nil` if it is none.
    public static func batches(in content: [UInt8]) -> [Range<Int>]? {
        var batches: [Range<Int>] = []
        var at = 0
        while at < content.count {
            guard content.count - at >= 8, let length = Int(exactly: content.raw.word(at: at)),
                length <= content.count - at - 8
            else { return nil }
            batches.append(at + 8..<at + 8 + length)
            at += 8 + length
        }
        return batches
    }
}
