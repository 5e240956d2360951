import Basics
import Glibc

/// A state that threads change under a lock and wait for.
@safe final class Monitor<State>: @unchecked Sendable {
    /// What a waiting thread does after it has looked at the state.
    enum Step<Result> {
        /// It has what it came for.
        case done(Result)
        /// It looks again when the state changes, at the latest then.
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
        // Deadlines are monotonic: a clock set back must not keep writes waiting.
        unsafe codes.append(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        unsafe codes.append(pthread_cond_init(changed, &attributes))
        unsafe pthread_condattr_destroy(&attributes)
        precondition(codes.allSatisfy { $0 == 0 }, "a lock cannot be made")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(lock)
        unsafe changed.deallocate()
        unsafe lock.deallocate()
    }

    /// Changes the state and wakes who waits for it.
    func change<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(lock)
        let result = body(&state)
        unsafe pthread_cond_signal(changed)
        unsafe pthread_mutex_unlock(lock)
        return result
    }

    /// Looks at the state until it has what the caller wants.
    func wait<Result>(_ look: (inout State) -> Step<Result>) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            switch look(&state) {
            case .done(let result): return result
            case .wait(.distantFuture): unsafe pthread_cond_wait(changed, lock)
            case .wait(let end):
                var time = timespec(
                    tv_sec: Int(end.nanoseconds / 1_000_000_000),
                    tv_nsec: Int(end.nanoseconds % 1_000_000_000))
                unsafe pthread_cond_timedwait(changed, lock, &time)
            }
        }
    }
}
