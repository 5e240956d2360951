/// One direction's books, by message number: what was offered, what the server has said that it has, and what arrived.
///
/// Each message is one account, which is closed when it is both accepted and arrived; closed ones at the begin are dropped, so
/// that the books of an hour are no longer than what is under way.
struct Books {
    /// When each was due, nanoseconds of the monotonic clock, from `first` on.
    private var times: [Int64] = []
    private(set) var states: [UInt8] = []
    /// The number of the account at offset 0.
    private var first = 0
    /// Closed accounts at the begin, not dropped yet.
    private var closed = 0
    private static let accepted: UInt8 = 1
    private static let arrived: UInt8 = 2
    private static let settled: UInt8 = 3
    /// Refused, whatever else was said of it: nothing more is owed.
    private static let refused: UInt8 = 7
    /// So many closed ones are dropped at once: moving what is behind them costs little for each.
    private static let droppedAtOnce = 65_536

    /// Messages that the server has said it has.
    private(set) var accepted = 0
    /// Of these, how many have arrived.
    private(set) var delivered = 0
    /// Messages that were refused: also those that had been taken for accepted, as a device does until it is told.
    private(set) var refused = 0
    /// Arrivals of what had arrived before.
    private(set) var repeated = 0

    /// Accepted and not arrived.
    var missing: Int { accepted - delivered }
    /// Neither accepted nor refused.
    var unanswered: Int { opened - accepted - refused }
    /// Accounts that were opened.
    var opened: Int { first + states.count }

    /// Opens the account of a new message that was due at a time; its number.
    mutating func open(dueAt time: Int64 = 0) -> Int {
        times.append(time)
        states.append(0)
        return opened - 1
    }

    /// Notes an arrival; when the message was due, nil where it had arrived before or is unknown.
    @discardableResult
    mutating func arrived(_ number: Int?) -> Int64? { note(number, Self.arrived) }

    /// Notes that the server has it; when the message was due, nil where that was known or it is unknown.
    @discardableResult
    mutating func accepted(_ number: Int?) -> Int64? { note(number, Self.accepted) }

    /// Notes that the server will not have it; not what has arrived all the same.
    mutating func refused(_ number: Int?) {
        guard let number, number >= first, number < opened else { return }
        let at = number - first
        guard states[at] & Self.arrived == 0 else { return }
        if states[at] & Self.accepted != 0 { accepted -= 1 }
        states[at] = Self.refused
        refused += 1
        drop()
    }

    private mutating func note(_ number: Int?, _ mark: UInt8) -> Int64? {
        guard let number, number >= 0, number < opened else { return nil }
        let at = number - first
        guard at >= 0, states[at] & mark == 0 else {
            if mark == Self.arrived { repeated += 1 }
            return nil
        }
        let time = times[at]
        states[at] |= mark
        if mark == Self.accepted { accepted += 1 }
        if states[at] == Self.settled {
            delivered += 1
            drop()
        }
        return time
    }

    private mutating func drop() {
        while closed < states.count, states[closed] >= Self.settled { closed += 1 }
        guard closed >= Self.droppedAtOnce else { return }
        times.removeFirst(closed)
        states.removeFirst(closed)
        first += closed
        closed = 0
    }
}
