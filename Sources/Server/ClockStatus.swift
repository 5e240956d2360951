import Basics
import Delivery
import Store
import Synchronization

/// Whether the machine's wall clock is trusted, as the first partition reports it, for all threads.
final class ClockStatus: Sendable {
    /// Why the clock is not trusted, and until when.
    struct State: Equatable {
        var doubt: ClockDoubt
        /// When it is trusted without confirmation; `nil` if never.
        var graceEnds: Instant?
    }

    private let state = Mutex<State?>(nil)
    private let isInDoubt = Atomic<Bool>(false)

    /// The doubt about the clock; `nil` if the clock is trusted.
    var current: State? { state.withLock { $0 } }

    /// Sets the current state; `nil` if the clock is trusted.
    func update(_ new: State?) {
        state.withLock { $0 = new }
        isInDoubt.store(new != nil, ordering: .relaxed)
    }

    /// Returns the machine's time for sessions, which lets nothing expire while the clock is in doubt.
    func externalReading(_ machine: Now) -> Now {
        var reading = machine
        if isInDoubt.load(ordering: .relaxed) { reading.latestInDoubt = Limits.Clock.latest }
        return reading
    }

    /// The problem for the log, `/readyz` and operators; `nil` if the clock is trusted.
    var problem: String? { current?.doubt.text }
}

extension ClockDoubt {
    /// A description for the log and operators.
    var text: String {
        switch self {
        case .ahead(let milliseconds):
            "the clock is in doubt: it is \(Self.span(milliseconds)) ahead of the last run of ccsd"
        case .behind(let milliseconds):
            "the clock is in doubt: it is \(Self.span(milliseconds)) behind the last run of ccsd"
        case .impossible: "the clock is in doubt: its time is outside of 2023 to 2099"
        }
    }

    private static func span(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        if minutes < 2 * 60 { return "\(minutes) minutes" }
        return minutes < 2 * 1_440 ? "\(minutes / 60) hours" : "\(minutes / 1_440) days"
    }
}

extension ClockStatus {
    /// Returns the last time at which the previous process ran, in milliseconds since 1970. Returns `nil` for a new store.
    ///
    /// An older store has no clock mark, but a sequence mark that ran up to some minutes ahead of the clock, which is enough to
    /// detect a clock that is far ahead.
    static func mark(in store: any Store, now: UnixMilliseconds) throws(StoreError) -> UnixMilliseconds? {
        if let bytes = try store.setting(StoreMark.clock.rawValue) {
            return UnixMilliseconds(clamping: StoreMark.number(bytes))
        }
        guard let bytes = try store.setting(StoreMark.sequence.rawValue) else { return nil }
        let sequences = UnixMilliseconds(clamping: StoreMark.number(bytes) / 1_000)
        // Restarts have moved the sequence mark ahead by less than an hour.
        return sequences - now < 3_600_000 ? min(sequences, now) : sequences
    }
}
