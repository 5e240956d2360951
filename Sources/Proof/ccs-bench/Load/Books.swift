/// Tracks the messages of one direction by number: offered, accepted by the server, and delivered.
///
/// Each message is one entry, which is closed when the message is both accepted and delivered; closed entries at the start are
/// dropped, so that the table stays as small as the number of pending messages.
struct Books {
    /// When each was due, in nanoseconds of the monotonic clock, from `first` on.
    private var times: [Int64] = []
    private(set) var states: [UInt8] = []
    /// The number of the entry at offset 0.
    private var first = 0
    /// Closed entries at the start that are not dropped yet.
    private var closed = 0
    private static let accepted: UInt8 = 1
    private static let arrived: UInt8 = 2
    private static let done: UInt8 = 3
    /// Refused; other states no longer matter.
    private static let refused: UInt8 = 7
    /// Number of closed entries that are dropped at once, so that moving the others costs little for each.
    private static let droppedAtOnce = 65_536

    /// Messages that the server has accepted.
    private(set) var accepted = 0
    /// Of these, how many have arrived.
    private(set) var delivered = 0
    /// Refused messages, including those that counted as accepted until the refusal was reported to the device.
    private(set) var refused = 0
    /// Repeated arrivals.
    private(set) var repeated = 0

    /// Accepted and not arrived.
    var missing: Int { accepted - delivered }
    /// Neither accepted nor refused.
    var unanswered: Int { opened - accepted - refused }
    /// Number of entries so far.
    var opened: Int { first + states.count }

    /// Adds an entry for a new message that was due at `time`, and returns its number.
    mutating func open(dueAt time: Int64 = 0) -> Int {
        times.append(time)
        states.append(0)
        return opened - 1
    }

    /// Records an arrival. Returns when the message was due, or `nil` if the arrival is repeated or the number unknown.
    @discardableResult
    mutating func arrived(_ number: Int?) -> Int64? { record(number, Self.arrived) }

    /// Records that the server has accepted a message. Returns when it was due, or `nil` if that was recorded before or it is
    /// unknown.
    @discardableResult
    mutating func accepted(_ number: Int?) -> Int64? { record(number, Self.accepted) }

    /// Records that the server has refused a message, unless it has arrived.
    mutating func refused(_ number: Int?) {
        guard let number, number >= first, number < opened else { return }
        let at = number - first
        guard states[at] & Self.arrived == 0 else { return }
        if states[at] & Self.accepted != 0 { accepted -= 1 }
        states[at] = Self.refused
        refused += 1
        drop()
    }

    private mutating func record(_ number: Int?, _ mark: UInt8) -> Int64? {
        guard let number, number >= 0, number < opened else { return nil }
        let at = number - first
        guard at >= 0, states[at] & mark == 0 else {
            if mark == Self.arrived { repeated += 1 }
            return nil
        }
        let time = times[at]
        states[at] |= mark
        if mark == Self.accepted { accepted += 1 }
        if states[at] == Self.done {
            delivered += 1
            drop()
        }
        return time
    }

    private mutating func drop() {
        while closed < states.count, states[closed] >= Self.done { closed += 1 }
        guard closed >= Self.droppedAtOnce else { return }
        times.removeFirst(closed)
        states.removeFirst(closed)
        first += closed
        closed = 0
    }
}
