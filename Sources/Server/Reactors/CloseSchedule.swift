import Basics
import Transport

/// When which connections of a drain are closed.
///
/// One timer serves all of them: a timer for each would be as many as there are sessions, and a reactor has a limit.
struct CloseSchedule {
    /// A connection that is to be closed.
    struct Entry {
        var at: Instant
        var connection: ConnectionID
        var reason: CloseReason
    }

    /// Latest first, so that what is due is taken off the end.
    private var entries: [Entry] = []

    /// When the next one is due; nil where none is.
    var next: Instant? { entries.last?.at }

    /// Adds the closes of a drain.
    ///
    /// A connection that an earlier drain has named already keeps the earlier time, so that repeated drains add nothing.
    mutating func add(_ more: [Entry]) {
        var all = entries + more
        all.sort { $0.at < $1.at }
        var known = Set<ConnectionID>()
        all.removeAll { !known.insert($0.connection).inserted }
        all.reverse()
        entries = all
    }

    /// Takes out those whose time has come, earliest first.
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
