import Basics

/// A request that waits for a login, if there is one.
struct PendingLogin {
    private var pending: (until: Instant, completed: () -> Void)?

    /// Waits until `end`, or `endIfOverdue` after this time. A request that waits already is answered.
    mutating func wait(until: Instant, completed: @escaping () -> Void) {
        end()
        pending = (until, completed)
    }

    /// Answers the request.
    mutating func end() {
        let ended = pending
        pending = nil
        ended?.completed()
    }

    /// Answers the request if it has waited long enough.
    mutating func endIfOverdue(_ now: Instant) {
        if let pending, pending.until <= now { end() }
    }
}
