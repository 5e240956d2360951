import Basics
import Store
import Synchronization

/// For each partition a time before which nothing ends: its sweep starts there.
///
/// Without it each sweep would plod through the marks of all that was delivered since the last compaction.
final class ExpiryFloor: Sendable {
    private struct State {
        /// Nothing that is committed ends before, by partition.
        var floors: [UnixMilliseconds]
        /// Earliest ends in the commit that runs.
        var running: EarliestEnds
        /// Earliest ends in the commits that ended since the sweep of the partition began.
        var sinceSweep: EarliestEnds
        var isSweeping: [Bool]
    }
    private let state: Mutex<State>

    /// Nothing is known of the ends of any partition.
    init(partitions: Int) {
        let none = EarliestEnds(partitions: partitions)
        state = Mutex(
            State(
                floors: Array(repeating: .min, count: partitions), running: none, sinceSweep: none,
                isSweeping: Array(repeating: false, count: partitions)))
    }

    /// A commit is about to be written whose earliest ends are these.
    func commitBegins(_ earliest: EarliestEnds) {
        state.withLock { $0.running.add(earliest) }
    }

    /// That commit has been written, or has failed.
    func commitEnds() {
        state.withLock { state in
            let ended = state.running
            ended.forEach { state.floors[$0] = min(state.floors[$0], $1) }
            state.sinceSweep.add(ended)
            state.running.removeAll()
        }
    }

    /// Where a sweep of a partition is to start; `nil` while another one runs, which then knows nothing of the floor.
    func sweepBegins(_ partition: Int) -> UnixMilliseconds? {
        state.withLock { state in
            guard !state.isSweeping[partition] else { return nil }
            state.isSweeping[partition] = true
            state.sinceSweep.remove(partition)
            return state.floors[partition]
        }
    }

    /// The sweep that was given the floor found nothing that ends before `first`; `nil` if it failed.
    func sweepEnds(_ partition: Int, first: UnixMilliseconds?) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            try demand(
                state.isSweeping[partition], "a sweep ends that has not begun", "partition \(partition)")
            state.isSweeping[partition] = false
            guard let first else { return }
            state.floors[partition] = min(first, state.running[partition], state.sinceSweep[partition])
        }
    }
}
