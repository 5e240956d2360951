import Basics
import Delivery
import Synchronization

/// Until when the reactor of a partition that this node owns may let decisions out: one thread sets it, others read it.
final class PartitionLease: DecisionLease, Sendable {
    private let end = Atomic<Int64>(.min)
    private let isAwaited = Atomic<Bool>(false)

    /// The end, of the monotonic clock.
    var until: Instant { Instant(nanoseconds: end.load(ordering: .sequentiallyConsistent)) }

    /// Sets the end. Returns whether a thread waits for a later one.
    func set(_ until: Instant) -> Bool {
        end.store(until.nanoseconds, ordering: .sequentiallyConsistent)
        return until > .distantPast && isAwaited.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Has the next `set` return that a thread waits. Its caller looks at `until` afterwards.
    func wait() { isAwaited.store(true, ordering: .sequentiallyConsistent) }
}
