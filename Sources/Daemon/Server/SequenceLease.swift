import Basics
public import Delivery
public import Store
import Synchronization

/// Keeps a mark on disk above all stored sequences, so that the next process starts above it even if the clock was set back
/// in between.
///
/// Without the mark, a new message could get the sequence of a stored one, and would be mistaken for it. The mark is written
/// with the commit of the first message above it, and somewhat ahead, so that it costs no extra sync and only few commits
/// write it. A process that stores nothing does not move the mark, so repeated restarts do not drive the sequences ahead of
/// the clock. Messages that are never stored may share a sequence with a message of an earlier process; the salt of the
/// process distinguishes them.
public final class SequenceLease: Sendable {
    private struct State {
        /// The mark on disk, in microseconds since 1970.
        var mark: UInt64
        /// The highest mark ever written, since a failed commit may still be on disk.
        var highest: UInt64
    }

    /// The mark of the previous process; new sequences must be above it.
    public let watermark: UInt64
    private let state: Mutex<State>

    /// Reads the mark of the previous process.
    public init(store: any Store) throws(StoreError) {
        watermark = try store.setting(StoreMark.sequence.rawValue).map(StoreMark.number) ?? 0
        state = Mutex(State(mark: watermark, highest: watermark))
    }

    /// Returns the mark to write with these batches, in microseconds since 1970. Returns `nil` if the mark on disk is above them.
    public func mark(for batches: [WriteBatch]) -> UInt64? {
        var newest: UInt64 = 0
        for batch in batches { newest = max(newest, batch.newestSequence?.number ?? 0) }
        return state.withLock { state in
            guard newest > state.mark else { return nil }
            state.highest = max(
                state.highest, newest &+ UInt64(Limits.Store.sequenceLeaseMilliseconds) * 1_000)
            return state.highest
        }
    }

    /// No stored sequence is above this mark, in microseconds since 1970.
    public var current: UInt64 { state.withLock { max(watermark, $0.highest) } }

    /// Records that the commit with a mark has succeeded.
    public func written(_ mark: UInt64) { state.withLock { $0.mark = max($0.mark, mark) } }
}
