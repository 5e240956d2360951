import Basics
public import ClusterLog

/// Whether the log of a partition has lost records that this node has applied.
///
/// Reads alone do not prove it: a server that is cut off from the others answers for a stream that it has led for up to 20 s, and
/// ends where it ended then. What counts is a leader that was together with a majority at the time of its answer, in two looks.
public struct LogLoss: Hashable, Sendable {
    /// What is known.
    public enum State: Hashable, Sendable {
        /// The log has everything, as far as it is known.
        case whole
        /// It seems to end after a position, by the answers of N leaders with a majority in a row.
        case suspected(after: LogPosition, looks: Int)
        /// It ends after a position, for certain.
        case lost(after: LogPosition)
    }

    /// What is known.
    public private(set) var state = State.whole
    /// What was applied when the looks began that have no answer yet, the first one first.
    private var asked: [LogPosition] = []

    /// Creates the state of a log about which nothing is known.
    public init() {}

    /// After which position the log has lost records for certain. `nil` unless that is so.
    public var lostAfter: LogPosition? { if case .lost(let position) = state { position } else { nil } }

    /// After which position it has lost records, also if that is not certain. `nil` for a log that has everything.
    public var shortAfter: LogPosition? {
        switch state {
        case .whole: nil
        case .suspected(let position, _), .lost(let position): position
        }
    }

    /// Whether the next look is to come soon.
    public var isSuspected: Bool { if case .suspected = state { true } else { false } }

    /// A read has found the log shorter than it must be.
    public mutating func suspect(after last: LogPosition) {
        if case .whole = state { state = .suspected(after: last, looks: 0) }
    }

    /// A look at the stream begins; `answered` or `failed` follows.
    public mutating func look(applied: LogPosition) { asked.append(applied) }

    /// A look has no answer.
    public mutating func failed() { if !asked.isEmpty { asked.removeFirst() } }

    /// The leader of the stream has answered that it ends at a position, and when it was together with a majority, by the age of that
    /// in milliseconds. Returns whether the log has lost records for certain, as was not known before.
    public mutating func answered(last: LogPosition, majorityAge: Int64?) -> Bool {
        guard !asked.isEmpty else { return false }
        // Answers may change places: the first question has the least that must be there.
        let applied = asked.removeFirst()
        guard let majorityAge, majorityAge < Limits.ClusterHost.majorityMilliseconds else { return false }
        guard last < applied else {
            state = .whole
            return false
        }
        switch state {
        case .whole: state = .suspected(after: last, looks: 1)
        case .suspected(_, let looks) where looks + 1 < Limits.ClusterHost.shortEnds:
            state = .suspected(after: last, looks: looks + 1)
        case .suspected:
            state = .lost(after: last)
            return true
        case .lost: state = .lost(after: last)
        }
        return false
    }

    /// Whether a repair of N records is the first proof that they were lost: a leader with a majority has taken them.
    public func isProved(byRepair records: Int) -> Bool { records > 0 && lostAfter == nil }

    /// What the log had lost is appended again.
    public mutating func repaired() { state = .whole }
}
