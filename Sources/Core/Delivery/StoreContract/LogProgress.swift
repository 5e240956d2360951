/// How much of the replicated log of a partition a store contains. A node continues to read the log from here.
public struct LogProgress: Sendable, Equatable {
    /// The term of the last frame that was applied completely: epoch and claim of its owner.
    public var epoch: UInt64
    public var claim: UInt64
    /// The number of that frame within its term.
    public var number: UInt64
    /// The position of that frame in the log.
    public var position: UInt64
    /// How many batches of the frame after it are applied as well.
    public var batches: UInt64

    /// Creates a progress.
    public init(epoch: UInt64, claim: UInt64, number: UInt64, position: UInt64, batches: UInt64 = 0) {
        self.epoch = epoch
        self.claim = claim
        self.number = number
        self.position = position
        self.batches = batches
    }
}
