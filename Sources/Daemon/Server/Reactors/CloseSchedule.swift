import Basics
import Transport

/// The scheduled closes of drained connections.
///
/// One timer serves all of them, since a timer per session could exceed the reactor's limit of timers.
struct CloseSchedule {
    /// A connection with the time of its close.
    struct Entry {
        var at: Instant
        var connection: ConnectionID
        var reason: CloseReason
    }

    /// The entries, latest first, so that due ones are removed from the end.
    private var entries: [Entry] = []

    /// The time of the next close; `nil` if none is scheduled.
    var next: Instant? { entries.last?.at }

    /// Adds the closes of a drain.
    ///
    /// A connection that is already scheduled keeps the earlier time, so that repeated drains add nothing.
    mutating func add(_ more: [Entry]) {
        var all = entries + more
        all.sort { $0.at < $1.at }
        var known = Set<ConnectionID>()
        all.removeAll { !known.insert($0.connection).inserted }
        all.reverse()
        entries = all
    }

    /// Removes and returns the due entries, earliest first.
    mutating func takeDue(_ now: Instant) -> [Entry] {
        var due: [Entry] = []
        while let last = entries.last, last.at <= now {
            due.append(last)
            entries.removeLast()
        }
        if entries.isEmpty { entries = [] }
        return due
    }
}
