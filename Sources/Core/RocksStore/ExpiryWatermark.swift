import Basics
import Store
import Synchronization

/// The sweep watermark of each partition: nothing in the engine expires before it, and the next sweep starts there.
///
/// Without it each sweep would read the tombstones of all messages delivered since the last compaction.
final class ExpiryWatermark: Sendable {
    private struct State {
        /// The watermarks, by partition.
        var watermarks: [UnixMilliseconds]
        /// Earliest expiry times in the running commit.
        var running: EarliestExpiries
        /// Earliest expiry times in the commits that ended since the sweep of the partition started.
        var sinceSweep: EarliestExpiries
        var isSweeping: [Bool]
    }
    private let state: Mutex<State>

    /// Creates watermarks at the beginning of time.
    init(partitions: Int) {
        let none = EarliestExpiries(partitions: partitions)
        state = Mutex(
            State(
                watermarks: Array(repeating: .min, count: partitions), running: none, sinceSweep: none,
                isSweeping: Array(repeating: false, count: partitions)))
    }

    /// Records that a commit with these earliest expiry times is about to be written.
    func commitBegins(_ earliest: EarliestExpiries) {
        state.withLock { $0.running.add(earliest) }
    }

    /// Records that this commit was written or has failed.
    func commitEnds() {
        state.withLock { state in
            let ended = state.running
            ended.forEach { state.watermarks[$0] = min(state.watermarks[$0], $1) }
            state.sinceSweep.add(ended)
            state.running.removeAll()
        }
    }

    /// Starts a sweep of a partition and returns its watermark. Returns `nil` if another sweep of the partition is running.
    func sweepBegins(_ partition: Int) -> UnixMilliseconds? {
        state.withLock { state in
            guard !state.isSweeping[partition] else { return nil }
            state.isSweeping[partition] = true
            state.sinceSweep.remove(partition)
            return state.watermarks[partition]
        }
    }

    /// Ends a sweep that found nothing that expires before `first`. `nil` means that the sweep failed.
    func sweepEnds(_ partition: Int, first: UnixMilliseconds?) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            try demand(
                state.isSweeping[partition], "a sweep ends without a start", "partition \(partition)")
            state.isSweeping[partition] = false
            guard let first else { return }
            state.watermarks[partition] = min(first, state.running[partition], state.sinceSweep[partition])
        }
    }
}
