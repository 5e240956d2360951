import Basics
import Synchronization

/// A time before which nothing ends: a sweep begins there.
///
/// Without it each sweep would plod through the marks of all that was delivered since the last compaction.
final class ExpiryFloor: Sendable {
    private struct State {
        /// Nothing that is committed ends before.
        var floor = UnixMilliseconds.min
        /// Earliest end in the commit that runs.
        var running = UnixMilliseconds.max
        /// Earliest end in the commits that ended since the sweep began.
        var sinceSweep = UnixMilliseconds.max
        var isSweeping = false
    }
    private let state = Mutex(State())

    /// A commit is about to be written whose earliest end is this.
    func commitBegins(_ earliest: UnixMilliseconds) {
        state.withLock { $0.running = earliest }
    }

    /// That commit has been written, or has failed.
    func commitEnds() {
        state.withLock { state in
            state.floor = min(state.floor, state.running)
            state.sinceSweep = min(state.sinceSweep, state.running)
            state.running = .max
        }
    }

    /// Where a sweep is to begin; nil while another one runs, which then knows nothing of the floor.
    func sweepBegins() -> UnixMilliseconds? {
        state.withLock { state in
            guard !state.isSweeping else { return nil }
            state.isSweeping = true
            state.sinceSweep = .max
            return state.floor
        }
    }

    /// The sweep that was told the floor found nothing that ends before `first`; nil: it failed.
    func sweepEnds(first: UnixMilliseconds?) {
        state.withLock { state in
            state.isSweeping = false
            guard let first else { return }
            state.floor = min(first, state.running, state.sinceSweep)
        }
    }
}
