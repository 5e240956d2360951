import Basics

/// The heartbeats of one connection whose answers are waited for: when one is answered, everything that the server wrote before it has
/// been received.
struct RoundTrips {
    private struct Waiter {
        var number: Int
        var until: Instant
        var completed: (_ isAnswered: Bool) -> Void
    }

    private var sent = 0
    private var answered = 0
    private var waiters: [Waiter] = []

    /// Records a heartbeat that is sent now, whose answer is reported to `completed`, or its absence after `until`.
    mutating func begin(until: Instant, completed: @escaping (_ isAnswered: Bool) -> Void) {
        sent += 1
        waiters.append(Waiter(number: sent, until: until, completed: completed))
    }

    /// Records an answer. Returns what is to be called with `true`. More answers than heartbeats answer none that is sent later.
    mutating func answer() -> [(_ isAnswered: Bool) -> Void] {
        answered = min(answered + 1, sent)
        return take { [answered] in $0.number <= answered }
    }

    /// Returns what is to be called with `false` at this time.
    mutating func overdue(_ now: Instant) -> [(_ isAnswered: Bool) -> Void] { take { $0.until <= now } }

    /// Ends the connection. Returns what is to be called with `false`.
    mutating func end() -> [(_ isAnswered: Bool) -> Void] {
        defer { self = RoundTrips() }
        return waiters.map(\.completed)
    }

    private mutating func take(where isDue: (Waiter) -> Bool) -> [(_ isAnswered: Bool) -> Void] {
        guard waiters.contains(where: isDue) else { return [] }
        let due = waiters.filter(isDue)
        waiters.removeAll(where: isDue)
        return due.map(\.completed)
    }
}
