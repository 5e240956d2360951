import Basics
import Delivery
import Store
import Synchronization

/// Whether the machine's wall clock is trusted, as the first partition reports it, and how far a test clock is ahead of it, for
/// all threads.
final class ClockStatus: Sendable {
    /// Why the clock is not trusted, and until when.
    struct State: Equatable {
        var doubt: ClockDoubt
        /// When it is trusted without confirmation; `nil` if never.
        var graceEnds: Instant?
    }

    private let state = Mutex<State?>(nil)
    private let judge = Mutex<ClockGuard?>(nil)
    private let ahead = Atomic<Int64>(0)

    /// The doubt about the clock; `nil` if the clock is trusted.
    var current: State? { state.withLock { $0 } }

    /// Sets the current state; `nil` if the clock is trusted.
    func update(_ new: State?) { state.withLock { $0 = new } }

    /// Takes over the judge of the first partition.
    func update(_ new: ClockGuard) { judge.withLock { $0 = new } }

    /// Milliseconds by which the server's time is ahead of the machine's.
    var advance: Int64 { ahead.load(ordering: .relaxed) }

    /// Moves the server's time. It never goes back.
    func move(to advance: Int64) { ahead.max(advance, ordering: .relaxed) }

    /// Returns the server's time for partitions, which judge it themselves, at a reading of the machine's clocks. Both clocks are moved, so that rates and deadlines of the
    /// core move as well, and the core sees no jump of the wall clock. A wall clock that was moved before is not moved again.
    func serverTime(_ machine: Now) -> Now {
        let advance = advance
        guard advance != 0 else { return machine }
        var time = machine
        time.monotonic = time.monotonic.advanced(milliseconds: advance)
        time.wall += advance - time.advance
        time.advance = advance
        return time
    }

    /// Returns the server's time for all others: a jump of the machine's clock is not followed until it is confirmed, and nothing
    /// expires while the clock is in doubt.
    func judged(_ machine: Now) -> Now {
        let time = serverTime(machine)
        return judge.withLock { $0?.externalReading(time) } ?? time
    }

    /// Returns the machine's time as it is believed, without what a test clock was advanced by: for what others date.
    func judgedMachine(_ machine: Now) -> Now {
        var time = judged(machine)
        time.wall = time.machineWall
        time.advance = 0
        time.monotonic = machine.monotonic
        return time
    }

    /// The server's time.
    func now() -> Now { judged(Now.read()) }

    /// The problem for the log, `/readyz` and operators; `nil` if the clock is trusted.
    var problem: String? { current.map { "\($0.doubt.text); \($0.doubt.consequence)" } }
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
        case .jumped(let milliseconds):
            "the clock is in doubt: it jumped \(Self.span(abs(milliseconds))) \(milliseconds < 0 ? "back" : "ahead") while ccsd ran, which goes on with its own time"
        }
    }

    /// What does not happen until the clock is trusted.
    var consequence: String {
        if case .jumped = self { return "no device is forgotten until it is trusted" }
        return "nothing expires until it is trusted"
    }

    private static func span(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        if minutes < 2 { return "\(milliseconds / 1_000) seconds" }
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
