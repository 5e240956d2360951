/// The batches with changes to one device that the store has not confirmed.
struct OpenBatches {
    /// Whether the current turn has changes to the device.
    private(set) var isTouched = false
    /// The number of uncommitted batches with changes to it.
    private(set) var inFlight = 0
    /// The number of the last batch with changes to it. `nil` if there has been none.
    private(set) var last: UInt64?

    /// Whether all changes are committed.
    var isEmpty: Bool { inFlight == 0 && !isTouched }

    /// Marks the device as changed by the current turn. Returns whether it was not.
    mutating func touch() -> Bool {
        defer { isTouched = true }
        return !isTouched
    }

    /// Counts the changes of the current turn to a batch.
    mutating func close(_ batch: UInt64) {
        isTouched = false
        last = batch
        inFlight += 1
    }

    /// Counts a batch that is committed or has failed.
    mutating func committed() { inFlight -= 1 }
}
