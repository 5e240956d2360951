import Basics
import Delivery
import Store
import Synchronization

/// What the partitions think of the machine's wall clock, as the first of them reports it, for all threads.
final class ClockBoard: Sendable {
    /// Why the clock is not believed, and until when.
    struct State: Equatable {
        var doubt: ClockDoubt
        /// When it is believed all the same; nil: not by itself.
        var graceEnds: Instant?
    }

    private let state = Mutex<State?>(nil)
    private let isInDoubt = Atomic<Bool>(false)

    /// Nil: the clock is believed.
    var current: State? { state.withLock { $0 } }

    /// Notes what is thought now.
    func note(_ new: State?) {
        state.withLock { $0 = new }
        isInDoubt.store(new != nil, ordering: .relaxed)
    }

    /// The machine's time for sessions, by which nothing ends while it is in doubt.
    func outside(_ machine: Now) -> Now {
        var reading = machine
        if isInDoubt.load(ordering: .relaxed) { reading.latestInDoubt = Limits.Clock.latest }
        return reading
    }

    /// What is wrong, for the log, `/readyz` and operators; nil: nothing.
    var problem: String? { current?.doubt.text }
}

extension ClockDoubt {
    /// In words.
    var text: String {
        switch self {
        case .ahead(let milliseconds):
            "the clock is in doubt: it is \(Self.span(milliseconds)) ahead of when ccsd last ran"
        case .behind(let milliseconds):
            "the clock is in doubt: it is \(Self.span(milliseconds)) behind when ccsd last ran"
        case .impossible: "the clock is in doubt: it shows a time that cannot be"
        }
    }

    private static func span(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        if minutes < 2 * 60 { return "\(minutes) minutes" }
        return minutes < 2 * 1_440 ? "\(minutes / 60) hours" : "\(minutes / 1_440) days"
    }
}

extension ClockBoard {
    /// Until when the process before has lived, by its mark, milliseconds since 1970; nil: the store does not know.
    ///
    /// A store of before has no such mark, but one of sequences that ran up to some minutes ahead of the clock: it tells at least
    /// when the clock is far ahead.
    static func mark(in store: any Store, now: UnixMilliseconds) throws(StoreError) -> UnixMilliseconds? {
        if let octets = try store.setting(StoreMark.clock.rawValue) {
            return UnixMilliseconds(clamping: StoreMark.number(octets))
        }
        guard let octets = try store.setting(StoreMark.sequence.rawValue) else { return nil }
        let sequences = UnixMilliseconds(clamping: StoreMark.number(octets) / 1_000)
        // An hour is more than restarts have driven it ahead.
        return sequences - now < 3_600_000 ? min(sequences, now) : sequences
    }
}
