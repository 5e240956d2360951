import Basics

/// Generates sequence numbers: the wall clock in microseconds, or the last number plus one if that is greater.
struct SequenceSource {
    /// The highest number that was generated or found in the store.
    private(set) var last: UInt64

    /// Starts above a watermark.
    init(floor: UInt64) { last = floor }

    /// Returns a number greater than all earlier ones.
    mutating func next(_ now: Now) -> SequenceNumber {
        last = max(last &+ 1, UInt64(clamping: now.wall) &* 1_000)
        return SequenceNumber(last)
    }

    /// Raises the watermark to a number that was found in the store.
    mutating func observe(_ sequence: SequenceNumber) { last = max(last, sequence.number) }
}
