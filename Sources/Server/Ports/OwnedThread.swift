import Glibc

/// A thread that somebody waits for in the end.
@safe final class OwnedThread: Sendable {
    private let handle: pthread_t

    /// Runs a body on a new thread.
    init(_ body: @escaping @Sendable () -> Void) {
        var handle = pthread_t()
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let code = unsafe pthread_create(
            &handle, nil,
            { work in
                guard let work = unsafe work else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                return nil
            }, work)
        precondition(code == 0, "a thread cannot be started")
        self.handle = handle
    }

    /// Waits until the body has returned; once, and not by the thread itself.
    func join() { pthread_join(handle, nil) }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
