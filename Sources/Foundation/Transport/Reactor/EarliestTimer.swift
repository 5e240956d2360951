public import Basics

/// A timer that fires once, at the earliest of the instants for which it was set, and may be set again then.
///
/// Confined to the thread of its reactor.
public final class EarliestTimer {
    private let reactor: Reactor
    private var armed: (timer: TimerID, due: Instant)?

    /// Creates a timer that is not set.
    public init(_ reactor: Reactor) { self.reactor = reactor }

    /// Runs a closure at an instant, in place of an earlier one that would run later. Does nothing if that runs by then.
    public func set(at instant: Instant, _ body: @escaping (Now) -> Void) {
        guard instant < armed?.due ?? .distantFuture else { return }
        if let armed { reactor.cancel(armed.timer) }
        let timer = reactor.schedule(at: instant) { [weak self] now in
            self?.armed = nil
            body(now)
        }
        armed = (timer, instant)
    }
}
