public import Basics

/// Decides when which table of the store is read to compare its checksums: round after round, so slowly that no request is delayed.
public struct StoreScrub: Sendable {
    /// What to do next.
    public enum Step: Sendable, Equatable {
        /// List the tables, and report them with `begin`.
        case list
        /// Read a table, and report it with `finished`.
        case verify(StoreTable)
        /// Wait until a time.
        case wait(until: Instant)
    }

    private enum State {
        case betweenRounds
        /// The tables that are left, the next one last.
        case inRound([StoreTable])
    }

    private var state = State.betweenRounds
    private var resumesAt = Instant.distantPast

    /// Creates a scrub whose first round begins at once.
    public init() {}

    /// Bytes of the tables that are left in this round.
    public var remainingBytes: Int {
        guard case .inRound(let tables) = state else { return 0 }
        return tables.reduce(0) { $0 + $1.bytes }
    }

    /// Returns the next step.
    public func next(now: Instant) -> Step {
        guard now >= resumesAt else { return .wait(until: resumesAt) }
        guard case .inRound(let tables) = state, let table = tables.last else { return .list }
        return .verify(table)
    }

    /// Begins a round with the tables of the store.
    public mutating func begin(_ tables: [StoreTable], now: Instant) {
        guard !tables.isEmpty else { return endRound(now) }
        state = .inRound(tables.reversed())
    }

    /// Records that a table was read. The next one waits for the time that its bytes may take.
    public mutating func finished(_ table: StoreTable, now: Instant) {
        guard case .inRound(var tables) = state else { return }
        tables.removeAll { $0 == table }
        state = .inRound(tables)
        guard !tables.isEmpty else { return endRound(now) }
        let pause = max(
            Limits.Store.scrubPauseMilliseconds, table.bytes * 1_000 / Limits.Store.scrubBytesPerSecond)
        resumesAt = now.advanced(milliseconds: Int64(pause))
    }

    /// Ends the round: after the last table, or if the tables cannot be listed.
    public mutating func endRound(_ now: Instant) {
        state = .betweenRounds
        resumesAt = now.advanced(seconds: Limits.Store.scrubRoundSeconds)
    }
}
