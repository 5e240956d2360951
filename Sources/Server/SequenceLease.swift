import Basics
public import Delivery
public import Store
import Synchronization

/// Keeps a mark on disk above all sequences that are stored, so that those of the next process begin above it even where
/// the clock was set back in between.
///
/// Without it, a sender's message could get the sequence of one that is stored already, and would be taken for it.
/// The mark is written in the commit of the message that passes it, a little ahead, so that it costs no sync and only one
/// commit in many writes it; a process that stores nothing does not move it. So restarts do not drive the sequences ahead of
/// the clock, however many there are. What is never stored may share a sequence with a message of an earlier process; the
/// salt of the process tells them apart.
public final class SequenceLease: Sendable {
    private struct State {
        /// The mark on disk, microseconds since 1970.
        var mark: UInt64
        /// The highest that was ever written: a commit that failed may be on disk all the same.
        var highest: UInt64
    }

    /// No sequence at or below this may be made: the mark of the process before.
    public let floor: UInt64
    private let state: Mutex<State>

    /// Reads the mark of the process before.
    public init(store: any Store) throws(StoreError) {
        floor = try store.setting(StoreMark.sequence.rawValue).map(StoreMark.number) ?? 0
        state = Mutex(State(mark: floor, highest: floor))
    }

    /// The mark that must be written with these batches, microseconds since 1970; nil: they lie below that on disk.
    public func mark(for batches: [WriteBatch]) -> UInt64? {
        var newest: UInt64 = 0
        for batch in batches {
            for mutation in batch.mutations { newest = max(newest, mutation.sequence?.number ?? 0) }
        }
        return state.withLock { state in
            guard newest > state.mark else { return nil }
            state.highest = max(
                state.highest, newest &+ UInt64(Limits.Store.sequenceLeaseMilliseconds) * 1_000)
            return state.highest
        }
    }

    /// The commit with a mark is done.
    public func written(_ mark: UInt64) { state.withLock { $0.mark = max($0.mark, mark) } }
}
