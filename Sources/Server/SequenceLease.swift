import Basics
import Store
import Synchronization

/// Keeps a mark on disk that the sequences of this process have not passed, so that those of the next one begin above it
/// even where the clock was set back in between.
///
/// Without it, a sender's message could get the sequence of one that is stored already, and would be taken for it.
/// Written ahead, and only now and then: nothing on the path of a message waits for it.
final class SequenceLease: Sendable {
    private struct State {
        /// The mark on disk, microseconds since 1970.
        var mark: UInt64
        var isWriting = false
    }

    /// The name of the mark among the settings of the store.
    static let name = "sequence_mark"

    /// No sequence at or below this may be made: the mark of the process before.
    let floor: UInt64
    private let store: any Store
    private let state: Mutex<State>

    /// Reads the mark of the process before, and writes one of our own before any sequence is made.
    init(store: any Store, now: UnixMilliseconds) throws(StoreError) {
        self.store = store
        let found = try store.setting(Self.name).map(Self.number) ?? 0
        floor = found
        let ahead = UInt64(Limits.sequenceLeaseSeconds) * 1_000_000
        // Sequences go on from the floor, one by one, until the clock has passed it.
        let mark = max(Self.microseconds(now), found) &+ ahead
        try store.setSetting(Self.name, Self.octets(mark))
        state = Mutex(State(mark: mark))
    }

    /// Whether half of the mark's lead is used up, or the clock is behind it.
    func isDue(now: UnixMilliseconds) -> Bool { state.withLock { Self.next($0, now) != nil } }

    /// Moves the mark on if that is due; slow, so not for a thread that others wait for.
    func renew(now: UnixMilliseconds) throws(StoreError) {
        let next = state.withLock { state -> UInt64? in
            guard let next = Self.next(state, now) else { return nil }
            state.isWriting = true
            return next
        }
        guard let next else { return }
        do throws(StoreError) {
            try store.setSetting(Self.name, Self.octets(next))
            state.withLock { $0 = State(mark: next) }
        } catch {
            state.withLock { $0.isWriting = false }
            throw error
        }
    }

    /// Where the mark is to move; nil where it may stay.
    private static func next(_ state: State, _ now: UnixMilliseconds) -> UInt64? {
        let clock = microseconds(now)
        let ahead = UInt64(Limits.sequenceLeaseSeconds) * 1_000_000
        if state.isWriting { return nil }
        // The clock is behind: it does not say how far the sequences are, so the mark keeps a pace that they cannot.
        if state.mark > clock &+ ahead { return state.mark &+ UInt64(Limits.sequencesPerRenewal) }
        return state.mark < clock &+ ahead / 2 ? clock &+ ahead : nil
    }

    private static func microseconds(_ now: UnixMilliseconds) -> UInt64 { UInt64(clamping: now) &* 1_000 }

    private static func octets(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func number(_ octets: [UInt8]) -> UInt64 {
        octets.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
