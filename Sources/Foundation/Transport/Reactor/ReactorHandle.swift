import CLinux
import Glibc
import Synchronization

/// Wakes a reactor from any thread.
public final class ReactorHandle: Sendable {
    let event: Descriptor
    private let isAsked = Atomic<Bool>(false)
    private let isAsleep = Atomic<Bool>(false)

    init() throws(TransportError) {
        let number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard number >= 0 else { throw SystemCall.failure("make an eventfd") }
        event = Descriptor(owning: number)
    }

    /// Makes the reactor call `reactorWoke` soon; one call for any number of wake-ups.
    ///
    /// Only the first wake-up of a sleeping reactor costs a system call.
    public func wake() {
        guard !isAsked.exchange(true, ordering: .sequentiallyConsistent) else { return }
        if isAsleep.load(ordering: .sequentiallyConsistent) { _ = eventfd_write(event.number, 1) }
    }

    /// Marks the reactor as about to sleep. Returns false if it must not sleep because of a request.
    func prepareToSleep() -> Bool {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        return !isAsked.load(ordering: .sequentiallyConsistent)
    }

    /// Marks the reactor as awake.
    func wakeUp() { isAsleep.store(false, ordering: .sequentiallyConsistent) }

    /// Returns whether a wake-up was requested since the last call, and clears the request.
    func consumeRequest() -> Bool {
        isAsked.load(ordering: .relaxed) && isAsked.exchange(false, ordering: .sequentiallyConsistent)
    }
}
