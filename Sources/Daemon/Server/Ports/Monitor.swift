import Basics
import Glibc

/// A monitor: a state under a lock, with a condition variable to wait for changes.
@safe final class Monitor<State>: @unchecked Sendable {
    /// The result of inspecting the state in `wait`.
    enum Step<Result> {
        /// Return this result.
        case done(Result)
        /// Wait until the state changes, at the latest until this time.
        case wait(until: Instant)
    }

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        unsafe lock = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe changed.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        var codes = unsafe [pthread_mutex_init(lock, nil), pthread_condattr_init(&attributes)]
        // Deadlines are monotonic, so that setting the clock back does not delay writes.
        unsafe codes.append(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        unsafe codes.append(pthread_cond_init(changed, &attributes))
        unsafe pthread_condattr_destroy(&attributes)
        precondition(codes.allSatisfy { $0 == 0 }, "cannot create a lock")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(lock)
        unsafe changed.deallocate()
        unsafe lock.deallocate()
    }

    /// Changes the state and wakes one waiting thread.
    func change<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(lock)
        let result = body(&state)
        unsafe pthread_cond_signal(changed)
        unsafe pthread_mutex_unlock(lock)
        return result
    }

    /// Inspects the state, now and after each change, until `look` returns a result.
    func wait<Result>(_ look: (inout State) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            switch look(&state) {
            case .done(let result): return result
            case .wait(.distantFuture): unsafe pthread_cond_wait(changed, lock)
            case .wait(let end):
                let end = Now.waitEnd(end)
                var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
                unsafe pthread_cond_timedwait(changed, lock, &time)
            }
        }
    }
}
