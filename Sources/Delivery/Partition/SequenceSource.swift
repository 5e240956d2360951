import Basics

/// Makes sequences: the wall clock in microseconds, or one more than the last where that is not later.
struct SequenceSource {
    /// The last one that was made, or found in the store.
    private(set) var last: UInt64

    /// Makes none at or below a floor.
    init(floor: UInt64) { last = floor }

    /// A sequence greater than all before.
    mutating func next(_ now: Now) -> Sequence {
        last = max(last &+ 1, UInt64(clamping: now.wall) &* 1_000)
        return Sequence(last)
    }

    /// Makes none at or below one that was found in the store.
    mutating func observe(_ sequence: Sequence) { last = max(last, sequence.number) }
}
